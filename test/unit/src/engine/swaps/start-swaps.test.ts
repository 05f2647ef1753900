import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { ParsedRequest } from '../../../../../src/chains/chain-client.ts';
import { startSwaps } from '../../../../../src/engine/swap-rounds.ts';
import { EngineWorld, LANE, relayerNamed } from '../../../../support/engine-world.ts';

const swap = (effect: string): ParsedRequest => ({
  request: { effect },
  validUntil: null,
  contentKey: `swap:${effect}`,
  anchorKind: 'sequence',
  onDeath: 'end',
});

async function stage(t: Test, wanted: () => ParsedRequest[]) {
  const world = await EngineWorld.open(t);
  const leases = world.leases();
  const lease = await leases.hold('swap-rounds');
  t.teardown(() => leases.close());
  if (lease === undefined) throw new Error('nobody else has it');
  const client = Object.assign(Object.create(world.client), { swaps: async () => wanted() });
  const connections = { clientOf: () => client, close: async () => {} };
  const start = (run: string, relayer = relayerNamed('r1')) =>
    startSwaps({ store: world.store, connections, newId: randomUUID }, relayer, run, lease);
  const all = async () => (await world.store.read.transactions('r1', { page: 1, perPage: 10 })).items;
  return { world, lease, start, all };
}

t.test('each is a transaction of the lane, and one under way is not doubled', async (t) => {
  const { start, all } = await stage(t, () => [swap('one'), swap('two')]);
  t.equal(await start('at 1'), LANE);
  t.match(await all(), [
    { status: 'pending', lane: LANE },
    { status: 'pending', lane: LANE },
  ]);
  t.equal(await start('at 2'), undefined);
  t.equal((await all()).length, 2);
});

t.test('a moment of the schedule starts swaps only once, even after they have ended', async (t) => {
  const { world, start, all } = await stage(t, () => [swap('one')]);
  await start('at 1');
  const [only] = await all();
  const life = ['pending', 'sent', 'submitted', 'mined', 'confirmed'] as const;
  for (const [index, status] of life.slice(1).entries()) {
    const seen = life[index] ?? 'pending';
    await world.store.write((writer) => writer.updateTransaction(only?.id ?? '', seen, { status }));
  }
  t.equal(await start('at 1'), undefined);
  t.equal(await start('at 2'), LANE);
  t.equal((await all()).length, 2);
});

t.test('without anything to swap, and for a relayer that is gone, nothing is accepted', async (t) => {
  const none = await stage(t, () => []);
  t.equal(await none.start('at 1'), undefined);
  const gone = await stage(t, () => [swap('one')]);
  t.equal(await gone.start('at 1', relayerNamed('r9')), undefined);
  t.equal(await gone.start('at 1', { ...relayerNamed('r1'), network: 'unknown' }), undefined);
  t.strictSame(await gone.all(), []);
});
