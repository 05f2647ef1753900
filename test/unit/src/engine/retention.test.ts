import t, { type Test } from 'tap';
import { Retention, type RetentionTiming, retentionTiming } from '../../../../src/engine/retention.ts';
import type { Store, StoreWriter } from '../../../../src/store/store.ts';
import { EngineWorld } from '../../../support/engine-world.ts';
import { keyedEffect } from '../../../support/keyed-effect.ts';

const HOUR = 3_600_000;
const hasty: RetentionTiming = { everyMs: 5, batch: 2, restMs: 1 };

function retentionOf(
  t: Test,
  world: EngineWorld,
  store: Store = world.store,
  { keepMs = 0, elapsed = () => performance.now() } = {},
): Retention {
  const retention = new Retention({
    store,
    keepMs,
    keepAuditMs: 1_000,
    keepCallsMs: 1_000,
    elapsed,
    log: world.log,
    timing: hasty,
  });
  t.teardown(() => retention.close());
  return retention;
}

async function confirmed(world: EngineWorld, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const transaction = await world.accept(`pay ${index}`);
    await world.store.write(async (writer) => {
      await writer.updateTransaction(transaction.id, 'pending', { status: 'failed' });
    });
  }
}

const totalOf = async ({ store }: EngineWorld) => (await store.read.transactions('r1', { page: 1, perPage: 1 })).total;

t.test('its pace follows the age, within bounds', async (t) => {
  t.equal(retentionTiming(4 * HOUR).everyMs, 600_000);
  t.equal(retentionTiming(HOUR / 10).everyMs, 36_000);
  t.equal(retentionTiming(1).everyMs, 1_000);
});

t.test('what ended long ago goes batch by batch, what is open stays', async (t) => {
  const world = await EngineWorld.open(t);
  await confirmed(world, 5);
  const open = await world.accept('open');
  await world.store.write(async (writer) => {
    await writer.kvSet('plugin', 'short', '1', { forMs: -1 });
    await writer.kvSet('plugin', 'long', '1');
  });
  let batches = 0;
  const writeUnder: Store['writeUnder'] = (lease, body) => {
    batches += 1;
    return world.store.writeUnder(lease, body);
  };
  const retention = retentionOf(t, world, { ...world.store, writeUnder });
  retention.start();
  retention.start();
  await world.until('all that ended are gone', async () => (await totalOf(world)) === 1);
  await world.until('it says so', async () => /ended records were deleted/.test(world.logLines.join('')));
  await retention.close();
  await retention.close();
  t.ok(batches >= 3);
  t.match(world.logLines.join(''), /"transactions":5,"events":0,"values":1/);
  t.equal((await world.get(open)).status, 'pending');
  t.equal(await world.store.read.kvGet('plugin', 'long'), '1');
});

t.test('what ended lately stays', async (t) => {
  const world = await EngineWorld.open(t);
  await confirmed(world, 1);
  let rounds = 0;
  const writeUnder: Store['writeUnder'] = (lease, body) => {
    rounds += 1;
    return world.store.writeUnder(lease, body);
  };
  retentionOf(t, world, { ...world.store, writeUnder }, { keepMs: HOUR }).start();
  await world.until('it has looked twice', async () => rounds > 6);
  t.equal(await totalOf(world), 1);
});

t.test('not while another instance does it', async (t) => {
  const world = await EngineWorld.open(t);
  await confirmed(world, 1);
  let asked = 0;
  const leases = {
    ...world.store.leases,
    lastsMs: 1_000,
    acquire: async () => {
      asked += 1;
      return { kind: 'elsewhere' as const, forMs: 1 };
    },
    renew: async () => [],
    release: async () => {},
  };
  const retention = retentionOf(t, world, { ...world.store, leases });
  retention.start();
  await world.until('it has asked twice', async () => asked > 2);
  await retention.close();
  t.equal(await totalOf(world), 1);
});

t.test('a store that fails is tried again later; a batch under way ends before the end', async (t) => {
  const world = await EngineWorld.open(t);
  await confirmed(world, 3);
  let failures = 2;
  const writeUnder: Store['writeUnder'] = <T>(
    lease: Parameters<Store['writeUnder']>[0],
    body: (writer: StoreWriter) => Promise<T>,
  ) => (failures-- > 0 ? Promise.reject(new Error('disk full')) : world.store.writeUnder(lease, body));
  const retention = retentionOf(t, world, { ...world.store, writeUnder });
  retention.start();
  await world.until('all are gone', async () => (await totalOf(world)) === 0);
  await retention.close();
  t.match(world.logLines.join(''), /pruning failed/);

  const never = retentionOf(t, world);
  await never.close();
  never.start();
  t.pass('an ended one does not begin');
});

t.test('an idempotency key goes when its day is over, and only then the transaction that it names', async (t) => {
  const world = await EngineWorld.open(t);
  const effect = await keyedEffect(world.store);
  const { id } = await world.services().transactions.send('r1', { effect: 'pay' }, { effect });
  await world.store.write(async (writer) => {
    await writer.updateTransaction(String(id), 'pending', { status: 'failed' });
    await writer.leaveKey(effect.claim);
  });
  const claim = () =>
    world.store.write((writer) =>
      writer.claimKey(
        { scope: 's', key: 'k', fingerprint: 'f' },
        { id: crypto.randomUUID(), owner: 'o', forMs: 0, isAlone: false },
      ),
    );
  const first = await claim();
  let ahead = 0;
  let rounds = 0;
  const now = async () => {
    rounds += 1;
    return (await world.store.now()) + ahead;
  };
  ahead = 23 * HOUR;
  retentionOf(
    t,
    world,
    { ...world.store, now },
    { keepMs: 4 * HOUR, elapsed: () => performance.now() + ahead },
  ).start();
  await world.until('it has looked twice', async () => rounds > 2);
  t.match(await claim(), { kind: 'claimed', claim: { token: 2 } }, 'a young one stays');
  t.equal(await totalOf(world), 1, 'as does what it names, though it ended long ago');
  ahead = 24 * HOUR + 1000;
  await world.until('it says so', async () => /"transactions":1.*"keys":2/.test(world.logLines.join('')));
  t.equal(await totalOf(world), 0);
  const again = await claim();
  t.match(again, { kind: 'claimed', claim: { token: 1 } });
  t.notSame(again, first);
});

t.test('a clock that goes far ahead makes nothing old, unless it stays there for a day', async (t) => {
  const world = await EngineWorld.open(t);
  await confirmed(world, 1);
  await world.store.write((writer) => writer.kvSet('plugin', 'short', '1', { forMs: -1 }));
  let [passed, rounds] = [0, 0];
  const now = async () => {
    rounds += 1;
    return (await world.store.now()) + passed + (rounds === 1 ? 0 : 9 * HOUR);
  };
  const elapsed = () => performance.now() + passed;
  retentionOf(t, world, { ...world.store, now }, { keepMs: HOUR, elapsed }).start();
  await world.until('it has looked twice', async () => rounds > 3);
  t.equal(await totalOf(world), 1);
  t.notMatch(world.logLines.join(''), /were deleted/, 'nor is a value of a plugin');
  passed = 24 * HOUR;
  await world.until('all are gone', async () => /"transactions":1.*"values":1/.test(world.logLines.join('')));
});
