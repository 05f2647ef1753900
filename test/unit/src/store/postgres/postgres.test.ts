import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import t, { type Test } from 'tap';
import { createLog } from '../../../../../src/observability/log.ts';
import { migrations } from '../../../../../src/store/migrations/migrations.ts';
import { openPostgresStore, PostgresSockets } from '../../../../../src/store/postgres/postgres.ts';
import { createSealer } from '../../../../../src/store/sealing.ts';
import type { Store } from '../../../../../src/store/store.ts';
import { startPostgres } from '../../../../support/postgres.ts';
import { startSilentDatabase } from '../../../../support/silent-database.ts';
import { relayerOf, transactionOf } from '../../../../support/store.ts';
import { leaseOf } from '../../../../support/store-contract/leases.ts';

const log = createLog('silent');
const postgres = await startPostgres();
t.teardown(() => postgres.stop());

t.test('instances that start together on an empty database make it once and share it', async (t) => {
  const url = await postgres.createDatabase();
  const stores = await Promise.all([1, 2, 3].map(() => openPostgresStore({ url, log })));
  t.teardown(() => Promise.all(stores.map((store) => store.close())));
  const [one, two, three] = stores;
  await one?.write((writer) => writer.putRelayer(relayerOf()));
  t.strictSame(await two?.read.relayer('relayer-1'), relayerOf());

  const countUp = (store: Store) =>
    store.write(async (writer) => {
      const count = Number((await writer.kvGet('plugin', 'count')) ?? 0);
      await writer.kvSet('plugin', 'count', String(count + 1));
    });
  await Promise.all(Array.from({ length: 10 }, () => stores.map(countUp)).flat());
  t.equal(await three?.read.kvGet('plugin', 'count'), '30', 'no update is lost between instances');
});

t.test('cut connections are refused as such at worst, and replaced', async (t) => {
  const url = await postgres.createDatabase();
  const store = await openPostgresStore({ url, log });
  t.teardown(() => store.close());
  await store.write((writer) => writer.putRelayer(relayerOf()));

  const during = store.write(async (writer) => {
    await writer.insertTransaction(transactionOf({ id: 'lost' }));
    await postgres.cutConnections(url);
    await writer.insertTransaction(transactionOf({ id: 'never' }));
  });
  await t.rejects(during, { code: 'UNAVAILABLE', message: 'The database does not answer' });

  const read = async () => store.read.relayer('relayer-1');
  await t.resolves(read().catch(read));
  await store.write((writer) => writer.insertTransaction(transactionOf({ id: 'later' })));
  t.equal(await store.read.transaction('relayer-1', 'lost'), undefined);
  t.ok(await store.read.transaction('relayer-1', 'later'));
});

t.test('a body that sleeps on its transaction loses it', async (t) => {
  const url = await postgres.createDatabase();
  const store = await openPostgresStore({ url, log, idleInTransactionMs: 100 });
  t.teardown(() => store.close());
  await t.rejects(
    store.write(async (writer) => {
      await writer.putRelayer(relayerOf());
      await delay(2000);
      await writer.putRelayer(relayerOf({ id: 'late' }));
    }),
    { code: 'UNAVAILABLE' },
  );
  t.strictSame(await store.read.allRelayers(), []);
});

t.test('a newer database and another key are refused', async (t) => {
  const url = await postgres.createDatabase();
  const sealed = (key: Uint8Array) => openPostgresStore({ url, log, sealer: createSealer([key], randomBytes) });
  const key = randomBytes(32);
  await (await sealed(key)).close();
  await t.rejects(sealed(randomBytes(32)), { message: /STORAGE_ENCRYPTION_KEY/ });
  await (await sealed(key)).close();

  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`insert into migrations values (${migrations.length + 1}, 'from the future', 0)`);
  await client.end();
  await t.rejects(openPostgresStore({ url, log }), { message: /newer version/ });
});

t.test('a server that is away stops the start with its reason', async (t) => {
  await t.rejects(openPostgresStore({ url: 'postgres://someone:hunter2@127.0.0.1:1/none', log }), {
    message: /^The database does not answer: .*ECONNREFUSED/,
  });
});

