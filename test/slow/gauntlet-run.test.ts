/**
 * A small run of `npm run gauntlet`: three attacks on a real server that relays honest transactions meanwhile. Threat:
 * guest code occupies the processor, kills its process, or continues after its return, and disturbs others. Speed is
 * not judged here.
 */
import t from 'tap';
import { describeGauntlet } from '../load/gauntlet/report.ts';
import { runGauntlet } from '../load/gauntlet/run.ts';
import { isKept } from '../load/soak/payments/verdict.ts';
import { ATTACKS } from '../support/attacks/attacks.ts';

const MIB = 1_048_576;
const NAMES = ['an endless loop', 'splitting a rope of 2^28 characters', 'capability calls after the return'];

t.test('attacks are contained, and nobody else is disturbed', async (t) => {
  const attacks = ATTACKS.filter(({ name }) => NAMES.includes(name));
  t.equal(attacks.length, NAMES.length);
  const result = await runGauntlet({
    attacks,
    seed: 7,
    warmUpMs: 0,
    quietMs: 500,
    attackMs: 2_000,
    settleMs: 0,
    paceMs: 100,
    patienceMs: 30_000,
    collectEveryMs: 500,
    say: (text) => t.comment(text),
  });
  const { evidence, verdict } = result;
  const told = describeGauntlet(result);
  t.ok(evidence.attempts.length > 0, told);
  t.same(
    verdict.uncontained.filter(({ answer }) => !answer.startsWith('too late')),
    [],
    told,
  );
  t.equal(evidence.recoveries.length, evidence.attempts.length);
  t.ok(
    evidence.recoveries.every(({ sameMs, otherMs }) => sameMs !== null && otherMs !== null),
    told,
  );
  t.same(evidence.failures, []);
  t.ok(isKept(evidence.transactions), told);
  t.ok(evidence.transactions.accepted > 0);
  t.ok(evidence.looks.length > 0);
  t.ok(evidence.collections.length > 0, told);
  for (const { data, heap, beside, rss } of evidence.collections) {
    t.ok(data > 10 * MIB && data < heap && heap < 500 * MIB, `${data} of ${heap}`);
    t.ok(beside > 10 * MIB && beside < rss, `${beside} of ${rss}`);
  }
  t.same(evidence.left, []);
  t.equal(evidence.serverEnd, null);
  t.same([...evidence.errors], []);
});
