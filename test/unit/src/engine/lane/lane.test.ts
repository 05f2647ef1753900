import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { Lane, type LaneDeps, leaveRestartedChain } from '../../../../../src/engine/lane/lane.ts';
import type { LaneStep } from '../../../../../src/engine/lane/lane-step.ts';
import { signPending } from '../../../../../src/engine/lane/sign-pending.ts';
import type { LeaseRegistry } from '../../../../../src/engine/lease-registry.ts';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';
import { ADDRESS, EngineWorld, fastTiming, LANE, present } from '../../../../support/engine-world.ts';

async function laneOf(world: EngineWorld, more: Partial<LaneDeps> = {}): Promise<{ lane: Lane; faults: string[] }> {
  const faults: string[] = [];
  const lane = new Lane(LANE, {
    store: world.store,
    sources: {
      store: world.store,
      chains: new Map([['evm', world.family]]),
      connections: { clientOf: () => world.client, close: async () => {} },
      signerOf: async () => world.signer,
      recheck: () => {},
    },
    origin: async () => ({ upTo: 0, oldCalls: null, release: null }),
    leases: world.leases(),
    ledgerUnder: (lease, onDoubt) => world.ledger(lease, { onDoubt }),
    timing: fastTiming,
    random: () => 0,
    log: world.log,
    elapsed: () => performance.now(),
    newId: randomUUID,
    onCheckpoint: () => {},
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
  t.equal(await lane.wake(), 'ran');
  for (const transaction of accepted) t.equal((await world.get(transaction)).status, 'submitted');
});

t.test('what was not signed yet goes to the lane of the chain that was started anew', async (t) => {
  const world = await EngineWorld.open(t);
  Object.assign(world.family, { restartable: (identity: string) => identity.split('@', 1)[0] });
  const payment = await world.accept('payment');
  const read = { ...world.store.read, chainIdentity: async () => '31337@ab' };
  const { lane, faults } = await laneOf(world, { store: { ...world.store, read } });
  await lane.wake();
  t.match(await world.get(payment), { status: 'pending', lane: `evm:31337@ab:${ADDRESS}` });
  t.strictSame([faults, world.chain.received], [[], []]);
});

t.test('woken while it runs it is not run twice, but looks once more at the end', async (t) => {
  const world = await EngineWorld.open(t);
  await world.accept('first');
  const { lane } = await laneOf(world, { timing: { ...fastTiming, lookMs: 1_000 } });
  const running = lane.wake();
  const late = await world.accept('late');
  t.equal(await lane.wake(), 'not now');
  t.equal(await running, 'ran');
  t.equal((await world.get(late)).status, 'submitted');
  t.equal(new Set(world.chain.received).size, 2, 'each was sent, and perhaps once more');
});

t.test('a lane goes at the pace of its network, where that has one', async (t) => {
  const world = await EngineWorld.open(t);
  await world.accept('first');
  let now = 0;
  const { lane } = await laneOf(world, { timing: { ...fastTiming, lookMs: 60_000 }, elapsed: () => now });
  Object.assign(world.client, { lookMs: 20 });
  await lane.wake();
  const next = await world.accept('next');
  t.equal(await lane.wake(), 'rests');
  now += 20;
  t.equal(await lane.wake(), 'ran');
  t.match(await world.get(next), { status: 'submitted' });
  t.ok(((await world.get(next)).nextActionAt ?? 0) <= (await world.store.now()) + 40);
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
  t.equal(await lane.wake(), 'ran');
  t.strictSame(faults, ['evm']);
  broken = false;
  t.equal(await lane.wake(), 'rests');
  now += fastTiming.retryMs;
  t.equal(await lane.wake(), 'ran');
  t.equal((await world.get(transaction)).status, 'submitted');
});

t.test('a step that fails while bytes are on offer ends when the offer has', async (t) => {
  const world = await EngineWorld.open(t);
  const offered = await world.accept('offered');
  const failing = await world.accept('failing');
  world.client.onPrepare = ({ id }) =>
    id === failing.id ? { kind: 'parked', reason: 'above the cap', retryInMs: 60_000 } : undefined;
  const { promise: answer, resolve: answerNow } = Promise.withResolvers<void>();
  const broadcast = world.client.broadcast.bind(world.client);
  world.client.broadcast = async (attempts) => {
    await answer;
    return broadcast(attempts);
  };
  const { promise: hasFailed, resolve: fail } = Promise.withResolvers<void>();
  const ledgerUnder: LaneDeps['ledgerUnder'] = (lease, onDoubt) => {
    const ledger = world.ledger(lease, { onDoubt });
    const apply = ledger.apply.bind(ledger);
    ledger.apply = async (changes) => {
      if (!changes.some(({ transaction }) => transaction.id === failing.id)) return apply(changes);
      fail();
      throw new Error('disk full');
    };
    return ledger;
  };
  // With a batch of 1, the second step offers what the first one signed, and takes up the next transaction meanwhile.
  const { lane, faults } = await laneOf(world, { ledgerUnder, timing: { ...fastTiming, batch: 1 } });
  let isOver = false;
  const woken = lane.wake().then(() => {
    isOver = true;
  });
  await hasFailed;
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  t.notOk(isOver, 'nobody would attend to the offer');
  answerNow();
  await woken;
  t.strictSame(faults, ['evm']);
  t.equal((await world.get(offered)).status, 'submitted');
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

t.test('an intent for a pending transaction is carried out before it is signed', async (t) => {
  const world = await EngineWorld.open(t);
  const { id: transactionId } = await world.accept('as it was');
  const action = { kind: 'replace', request: { effect: 'instead' }, validUntil: null } as const;
  await world.store.write((writer) => writer.insertIntent({ transactionId, lane: LANE, action }));
  const { lane } = await laneOf(world, { timing: { ...fastTiming, lookMs: 60_000 } });
  await lane.wake();
  t.strictSame(
    world.chain.received.map((raw) => JSON.parse(raw).effect),
    ['instead'],
  );
});

t.test('of each kind of anchor as much as its chain bears; what may never die takes no room of others', async (t) => {
  const world = await EngineWorld.open(t);
  Object.assign(world.family, { pace: { ...world.family.pace, anchors: { sequence: 2, none: 1 } } });
  world.client.onPrepare = ({ anchorKind }) =>
    anchorKind === 'none' ? { kind: 'ready', fields: { price: '1' }, cost: 1n, anchor: { kind: 'none' } } : undefined;
  world.client.broadcast = async (attempts) => attempts.map(() => ({ kind: 'accepted' }));
  const accepted = [];
  for (const more of [
    { onDeath: 'never' },
    { onDeath: 'never' },
    { anchorKind: 'none' },
    { anchorKind: 'none' },
    {},
    {},
    {},
  ] as const) {
    accepted.push(await world.accept(`pay ${accepted.length}`, more));
  }
  // A batch of 1, so that each transaction is counted before the next one is taken up.
  const { lane } = await laneOf(world, { timing: { ...fastTiming, batch: 1, lookMs: 60_000 } });
  await lane.wake();
  const statuses = await Promise.all(accepted.map(async (one) => (await world.get(one)).status));
  t.strictSame(statuses, [
    ...['submitted', 'submitted', 'submitted', 'pending'],
    ...['submitted', 'submitted', 'pending'],
  ]);
});

t.test('a parked transaction has no sequence, and later ones pass it', async (t) => {
  const world = await EngineWorld.open(t);
  const [parked, later] = [await world.accept('parked'), await world.accept('later')];
  world.client.onPrepare = ({ id }) =>
    id === parked.id ? { kind: 'parked', reason: 'gas price above the cap', retryInMs: 60_000 } : undefined;
  const { lane } = await laneOf(world, { timing: { ...fastTiming, lookMs: 1_000 } });
  await lane.wake();
  t.match(await world.get(parked), {
    status: 'pending',
    statusReason: /^gas price above the cap \(checked again at /,
    sequence: null,
  });
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
  t.equal(await lane.wake(), 'not now');
  t.equal((await world.get(present(accepted.at(-1)))).status, 'pending');
});

t.test('a lane that another instance has is left alone', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await world.accept('pay');
  const { lane } = await laneOf(world, { leases: { hold: async () => undefined } });
  t.equal(await lane.wake(), 'elsewhere');
  t.equal((await world.get(transaction)).status, 'pending');
  await lane.release();
});

t.test('a lane that is lost between signing and commit sends nothing and takes its leave quietly', async (t) => {
  const world = await EngineWorld.open(t);
  const accepted = [await world.accept('one'), await world.accept('two')];
  const leases = world.leases();
  const { lane, faults } = await laneOf(world, { leases });
  world.client.onPrepare = () => {
    // Another owner takes the lane while this one prices and signs.
    void world.store.leases.acquire(LANE);
    return undefined;
  };
  t.equal(await lane.wake(), 'ran');
  t.strictSame(faults, []);
  t.match(world.logLines.join(''), /another instance drives this lane now/);
  t.strictSame(world.chain.received, []);
  for (const transaction of accepted) {
    t.match(await world.get(transaction), { status: 'pending', sequence: null, statusReason: null });
    t.strictSame(await world.store.read.attempts(transaction.id), []);
  }
  t.equal(leases.size, 0, 'it is asked for anew');

  world.client.onPrepare = () => undefined;
  t.equal(await lane.wake(), 'ran');
  for (const transaction of accepted) t.equal((await world.get(transaction)).status, 'submitted');
});

t.test('what waited in a lane before another instance had it is not counted as waiting after that', async (t) => {
  type Leave = (lane: Lane, keeper: LeaseRegistry, world: EngineWorld) => Promise<unknown>;
  const ways: Record<string, Leave> = {
    'given back': (lane) => lane.release(),
    'run out': (_lane, keeper) => keeper.close(),
    'taken by another': (_lane, _keeper, { store }) => store.leases.acquire(LANE),
  };
  for (const [way, leave] of Object.entries(ways)) {
    const world = await EngineWorld.open(t);
    const gone = await world.accept('gone');
    let now = 0;
    let keeper = world.leases();
    const { lane } = await laneOf(world, {
      leases: { hold: (name) => keeper.hold(name) },
      timing: { ...fastTiming, lookMs: 1_000 },
      elapsed: () => now,
    });
    world.client.onPrepare = () => ({ kind: 'parked', reason: 'gas price above the cap', retryInMs: 60_000 });
    await lane.wake();
    t.equal(lane.parked.length, 1, way);

    await leave(lane, keeper, world);
    const change = { status: 'canceled', nextActionAt: null } as const;
    await world.ledger().apply([{ transaction: await world.get(gone), set: change }]);
    if (way === 'run out') keeper = world.leases();

    world.client.onPrepare = () => undefined;
    const next = await world.accept('next');
    for (let count = 0; count < 2; count += 1) {
      now += 10_000;
      await lane.wake();
    }
    t.equal((await world.get(next)).status, 'submitted', way);
    t.strictSame(lane.parked, [], way);
    await lane.release();
  }
});

t.test('what was heard before another instance had the lane is not taken for heard again', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await world.accept('pay');
  const told = [5n, undefined, 5n, undefined, 5n];
  world.client.sequences.next = async () => told.shift() ?? Promise.reject(new Error('silent'));
  let now = 0;
  const timing = { ...fastTiming, retryMs: 50_000, retryCapMs: 50_000, driftMs: 3_600_000 };
  const { lane } = await laneOf(world, { timing, elapsed: () => now });
  const wakeDue = async () => {
    await world.ledger().apply([{ transaction: await world.get(transaction), set: { nextActionAt: 1 } }]);
    now += 1_000;
    t.equal(await lane.wake(), 'ran');
    return (await world.get(transaction)).sequence;
  };
  t.equal(await wakeDue(), null);
  await lane.release();
  t.equal(await wakeDue(), null);
  t.equal(await wakeDue(), 5n, 'heard twice');
  await lane.release();
});

t.test('a lease that has run out by the own clock stops the lane before the next bytes leave', async (t) => {
  const world = await EngineWorld.open(t);
  for (let index = 0; index < 3; index += 1) await world.accept(`pay ${index}`);
  const held = present(await world.leases().hold(LANE));
  let live = true;
  const leases = { hold: async () => ({ ...held, isLive: () => live }) };
  const { lane } = await laneOf(world, { leases, timing: { ...fastTiming, batch: 1 } });
  const { broadcast } = world.client;
  world.client.broadcast = async (attempt) => {
    live = false;
    return broadcast.call(world.client, attempt);
  };
  t.equal(await lane.wake(), 'ran');
  t.equal(world.chain.received.length, 1);
});

t.test('who cancels waits for one batch of dearer versions at most', async (t) => {
  const world = await EngineWorld.open(t);
  const accepted = [];
  for (let index = 0; index < 12; index += 1) accepted.push(await world.accept(`pay ${index}`));
  const last = present(accepted.at(-1));
  const { lane } = await laneOf(world, { timing: { ...fastTiming, batch: 4, lookMs: 60_000 } });
  await lane.wake();

  const asked: string[] = [];
  const { prepare } = world.client.replacement;
  world.client.replacement.prepare = async (entry, version, figures) => {
    asked.push(version.purpose);
    if (asked.length === 1) {
      await world.store.write((writer) =>
        writer.insertIntent({ transactionId: last.id, lane: LANE, action: { kind: 'cancel' } }),
      );
    }
    return prepare(entry, version, figures);
  };
  world.client.patience = 0;
  for (const { id } of accepted) {
    await world.store.write((writer) => writer.updateTransaction(id, 'submitted', { nextActionAt: 1 }));
  }
  // A second lane object, because the first keeps what it has read and would not see the change.
  const { lane: next } = await laneOf(world, { timing: { ...fastTiming, batch: 4, lookMs: 60_000 } });
  await lane.release();
  void next.wake();
  await world.until('it is taken back', async () => asked.includes('noop'));
  await next.close();
  t.ok(asked.indexOf('noop') <= 5, `it was asked for as number ${asked.indexOf('noop') + 1}`);
});

t.test('a transaction whose relayer is gone does not hold up the others', async (t) => {
  const world = await EngineWorld.open(t);
  const orphan = await world.accept('orphan', { relayerId: 'gone' });
  const transaction = await world.accept('pay');
  const { lane, faults } = await laneOf(world);
  t.equal(await lane.wake(), 'ran');
  t.equal((await world.get(transaction)).status, 'submitted');
  const left = await world.store.read.transactionOfLane(orphan.lane, orphan.id);
  t.match(left, { status: 'pending', statusReason: 'Relayer gone is gone' });
  t.strictSame(faults, []);
});

t.test('an attempt on another account’s sequence that nodes turned away takes no room from later ones', async (t) => {
  const world = await EngineWorld.open(t);
  Object.assign(world.family, { pace: { ...world.family.pace, anchors: { text: 2 } } });
  world.client.onPrepare = ({ id }) => ({
    kind: 'ready',
    fields: { price: '1' },
    cost: 1n,
    anchor: { kind: 'text', text: id },
  });
  world.client.broadcast = async (attempts) =>
    attempts.map(({ raw }) => (raw.includes('gap') ? { kind: 'anchor-used', reason: 'a gap' } : { kind: 'accepted' }));
  const text = { anchorKind: 'text' } as const;
  for (let index = 0; index < 5; index += 1) await world.accept(`gap ${index}`, text);
  const last = await world.accept('its turn', text);
  const { lane } = await laneOf(world);
  await world.until('the last is taken', async () => {
    await lane.wake();
    return (await world.get(last)).status === 'submitted';
  });
  t.equal((await world.get(last)).status, 'submitted');
});

/** One signed and one pending transaction. With `pinned`, the chain has restarted under that identity. */
async function scene(t: Test, { pinned, restartable = true }: { pinned?: string; restartable?: boolean }) {
  const world = await EngineWorld.open(t);
  if (restartable) Object.assign(world.family, { restartable: (identity: string) => identity.split('@', 1)[0] });
  const [signed, pending] = [await world.accept('signed'), await world.accept('pending')];
  const known = await world.step();
  const chainIdentity = async () => pinned;
  const step = pinned === undefined ? known : { ...known, read: { ...known.read, chainIdentity } };
  await signPending(step, [signed]);
  return { world, step, signed, pending };
}

/** The signed transaction as the lane knows it. */
function signedIn(step: LaneStep): Transaction {
  const [entry] = step.open.entries.values();
  if (entry === undefined) throw new Error('nothing is open');
  return entry.transaction;
}

t.test('what was signed for an earlier chain ends unsent, what was not goes to the lane of the new one', async (t) => {
  const { world, step, signed, pending } = await scene(t, { pinned: '31337@ab' });
  t.equal(await leaveRestartedChain(step, [signedIn(step), pending]), 2);
  t.match(await world.get(signed), { status: 'failed', statusReason: /started anew/, sequence: null });
  t.match(await world.get(pending), { status: 'pending', lane: `evm:31337@ab:${ADDRESS}`, nextActionAt: Number });
  t.equal(step.open.entries.size, 0);
  t.strictSame(await world.store.read.settledSequence(LANE), null, 'nothing of it was used');
  t.strictSame((await world.store.read.dueLanes(Date.now())).lanes, [`evm:31337@ab:${ADDRESS}`]);
});

for (const [what, given] of [
  ['the chain is the same', {}],
  ['its chain never starts anew', { pinned: '31337@ab', restartable: false }],
] as const) {
  t.test(`all goes on where ${what}`, async (t) => {
    const { step, pending } = await scene(t, given);
    t.equal(await leaveRestartedChain(step, [signedIn(step), pending]), 0);
    t.equal(step.open.entries.size, 1);
  });
}

t.test('transactions of a relayer that is gone do not end, for nobody knows its chain', async (t) => {
  const { step, pending } = await scene(t, { pinned: '31337@ab' });
  t.equal(await leaveRestartedChain(step, [{ ...pending, relayerId: 'gone' }]), 0);
});