t.test('a server that starts later than the service is waited for, but not for ever', async (t) => {
  const url = await postgres.createDatabase();
  await postgres.crash();
  const lines: string[] = [];
  const told = createLog('info', { write: (line) => void lines.push(line) });
  const opening = openPostgresStore({ url, log: told, patienceMs: 20_000 });
  const began = performance.now();
  await t.rejects(openPostgresStore({ url, log, patienceMs: 300 }), { message: /^The database does not answer: / });
  t.ok(performance.now() - began < 10_000);
  await postgres.restart();
  const store = await opening;
  t.teardown(() => store.close());
  t.match(
    lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg.includes('answer')),
    [
      { level: 'warn', reason: /connect/, msg: 'the database does not answer yet; it is waited for' },
      { level: 'info', msg: 'the database answers' },
    ],
    'one line, however often it was tried',
  );
  t.strictSame(await store.read.allRelayers(), []);

  const refused = openPostgresStore({ url: url.replace(/t_\w+/, 'nowhere'), log, patienceMs: 60_000 });
  await t.rejects(refused, { message: /"nowhere" does not exist/ }, 'what it refuses is refused at once');
});

t.test('an opening ends when it is cut, whatever it waits for', async (t) => {
  const silent = await startSilentDatabase();
  t.teardown(() => silent.stop());
  const connecting = new AbortController();
  const opening = openPostgresStore({ url: silent.url, log, patienceMs: 600_000, cut: connecting.signal });
  await silent.connected(1);
  connecting.abort(new Error('enough'));
  await t.rejects(opening, { message: 'enough' });

  // Cut during the pause between two attempts.
  const pausing = new AbortController();
  const tried = Promise.withResolvers<void>();
  const telling = createLog('warn', { write: () => tried.resolve() });
  const url = 'postgres://someone@127.0.0.1:1/none';
  const refused = openPostgresStore({ url, log: telling, patienceMs: 600_000, cut: pausing.signal });
  await tried.promise;
  pausing.abort(new Error('no more'));
  await t.rejects(refused, { message: 'no more' });

  // Cut while it waits for the lock that the first of several instances takes.
  const waiting = new AbortController();
  const database = await postgres.createDatabase();
  const other = new pg.Client({ connectionString: database });
  await other.connect();
  t.teardown(() => other.end());
  await other.query('select pg_advisory_lock(4716903)');
  const locked = openPostgresStore({ url: database, log, cut: waiting.signal });
  const waits = `select 1 from pg_locks where locktype = 'advisory' and not granted`;
  while ((await other.query(waits)).rowCount === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  t.teardown(() => postgres.thaw());
  await postgres.freeze();
  waiting.abort(new Error('no longer'));
  await t.rejects(locked, { message: /no longer|does not answer/ });
  postgres.thaw();
});

t.test(
  'when a store is cut, whoever waits is told that the database does not answer, and closing waits for nobody',
  async (t) => {
    const cut = new AbortController();
    const store = await openPostgresStore({ url: await postgres.createDatabase(), log, cut: cut.signal });
    t.teardown(() => postgres.thaw());
    await postgres.freeze();
    const asked = [store.now(), store.read.allRelayers(), store.write((writer) => writer.putRelayer(relayerOf()))];
    const closed = store.close();
    cut.abort();
    for (const answer of await Promise.allSettled(asked)) {
      t.match(answer, { status: 'rejected', reason: { code: 'UNAVAILABLE', message: 'The database does not answer' } });
    }
    await closed;
  },
);

t.test('a lease must outlast a body that sleeps', async (t) => {
  const url = await postgres.createDatabase();
  await t.rejects(openPostgresStore({ url, log, leaseMs: 100, idleInTransactionMs: 100 }), { message: /must outlast/ });
});

t.test('leases and hints of a server that is away', async (t) => {
  const store = await openPostgresStore({ url: await postgres.createDatabase(), log });
  t.teardown(() => store.close());
  const lease = await leaseOf(store, 'lane');
  await postgres.crash();
  t.teardown(() => postgres.restart());
  store.hints.send({ topic: 'lane', id: 'lane' });
  const away = { code: 'UNAVAILABLE', message: 'The database does not answer' };
  await t.rejects(store.leases.renew([lease]), away);
  await t.rejects(store.leases.acquire('other'), away);
  await t.rejects(
    store.writeUnder(lease, async () => 1),
    away,
  );
});

t.test('the clock is the database’s', async (t) => {
  const store = await openPostgresStore({ url: await postgres.createDatabase(), log });
  const [first, second] = [await store.now(), await store.now()];
  t.ok(Number.isSafeInteger(first) && second >= first && Math.abs(first - Date.now()) < 60_000);
  await store.close();
});

/** Threat: a client waits forever for a database server that neither answers nor closes the connection. */
t.test('postgres sockets', async (t) => {
  const postgres = await startPostgres();
  t.teardown(() => postgres.stop());

  function poolOn(t: Test, connectionString: string) {
    const cut = new AbortController();
    const lines: string[] = [];
    const log = createLog('warn', { write: (line) => void lines.push(line) });
    const sockets = new PostgresSockets(cut.signal, log);
    const pool = new pg.Pool({ connectionString, stream: sockets.make, max: 3 });
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
    return { pool, lines, cut: () => cut.abort() };
  }

  t.test(
    'a query under way, one that waits for its turn, and each that follows fail at once when all is cut',
    async (t) => {
      const { pool, cut, lines } = poolOn(t, await postgres.createDatabase());
      t.equal((await pool.query('select 1 as one')).rows[0].one, 1);
      t.teardown(() => postgres.thaw());
      await postgres.freeze();
      const asked = [1, 2, 3, 4, 5].map(() => pool.query('select 1'));
      cut();
      for (const answer of await Promise.allSettled(asked)) {
        t.match(answer, { status: 'rejected', reason: { message: /^Connection terminated/ } });
      }
      await t.rejects(pool.query('select 1'), { message: /^Connection terminated/ });
      await pool.end();
      t.equal(lines.length, 1, 'and it is said');
      t.match(lines[0], /its connections are closed/);
    },
  );

  t.test('connections that do nothing end without the server', async (t) => {
    const { pool, cut } = poolOn(t, await postgres.createDatabase());
    await Promise.all([1, 2, 3].map(() => pool.query('select pg_sleep(0.01)')));
    t.teardown(() => postgres.thaw());
    await postgres.freeze();
    let removed = 0;
    const all = Promise.withResolvers<void>();
    pool.on('remove', () => {
      removed += 1;
      if (removed === 3) all.resolve();
    });
    await pool.end();
    t.equal(removed, 0, 'they wait for its farewell');
    cut();
    await all.promise;
  });

  t.test('a connection that is not made yet is given up', async (t) => {
    const silent = await startSilentDatabase();
    t.teardown(() => silent.stop());
    const { pool, cut } = poolOn(t, silent.url);
    const asked = pool.query('select 1');
    await Promise.all([
      silent.connected(1),
      t.rejects(asked, { message: /^Connection terminated/ }),
      silent.connected(1).then(cut),
    ]);
    await pool.end();
  });

  t.test('where nothing is open there is nothing to say', async (t) => {
    const { pool, cut, lines } = poolOn(t, await postgres.createDatabase());
    await pool.query('select 1');
    await Promise.all([once(pool, 'remove'), pool.end()]);
    cut();
    t.strictSame(lines, []);
  });
});

t.test('nothing runs after a statement that failed, also if the body goes on, and nothing is kept', async (t) => {
  const store = await openPostgresStore({ url: await postgres.createDatabase(), log: createLog('silent') });
  t.teardown(() => store.close());
  await store.write((writer) => writer.putRelayer(relayerOf()));
  const [before, behind] = [transactionOf(), transactionOf()];
  const refused = store.write(async (writer) => {
    await writer.insertTransaction(before);
    await writer.insertTransaction(transactionOf({ hash: '\0' })).catch(() => {});
    await writer.insertTransaction(behind);
  });
  await t.rejects(refused, /invalid byte sequence/);
  for (const { id } of [before, behind]) t.equal(await store.read.transaction('relayer-1', id), undefined);

  // The reads behind a wrong one, in the same message, are answered.
  const answers = await Promise.allSettled([
    store.read.transaction('relayer-1', '\0'),
    store.read.relayer('relayer-1'),
    store.read.pendingCount('relayer-1'),
  ]);
  t.strictSame(
    answers.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  );
});
