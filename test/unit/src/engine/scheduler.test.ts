import t from 'tap';
import type { Hint, Hints } from '../../../../src/store/instances.ts';
import type { LeaseAnswer } from '../../../../src/store/lease.ts';
import type { Store } from '../../../../src/store/store.ts';
import { EngineWorld, LANE } from '../../../support/engine-world.ts';
import { FakeInstances } from '../../../support/fake-instances.ts';

t.test('what is in the store is found without any hint', async (t) => {
  const world = await EngineWorld.open(t);
  const before = await world.accept('before the start');
  const engine = world.engine();
  t.teardown(() => engine.close());
  await engine.start();
  const after = await world.accept('after the start');
  await world.untilStatus(before, 'confirmed', { mining: true });
  await world.untilStatus(after, 'confirmed', { mining: true });
  t.equal(world.chain.executed.length, 2);
});

t.test('a hint saves the wait for the sweeper', async (t) => {
  const world = await EngineWorld.open(t);
  const engine = world.engine({ timing: { sweepMs: 600_000 } });
  t.teardown(() => engine.close());
  await engine.start();
  const transaction = await world.accept('pay');
  engine.wake(LANE);
  await world.untilStatus(transaction, 'confirmed', { mining: true });
  t.equal((await world.get(transaction)).status, 'confirmed');
});

t.test('a hint that comes while a lane rests is heard when it has rested', async (t) => {
  const world = await EngineWorld.open(t);
  const engine = world.engine({ timing: { sweepMs: 600_000, lookMs: 200 } });
  t.teardown(() => engine.close());
  await engine.start();
  for (const effect of ['one', 'two', 'three']) {
    const transaction = await world.accept(effect);
    engine.wake(LANE);
    await world.untilStatus(transaction, 'confirmed', { mining: true });
    // The lane has nothing else to do here, so it is at rest when the next transaction comes.
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.equal(world.chain.executed.length, 3);
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
  t.equal((await world.get(transaction)).status, 'confirmed');
});

/** Other instances, played by the test: what they send, what they hear, and the lanes that they hold. */
class OtherInstances implements Hints {
  readonly heard: Hint[] = [];
  tell: (heard: Hint | 'missed') => void = () => {};
  readonly lanes = new Map<string, number>();
  asked = 0;

  send(hint: Hint): void {
    this.heard.push(hint);
  }

  listen(listener: (heard: Hint | 'missed') => void): () => void {
    this.tell = listener;
    return () => {
      this.tell = () => {};
    };
  }

  /** The world's store as seen with these other instances beside it. */
  store({ store }: EngineWorld): Store {
    const acquire = async (name: string): Promise<LeaseAnswer> => {
      const forMs = this.lanes.get(name);
      if (name === LANE) this.asked += 1;
      return forMs === undefined ? store.leases.acquire(name) : { kind: 'elsewhere', forMs };
    };
    const leases = {
      lastsMs: 60_000,
      acquire,
      renew: store.leases.renew.bind(store.leases),
      release: store.leases.release.bind(store.leases),
    };
    return { ...store, hints: this, leases };
  }
}

t.test('work for a lane that another has is told to it; the lane is taken when it is heard to be free', async (t) => {
  const world = await EngineWorld.open(t);
  const others = new OtherInstances();
  others.lanes.set(LANE, 600_000);
  const engine = world.engine({ store: others.store(world), timing: { sweepMs: 600_000 } });
  t.teardown(() => engine.close());
  await engine.start();
  const transaction = await world.accept('pay');
  engine.wake(LANE);
  await world.until('the other is told', async () => others.heard.length > 0);
  engine.wake(LANE);
  await world.until('it is told again', async () => others.heard.length > 1);
  t.strictSame(others.heard[1], { topic: 'lane', id: LANE });
  t.equal(others.asked, 1, 'what is known to be elsewhere is not asked for');

  others.lanes.clear();
  others.tell({ topic: 'lane', id: LANE });
  await world.untilStatus(transaction, 'confirmed', { mining: true });
  t.ok(others.heard.some(({ topic, id }) => topic === 'transaction' && id === transaction.id));
  await engine.close();
  t.strictSame(others.heard.at(-1), { topic: 'lane', id: LANE }, 'at the end others learn that it is free');
});

t.test('without a word the lane is taken when its lease should be over', async (t) => {
  const world = await EngineWorld.open(t);
  const others = new OtherInstances();
  others.lanes.set(LANE, 100);
  const transaction = await world.accept('pay');
  const engine = world.engine({ store: others.store(world), timing: { sweepMs: 600_000 } });
  t.teardown(() => engine.close());
  await engine.start();
  await world.until('it has asked twice', async () => others.asked > 1);
  others.lanes.clear();
  await world.untilStatus(transaction, 'confirmed', { mining: true });
  t.equal((await world.get(transaction)).status, 'confirmed');
});

t.test('what others tell wakes those who listen, and the search when words were missed', async (t) => {
  const world = await EngineWorld.open(t);
  const others = new OtherInstances();
  const engine = world.engine({ store: others.store(world), timing: { sweepMs: 600_000 } });
  t.teardown(() => engine.close());
  await engine.start();
  let changes = 0;
  engine.onChange('elsewhere', () => {
    changes += 1;
  });
  others.tell({ topic: 'transaction', id: 'elsewhere' });
  t.equal(changes, 1);
  t.strictSame(others.heard, [], 'it is not passed on');

  const transaction = await world.accept('pay');
  others.tell('missed');
  await world.untilStatus(transaction, 'confirmed', { mining: true });
  engine.recheck('r1');
  t.strictSame(others.heard.at(-1), { topic: 'relayer', id: 'r1' });
  others.tell({ topic: 'relayer', id: 'r1' });
  await engine.close();
});

t.test('a clock that is set back by an hour delays nothing that is open, nor what waits in the store', async (t) => {
  const world = await EngineWorld.open(t);
  let shift = 0;
  const store: Store = { ...world.store, now: async () => Date.now() + shift };
  const engine = world.engine({ store });
  t.teardown(() => engine.close());
  await engine.start();
  const sent = await world.accept('sent');
  await world.untilStatus(sent, 'submitted');
  shift = -3_600_000;
  const waiting = await world.accept('waiting', { nextActionAt: Date.now() + 500 });
  await world.untilStatus(sent, 'confirmed', { mining: true });
  await world.untilStatus(waiting, 'confirmed', { mining: true });
  t.equal(world.chain.executed.length, 2);
  t.ok(((await world.get(waiting)).sentAt ?? 0) < Date.now() - 3_000_000, 'by the clock as it is now');
});

t.test('a lane without work is given back', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await world.accept('pay');
  const released: string[] = [];
  const others = new OtherInstances();
  const store = others.store(world);
  const release: Store['leases']['release'] = async (leases) => {
    released.push(...leases.map(({ name }) => name));
  };
  const engine = world.engine({
    store: { ...store, leases: { ...store.leases, release } },
    timing: { idleMs: 30 },
  });
  t.teardown(() => engine.close());
  await engine.start();
  await world.untilStatus(transaction, 'confirmed', { mining: true });
  await world.until('it is given back', async () => released.includes(LANE));
  const next = await world.accept('again');
  await world.untilStatus(next, 'confirmed', { mining: true });
  t.equal((await world.get(next)).status, 'confirmed');
});

