import t, { type Test } from 'tap';
import type { Transaction } from '../../../../../src/domain/transaction/transaction.ts';
import { signPending } from '../../../../../src/engine/lane/attempts/sign-pending.ts';
import { markMissing, offer } from '../../../../../src/engine/lane/broadcast.ts';
import { PoolWatch } from '../../../../../src/engine/lane/lane-memory.ts';
import { EngineWorld, stepAt } from '../../../../support/engine-world.ts';

/** Six transactions that a node accepts, although its pool holds only two. The test sets the clock. */
async function scene(t: Test, { said = 'dropsSilently' }: { said?: 'dropsSilently' | 'isFull' } = {}) {
  const world = await EngineWorld.open(t);
  world.chain[said] = (held) => held >= 2;
  const pending: Transaction[] = [];
  for (let index = 0; index < 6; index += 1) pending.push(await world.accept(`pay ${index}`));
  let now = 10_000;
  const timing = { poolMs: 1_000, batch: 3, reofferMs: 3_600_000, retryMs: 3_600_000, retryCapMs: 3_600_000 };
  const pool = new PoolWatch();
  const made = stepAt(await world.step(timing), { elapsed: () => now, now: () => 5_000 });
  const step = { ...made, memory: Object.assign(made.memory, { pool }) };
  await signPending(step, await Promise.all(pending.map((one) => world.get(one))));
  await offer(stepAt(step, { now: () => Date.now() + 1 }));
  let asked = 0;
  const nextSequence = world.client.sequences.next.bind(world.client);
  world.client.sequences.next = async (address) => {
    asked += 1;
    return nextSequence(address);
  };
  /** Moves the clock, then returns the indexes of the transactions to offer again, and how often the node was asked. */
  const after = async (ms: number, { room = false } = {}) => {
    now += ms;
    if (room) pool.moved(now);
    asked = 0;
    await markMissing(step);
    const missing = pending.flatMap(({ id }, place) => (step.memory.offers.isMissing(id) ? [place] : []));
    return { asked, missing };
  };
  return { world, step, after };
}

t.test('what a node took and does not have is found when a block has made room, the lowest first', async (t) => {
  const { after } = await scene(t);
  t.strictSame(await after(999, { room: true }), { asked: 0, missing: [] }, 'it may be on its way');
  t.strictSame(await after(1), { asked: 1, missing: [2, 3, 4] });
});

t.test('without a block the node is asked more rarely', async (t) => {
  const { after } = await scene(t);
  t.strictSame(await after(1_000), { asked: 1, missing: [2, 3, 4] }, 'the first time');
  t.equal((await after(4_999)).asked, 0);
  t.equal((await after(1)).asked, 1);
  t.equal((await after(1_000, { room: true })).asked, 1);
});

t.test('what the node has is left alone, and what it lacks is offered once', async (t) => {
  const { world, step, after } = await scene(t);
  await after(1_000, { room: true });
  world.chain.dropsSilently = () => false;
  const before = world.chain.received.length;
  await offer(step);
  t.strictSame(
    world.chain.received.slice(before).map((raw) => Number((JSON.parse(raw) as { nonce: string }).nonce)),
    [2, 3, 4],
  );
  t.strictSame((await after(1_000, { room: true })).missing, [5]);
  await offer(step);
  t.strictSame(await after(1_000, { room: true }), { asked: 1, missing: [] });
});

t.test('what it had no room for is offered again when there is room, and not before', async (t) => {
  const { world, step, after } = await scene(t, { said: 'isFull' });
  t.strictSame((await after(1_000)).missing, []);
  t.strictSame((await after(1_000, { room: true })).missing, [2, 3, 4]);
  world.chain.isFull = () => true;
  await offer(step);
  t.strictSame((await after(0)).missing, [], 'it was tried');
});

t.test('where nothing waits nobody is asked, and a node that does not answer marks nothing', async (t) => {
  const { world, step, after } = await scene(t);
  world.chain.fault = () => 'request-lost';
  t.strictSame((await after(1_000, { room: true })).missing, []);
  world.chain.fault = () => undefined;
  for (const id of step.open.entries.keys()) step.open.delete(id);
  t.equal((await after(10_000, { room: true })).asked, 0);
});
