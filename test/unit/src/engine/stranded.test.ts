import t from 'tap';
import { takeUp } from '../../../../src/engine/intake.ts';
import { applyToOpen, unmined, withinReach } from '../../../../src/engine/lane-step.ts';
import { look } from '../../../../src/engine/looking.ts';
import { offer } from '../../../../src/engine/offering.ts';
import { committedCost } from '../../../../src/engine/pricing.ts';
import { asVoid, renew } from '../../../../src/engine/renewal.ts';
import { tellStranded } from '../../../../src/engine/stranded.ts';
import { EngineWorld, present } from '../../../support/engine-world.ts';

/** A step in which one of two signed transactions is said to be far beyond the account's count. */
async function stage(t: { teardown(end: () => Promise<void>): void }) {
  const world = await EngineWorld.open(t);
  const step = await world.step({ reofferMs: 0 });
  const accepted = [await world.accept('near'), await world.accept('beyond')];
  await takeUp(step, accepted);
  const [near, beyond] = accepted.map(({ id }) => present(step.open.get(id)).transaction);
  step.planner.isStranded = (sequence) => sequence === 1n;
  return { world, step, near: present(near), beyond: present(beyond) };
}

t.test('those that are stranded are told of once, each with its reason', async (t) => {
  const { world, step, near, beyond } = await stage(t);
  await tellStranded(step);
  await tellStranded(step);
  const { statusReason } = await world.get(beyond);
  t.match(statusReason, /^Signed under sequence 1, which the account is far from reaching/);
  t.equal((await world.get(near)).statusReason, null);
  t.match(await world.store.read.decisions(beyond.id, 9), [{ kind: 'parked', text: statusReason }]);
  t.match(step.offers.parked(), [{ relayerId: 'r1', cause: 'sequence' }]);
  t.equal(world.logLines.filter((line) => line.includes('signed beyond reach')).length, 1);
});

t.test('one that is to have no effect keeps the reason for that', async (t) => {
  const { world, step, beyond } = await stage(t);
  await applyToOpen(step, [asVoid(step, beyond, 'canceled', 'canceled', 'no longer wanted')]);
  await tellStranded(step);
  t.equal((await world.get(beyond)).statusReason, 'no longer wanted');
});

t.test('one that is canceled ends once its empty version was offered, and leaves its sequence', async (t) => {
  for (const taken of [true, false]) {
    const { world, step, beyond } = await stage(t);
    await offer(step);
    await applyToOpen(step, [asVoid(step, beyond, 'canceled', 'canceled', 'no longer wanted')]);
    await tellStranded(step);
    await renew(step);
    await tellStranded(step);
    t.equal((await world.get(beyond)).status, 'sent', 'nobody has the empty version yet');
    const reason = 'nonce too high';
    world.client.broadcast = async (attempts) =>
      attempts.map(() => (taken ? { kind: 'accepted' } : { kind: 'sequence-ahead', reason }));
    await offer(step);
    await tellStranded(step);
    const said = 'no longer wanted; signed under sequence 1, which the account is far from reaching';
    t.match(await world.get(beyond), { status: 'canceled', statusReason: said, sequence: null, nextActionAt: null });
    t.notOk(step.open.has(beyond.id));
    t.same(step.offers.parked(), []);
    t.equal(await step.knownSequence(), 1n);
    t.equal(await step.settled(), null);
    t.equal((await world.store.read.attempts(beyond.id)).length, 2, 'what was signed stays known');
  }
});

t.test('one that has expired is left alone', async (t) => {
  const { world, step, beyond } = await stage(t);
  await applyToOpen(step, [asVoid(step, beyond, 'expired', 'expired', 'too late')]);
  await renew(step);
  await offer(step);
  await tellStranded(step);
  t.equal((await world.get(beyond)).status, 'submitted');
});

t.test('they are looked for and not offered, and what they can cost is free for others', async (t) => {
  const { world, step, beyond } = await stage(t);
  t.equal(unmined(step).length, 2);
  t.equal(withinReach(step).length, 1);
  t.equal(await committedCost(step), 1n);
  t.equal((await offer(step)).offered, 1);
  t.equal(world.chain.received.length, 1);
  await look(step, unmined(step));
  const { nextActionAt } = present(step.open.get(beyond.id)).transaction;
  t.ok((nextActionAt ?? 0) > beyond.createdAt, 'its next look has a time');
});

t.test('what cannot be voided now is not tried in every step, and what is far beyond is not made dearer', async (t) => {
  for (const isCanceled of [true, false]) {
    const { world, step, beyond } = await stage(t);
    const slow = { ...step, timing: { ...step.timing, renewMs: 60_000 } };
    let asked = 0;
    world.client.patience = 0;
    world.client.prepareVersion = async () => {
      asked += 1;
      return { kind: 'parked', reason: 'no money', retryInMs: 1, cause: 'balance' };
    };
    await offer(step);
    if (isCanceled) await applyToOpen(step, [asVoid(step, beyond, 'canceled', 'canceled', 'no longer wanted')]);
    for (let steps = 0; steps < 5; steps += 1) {
      await renew(slow);
      await tellStranded(slow);
    }
    t.equal(asked, isCanceled ? 2 : 1, 'once for each that wants another version');
    const told = (await world.store.read.decisions(beyond.id, 9)).filter(({ kind }) => kind === 'parked');
    t.equal(told.length, 1);
  }
});

t.test('the empty version of one is offered until a node has it, and nothing else for its sake', async (t) => {
  const { world, step, near, beyond } = await stage(t);
  await offer(step);
  await applyToOpen(step, [asVoid(step, beyond, 'canceled', 'canceled', 'no longer wanted')]);
  await renew(step);
  const later = { ...step, now: () => Date.now() + 3_600_000 };
  const offered: bigint[] = [];
  const answer = (kind: 'sequence-ahead' | 'accepted') => {
    world.client.broadcast = async (attempts) => {
      offered.push(...attempts.map(({ sequence }) => sequence));
      return attempts.map(() => (kind === 'accepted' ? { kind } : { kind, reason: 'nonce too high' }));
    };
  };
  step.offers.accepted(near.id, step.elapsed());
  const reoffering = { ...later, timing: { ...step.timing, reofferMs: 3_600_000 } };
  answer('sequence-ahead');
  await offer(reoffering);
  t.strictSame(offered, [1n], 'no node is offered all that is below again');
  answer('accepted');
  await offer({ ...reoffering, now: () => Date.now() + 7_200_000 });
  await offer({ ...step, now: () => Date.now() + 10_800_000, elapsed: () => performance.now() });
  t.strictSame(
    offered.filter((sequence) => sequence === 1n),
    [1n, 1n],
    'once it was taken',
  );
});
