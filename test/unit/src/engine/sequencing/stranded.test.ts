import t, { type Test } from 'tap';
import type { Attempt } from '../../../../../src/domain/transaction/attempt.ts';
import type { Transaction } from '../../../../../src/domain/transaction/transaction.ts';
import { takeUp } from '../../../../../src/engine/lane/attempts/sign-pending.ts';
import { endStranded } from '../../../../../src/engine/sequencing/stranded.ts';
import { EngineWorld, LANE, present } from '../../../../support/engine-world.ts';

/**
 * A signed transaction under sequence 0 with one attempt for each of the given parts. `told`: the node's last answer.
 */
async function scene(t: Test, { transaction = {}, attempts = [{}], told }: Partial<Scene> = {}) {
  const world = await EngineWorld.open(t);
  const accepted = await world.accept('pay');
  const step = await world.step();
  await takeUp(step, [accepted]);
  const entry = present(step.open.entries.get(accepted.id));
  const [first] = entry.attempts;
  step.open.set(accepted.id, {
    transaction: { ...entry.transaction, noopEnd: 'canceled', statusReason: 'Canceled', ...transaction },
    attempts: attempts.map((one, index) => ({ ...present(first), ordinal: index + 1, ...one })),
  });
  if (told !== undefined) step.memory.offers.isNews(accepted.id, told);
  const ends = async (...beyond: bigint[]) => {
    await endStranded(step, () => beyond);
    return (await world.get(accepted)).status;
  };
  return { world, ends, accepted };
}

interface Scene {
  transaction: Partial<Transaction>;
  attempts: Partial<Attempt>[];
  told: 'anchor-ahead' | 'unknown';
}

const TAKEN_NOOP = [{ acceptedAt: 1 }, { purpose: 'noop', acceptedAt: 2 }] as const;
const REFUSED_NOOP = [{ acceptedAt: null }, { purpose: 'noop', acceptedAt: null }] as const;

t.test('what is canceled ends once nodes took its noop, and leaves its sequence', async (t) => {
  const { world, ends, accepted } = await scene(t, { attempts: [...TAKEN_NOOP] });
  t.equal(await ends(0n, 1n), 'canceled');
  const text = 'Signed under nonce 0, which the account is far from reaching';
  t.match(await world.get(accepted), { sequence: null, statusReason: `Canceled. ${text}`, nextActionAt: null });
  t.match((await world.store.read.decisions(accepted.id, 10)).at(-1), { kind: 'dead', text });
  t.equal(await world.store.read.settledSequence(LANE), null, 'the account has not come that far');
});

t.test('what has expired ends as expired', async (t) => {
  const { ends } = await scene(t, { transaction: { noopEnd: 'expired' }, attempts: [...TAKEN_NOOP] });
  t.equal(await ends(0n), 'expired');
});

t.test('so does what every node turned away from the first', async (t) => {
  const { ends } = await scene(t, { attempts: [...REFUSED_NOOP], told: 'anchor-ahead' });
  t.equal(await ends(0n), 'canceled');
});

const staying: Readonly<Record<string, Partial<Scene>>> = {
  'what is still wanted': { transaction: { noopEnd: null }, attempts: [{ acceptedAt: 1 }] },
  'what has no noop yet': { attempts: [{ acceptedAt: 1 }] },
  'a noop that nobody answered to': { attempts: [...REFUSED_NOOP], told: 'unknown' },
  'a payment that a node has, with a noop that no node took': {
    attempts: [{ acceptedAt: 1 }, { purpose: 'noop', acceptedAt: null }],
    told: 'anchor-ahead',
  },
};
for (const [what, given] of Object.entries(staying)) {
  t.test(`${what} stays`, async (t) => {
    const { ends } = await scene(t, given);
    t.equal(await ends(0n), 'sent');
  });
}

t.test('the chain is looked at only when something could end', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  await takeUp(step, [await world.accept('pay')]);
  await endStranded(step, () => {
    throw new Error('asked');
  });
  t.equal(step.open.entries.size, 1);
});

t.test('what the account reaches stays', async (t) => {
  const { ends } = await scene(t, { attempts: [...TAKEN_NOOP] });
  t.equal(await ends(), 'sent');
  t.equal(await ends(1n), 'sent');
});