t.test('a lane whose chain is not reached is left to the other instances, and driven once it is', async (t) => {
  const world = await EngineWorld.open(t);
  const [others, instances] = [new OtherInstances(), new FakeInstances()];
  await instances.join().say([]);
  const store = { ...others.store(world), instances: instances.join() };
  const engine = world.engine({ store, timing: { healthMs: 600_000 } });
  t.teardown(() => engine.close());
  await engine.start();
  const first = await world.accept('first');
  await world.untilStatus(first, 'submitted');
  world.chain.fault = () => 'request-lost';
  engine.recheck('r1');
  await world.until('it is given away', async () => /lane given away/.test(world.logLines.join('')));
  t.match(engine.unreached(), [{ relayerId: 'r1', isElsewhere: true }]);
  await world.until('the others are told', async () => others.heard.some(({ topic }) => topic === 'lane'));
  const second = await world.accept('second');
  const before = others.heard.length;
  engine.wake(LANE);
  await world.until('they are told of the work', async () => others.heard.length > before);
  t.equal((await world.get(second)).status, 'pending');
  world.chain.fault = () => undefined;
  await world.until('it is reached', async () => engine.unreached().length === 0);
  await world.untilStatus(second, 'confirmed', { mining: true });
  await world.untilStatus(first, 'confirmed', { mining: true });
  t.equal(world.chain.executed.length, 2);
});
