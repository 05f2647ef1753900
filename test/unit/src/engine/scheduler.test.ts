import t from 'tap';
import { EngineWorld, LANE } from '../../../support/engine-world.ts';

t.test('what is in the store is found without any hint', async (t) => {
  const world = await EngineWorld.open(t);
  const before = await world.accept('before the start');
  const engine = world.engine();
  t.teardown(() => engine.close());
  await engine.start();
  const after = await world.accept('after the start');
  await world.untilStatus(before, 'confirmed', { mining: true });
  await world.untilStatus(after, 'confirmed', { mining: true });
});

t.test('a hint saves the wait for the sweeper', async (t) => {
  const world = await EngineWorld.open(t);
  const engine = world.engine({ timing: { sweepMs: 600_000 } });
  t.teardown(() => engine.close());
  await engine.start();
  const transaction = await world.accept('pay');
  engine.wake(LANE);
  await world.untilStatus(transaction, 'confirmed', { mining: true });
});

t.test('each committed change is told to those who listen', async (t) => {
  const world = await EngineWorld.open(t);
  const engine = world.engine();
  t.teardown(() => engine.close());
  const transaction = await world.accept('pay');
  const seen: Promise<string>[] = [];
  const stop = engine.onChange(transaction.id, () => seen.push(world.get(transaction).then(({ status }) => status)));
  await engine.start();
  await world.untilStatus(transaction, 'confirmed', { mining: true });
  stop();
  const statuses = await Promise.all(seen);
  t.ok(statuses.includes('submitted') || statuses.includes('mined'));
  t.equal(statuses.at(-1), 'confirmed');
});

t.test('a disabled relayer does not stop the start, nor what it accepted before', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await world.accept('pay');
  world.client.identityText = 'another chain';
  const engine = world.engine();
  t.teardown(() => engine.close());
  await engine.start();
  t.ok((await world.store.read.relayer('r1'))?.disabledReason);
  await world.untilStatus(transaction, 'confirmed', { mining: true });
});

t.test('hints before the start and after the end do nothing; both may come twice', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await world.accept('pay');
  const engine = world.engine();
  engine.wake(LANE);
  await engine.close();
  await engine.start();
  engine.wake(LANE);
  await engine.close();
  t.equal((await world.get(transaction)).status, 'pending');

  const other = world.engine();
  await Promise.all([other.start(), other.start()]);
  await Promise.all([other.close(), other.close()]);
  t.pass('ended');
});

t.test('a store that fails for a while is only a delay', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await world.accept('pay');
  let failures = 5;
  const read = {
    ...world.store.read,
    dueLanes: (now: number) =>
      failures-- > 0 ? Promise.reject(new Error('disk full')) : world.store.read.dueLanes(now),
  };
  const engine = world.engine({ store: { ...world.store, read } });
  t.teardown(() => engine.close());
  await engine.start();
  await world.untilStatus(transaction, 'confirmed', { mining: true });
});
