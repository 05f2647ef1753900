import t, { type Test } from 'tap';
import { NO_ENDPOINT_CONTACTS } from '../../../../../src/chains/rpc-connections.ts';
import { RelayerRounds, type RelayerRoundsDeps } from '../../../../../src/engine/relayers/relayer-rounds.ts';
import type { Relayer } from '../../../../../src/features/relayers/records/relayer.ts';
import type { Leases } from '../../../../../src/store/lease.ts';
import { EngineWorld, fastTiming, relayerNamed } from '../../../../support/engine-world.ts';

const DISABLED = { type: 'BalanceCheckFailed', details: 'Insufficient balance' } as const;

/** Rounds over a world with these relayers. Records in order which ones were looked at and which were taken up. */
async function stage(t: Test, relayers: readonly Relayer[], parts: Partial<RelayerRoundsDeps> = {}) {
  const world = await EngineWorld.open(t);
  await world.store.write(async (writer) => {
    for (const relayer of relayers) await writer.putRelayer(relayer);
  });
  const looked: string[] = [];
  const takenUp: string[] = [];
  const unwell = new Set<string>();
  const rounds = new RelayerRounds({
    store: world.store,
    checks: {
      seemWell: async ({ id }) => {
        looked.push(id);
        return !unwell.has(id);
      },
    },
    ensureWatched: (id) => takenUp.push(id),
    contacts: NO_ENDPOINT_CONTACTS,
    metrics: world.metrics,
    timing: { ...fastTiming, healthMs: 20 },
    log: world.log,
    elapsed: () => performance.now(),
    random: () => 0.5,
    ...parts,
  });
  t.teardown(() => rounds.close());
  return { world, rounds, looked, takenUp, unwell };
}

t.test('every fit relayer is looked at in every round; one that seems unwell is taken up', async (t) => {
  const { world, rounds, looked, takenUp, unwell } = await stage(t, [relayerNamed('r2'), relayerNamed('r3')]);
  unwell.add('r2');
  rounds.start();
  rounds.start();
  await world.until('three rounds', async () => looked.length >= 9);
  t.strictSame(looked.slice(0, 3).sort(), ['r1', 'r2', 'r3']);
  t.strictSame(looked.slice(3, 6).sort(), ['r1', 'r2', 'r3']);
  t.strictSame(new Set(takenUp), new Set(['r2']));
  t.ok(
    world.metrics.of('relayer_checks', 'result').every((result) => result === 'passed'),
    'what is only suspected is not counted',
  );
});

t.test('a disabled relayer is taken up at once and not looked at', async (t) => {
  const { world, rounds, looked, takenUp } = await stage(
    t,
    [relayerNamed('r1', { disabledReason: DISABLED }), relayerNamed('r2')],
    { timing: { ...fastTiming, healthMs: 600_000 } },
  );
  rounds.start();
  await world.until('it is taken up', async () => takenUp.length > 0);
  t.strictSame(takenUp, ['r1']);
  t.strictSame(looked, [], 'the fit one comes in its time');
});

t.test('one that was disabled or is gone since the round began is seen as it is', async (t) => {
  const { world, rounds, looked, takenUp } = await stage(t, [relayerNamed('r2'), relayerNamed('r3')], {
    timing: { ...fastTiming, healthMs: 300 },
  });
  rounds.start();
  await world.store.write(async (writer) => {
    await writer.deleteRelayer('r1');
    await writer.putRelayer(relayerNamed('r2', { disabledReason: DISABLED }));
  });
  await world.until('both are seen', async () => takenUp.includes('r2') && looked.includes('r3'));
  t.notOk(looked.includes('r2'));
  t.notOk(takenUp.includes('r3'));
});

t.test('the looks of a round are spread over its time', async (t) => {
  const many = Array.from({ length: 19 }, (_, index) => relayerNamed(`many-${index}`));
  const at: number[] = [];
  const { world, rounds } = await stage(t, many, {
    timing: { ...fastTiming, healthMs: 400 },
    checks: { seemWell: async () => at.push(performance.now()) > 0 },
  });
  rounds.start();
  await world.until('one round', async () => at.length >= 20);
  t.ok((at[19] ?? 0) - (at[0] ?? 0) > 200, 'no burst');
});

t.test('of very many relayers some are looked at together, so that they share requests', async (t) => {
  const many = Array.from({ length: 479 }, (_, index) => relayerNamed(`many-${index}`));
  const turns: number[] = [];
  let isNewTurn = true;
  const { world, rounds } = await stage(t, many, {
    timing: { ...fastTiming, healthMs: 2_000 },
    checks: {
      async seemWell() {
        if (isNewTurn) {
          turns.push(0);
          isNewTurn = false;
          setImmediate(() => (isNewTurn = true));
        }
        turns.push((turns.pop() ?? 0) + 1);
        return true;
      },
    },
  });
  rounds.start();
  await world.until('some looks', async () => turns.length > 20);
  t.strictSame(new Set(turns.slice(0, 20)), new Set([2]));
});

