/** Threat: a client waits forever for a database server that neither answers nor closes the connection. */
import { once } from 'node:events';
import pg from 'pg';
import t, { type Test } from 'tap';
import { createLog } from '../../../../../src/observability/log.ts';
import { PostgresSockets } from '../../../../../src/store/postgres/postgres-sockets.ts';
import { startPostgres } from '../../../../support/postgres.ts';
import { startSilentDatabase } from '../../../../support/silent-database.ts';

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
    t.match(lines[0], /its connections are cut/);
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
