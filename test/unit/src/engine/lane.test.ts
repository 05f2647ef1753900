import t from 'tap';
import { Lane, type LaneDeps } from '../../../../src/engine/lane.ts';
import { EngineWorld, fastTiming, LANE, present } from '../../../support/engine-world.ts';

async function laneOf(world: EngineWorld, more: Partial<LaneDeps> = {}): Promise<{ lane: Lane; faults: string[] }> {
  const faults: string[] = [];
  const { ledger } = await world.step();
  const lane = new Lane(LANE, {
    store: world.store,
    sources: {
      store: world.store,
      chains: new Map([['evm', world.family]]),
      connections: { clientOf: () => world.client, close: async () => {} },
      signerOf: async () => world.signer,
    },
    ledger,
    timing: fastTiming,
    random: () => 0,
    log: world.log,
    elapsed: () => performance.now(),
    onFault: (networkType) => faults.push(networkType),
    ...more,
  });
  return { lane, faults };
}

t.test('a lane runs until nothing is due any more', async (t) => {
  const world = await EngineWorld.open(t);
  const accepted = [];
  for (let index = 0; index < 70; index += 1) accepted.push(await world.accept(`pay ${index}`));
  const { lane } = await laneOf(world, { timing: { ...fastTiming, lookMs: 1_000 } });
  t.ok(await lane.wake());
  for (const transaction of accepted) t.equal((await world.get(transaction)).status, 'submitted');
});

t.test('woken while it runs it is not run twice, but looks once more at the end', async (t) => {
  const world = await EngineWorld.open(t);
  await world.accept('first');
  const { lane } = await laneOf(world, { timing: { ...fastTiming, lookMs: 1_000 } });
  const running = lane.wake();
  const late = await world.accept('late');
  t.notOk(await lane.wake());
  t.ok(await running);
  t.equal((await world.get(late)).status, 'submitted');
  t.equal(world.chain.received.length, 2);
});

t.test('a fault ends the run and is reported; the lane rests and then goes on', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await world.accept('pay');
  let now = 0;
  let broken = true;
  const read = {
    ...world.store.read,
    openTransactions: (lane: string) =>
      broken ? Promise.reject(new Error('disk full')) : world.store.read.openTransactions(lane),
  };
  const { lane, faults } = await laneOf(world, { store: { ...world.store, read }, elapsed: () => now });
  t.ok(await lane.wake());
  t.strictSame(faults, ['evm']);
  broken = false;
  t.notOk(await lane.wake(), 'it rests');
  now += fastTiming.retryMs;
  t.ok(await lane.wake());
  t.equal((await world.get(transaction)).status, 'submitted');
});

t.test('no more is signed than the nodes can be expected to hold', async (t) => {
  const world = await EngineWorld.open(t);
  const accepted = [];
  for (let index = 0; index < 10; index += 1) accepted.push(await world.accept(`pay ${index}`));
  const { lane } = await laneOf(world, { timing: { ...fastTiming, inFlight: 4, lookMs: 1_000 } });
  await lane.wake();
  const statuses = await Promise.all(accepted.map(async (transaction) => (await world.get(transaction)).status));
  t.equal(statuses.filter((status) => status === 'submitted').length, 4);
  t.equal(statuses.filter((status) => status === 'pending').length, 6);
});

t.test('a parked transaction has no sequence, and later ones pass it', async (t) => {
  const world = await EngineWorld.open(t);
  const [parked, later] = [await world.accept('parked'), await world.accept('later')];
  world.client.onPrepare = ({ id }) =>
    id === parked.id ? { kind: 'parked', reason: 'gas price above the cap', retryInMs: 60_000 } : undefined;
  const { lane } = await laneOf(world, { timing: { ...fastTiming, lookMs: 1_000 } });
  await lane.wake();
  t.match(await world.get(parked), { status: 'pending', statusReason: 'gas price above the cap', sequence: null });
  t.match(await world.get(later), { status: 'submitted', sequence: 0n });
});

t.test('a closed lane finishes its step and starts no other', async (t) => {
  const world = await EngineWorld.open(t);
  const accepted = [];
  for (let index = 0; index < 70; index += 1) accepted.push(await world.accept(`pay ${index}`));
  const { lane } = await laneOf(world);
  const running = lane.wake();
  await lane.close();
  await running;
  await lane.close();
  t.notOk(await lane.wake());
  t.equal((await world.get(present(accepted.at(-1)))).status, 'pending');
});