t.test('endpoints that hang do not pile up looks, and the end waits for those under way', async (t) => {
  const many = Array.from({ length: 40 }, (_, index) => relayerNamed(`many-${index}`));
  const waiting: (() => void)[] = [];
  const { world, rounds } = await stage(t, many, {
    checks: { seemWell: () => new Promise((resolve) => waiting.push(() => resolve(true))) },
  });
  rounds.start();
  await world.until('as many as may be', async () => waiting.length === 16);
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.equal(waiting.length, 16);
  let closed = false;
  const closing = rounds.close().then(() => (closed = true));
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(closed, false);
  for (const answer of waiting) answer();
  await closing;
  await rounds.close();
  t.equal(waiting.length, 16);
});

t.test('rounds that another instance makes are not made here until that one is gone', async (t) => {
  const world = await EngineWorld.open(t);
  let isFree = false;
  const { leases } = world.store;
  let asked = 0;
  const theirs: Leases = {
    lastsMs: 60_000,
    acquire: async (name) => {
      asked += 1;
      return isFree ? leases.acquire(name) : { kind: 'elsewhere', forMs: 5 };
    },
    renew: (held) => leases.renew(held),
    release: (held) => leases.release(held),
  };
  const { rounds, looked } = await stage(t, [], { store: { ...world.store, leases: theirs } });
  rounds.start();
  await world.until('it has asked several times', async () => asked > 5);
  t.equal(rounds.isMaking, false);
  t.strictSame(looked, []);
  isFree = true;
  await world.until('it is taken over', async () => looked.length > 0);
  t.equal(rounds.isMaking, true);
  await rounds.close();
  t.equal(rounds.isMaking, false);
});

t.test('who makes no rounds looks at endpoints of which it has heard nothing for long, once for each', async (t) => {
  const { leases } = (await EngineWorld.open(t)).store;
  const elsewhere: Leases = { ...leases, lastsMs: 60_000, acquire: async () => ({ kind: 'elsewhere', forMs: 5 }) };
  const [fresh, stale] = [
    { isLost: false, servedAt: Number.POSITIVE_INFINITY },
    { isLost: false, servedAt: 0 },
  ];
  const world = await EngineWorld.open(t);
  const contactOf = ({ network }: { network: string }) => (network === 'stale' ? stale : fresh);
  const { rounds, looked, takenUp, unwell } = await stage(
    t,
    [relayerNamed('r2', { network: 'stale' }), relayerNamed('r3', { network: 'stale' })],
    { store: { ...world.store, leases: elsewhere }, contacts: { contactOf } },
  );
  await world.store.write(async (writer) => {
    for (const id of ['r2', 'r3']) await writer.putRelayer(relayerNamed(id, { network: 'stale' }));
  });
  unwell.add('r2').add('r3');
  rounds.start();
  await world.until('it has looked', async () => takenUp.length > 0);
  t.equal(rounds.isMaking, false);
  t.equal(new Set(looked).size, 1);
  t.notOk(looked.includes('r1'));
});

t.test('a round under a lease that was lost ends', async (t) => {
  const world = await EngineWorld.open(t);
  const { leases } = world.store;
  let asked = 0;
  const lost: Leases = {
    lastsMs: 1,
    acquire: async (name) => ((asked += 1) === 1 ? leases.acquire(name) : { kind: 'elsewhere', forMs: 60_000 }),
    renew: async () => [],
    release: async () => {},
  };
  const { rounds, looked } = await stage(t, [], { store: { ...world.store, leases: lost } });
  rounds.start();
  await world.until('it asks for the lease again', async () => asked === 2);
  t.strictSame(looked, []);
});

t.test('a store or a look that fails is only a delay', async (t) => {
  const world = await EngineWorld.open(t);
  let failures = 2;
  const read = {
    ...world.store.read,
    allRelayers: () =>
      failures-- > 0 ? Promise.reject(new Error('the database is away')) : world.store.read.allRelayers(),
  };
  let looks = 0;
  const { rounds, world: other } = await stage(t, [], {
    store: { ...world.store, read },
    checks: {
      seemWell: async () => {
        looks += 1;
        if (looks === 1) throw new Error('the database is away');
        return true;
      },
    },
  });
  rounds.start();
  await world.until('it goes on', async () => looks > 2);
  t.equal(other.logLines.filter((line) => /relayer round failed/.test(line)).length, 2);
  t.equal(other.logLines.filter((line) => /relayer check failed/.test(line)).length, 1);
});

t.test('without relayers nothing happens, and an end before the start is an end', async (t) => {
  const world = await EngineWorld.open(t);
  await world.store.write((writer) => writer.deleteRelayer('r1'));
  let rounds = 0;
  const read = {
    ...world.store.read,
    allRelayers: () => {
      rounds += 1;
      return world.store.read.allRelayers();
    },
  };
  const empty = await stage(t, [], { store: { ...world.store, read } });
  empty.rounds.start();
  await world.until('a second round', async () => rounds > 1);
  await empty.rounds.close();
  t.strictSame(empty.looked, []);
  const never = await stage(t, []);
  await never.rounds.close();
  never.rounds.start();
  await never.rounds.close();
  t.strictSame(never.looked, []);
});
