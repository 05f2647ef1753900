import t, { type Test } from 'tap';
import { createLog } from '../../../../../src/observability/log.ts';
import type { Hint } from '../../../../../src/store/instances.ts';
import { PostgresHints } from '../../../../../src/store/postgres/postgres-hints.ts';
import { startPostgres } from '../../../../support/postgres.ts';
import { PostgresPool } from '../../../../support/postgres-pool.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

/** One instance: its hints, what it heard, and its log lines. */
async function instanceFor(t: Test, url: string, instance: string) {
  const pool = new PostgresPool({ connectionString: url });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const lines: string[] = [];
  const hints = new PostgresHints({ pool, instance, log: createLog('debug', { write: (line) => lines.push(line) }) });
  const heard: (Hint | 'missed')[] = [];
  const stop = hints.listen((hint) => heard.push(hint));
  hints.start();
  hints.start();
  t.teardown(async () => {
    await hints.close();
    await pool.end();
  });
  await until('it listens', () => heard.length > 0);
  return { hints, heard, stop, lines, pool };
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const end = Date.now() + 20_000;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`not within 20 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

t.test('others hear each hint once; who sent it does not', async (t) => {
  const url = await postgres.createDatabase();
  const [one, two] = [await instanceFor(t, url, 'one'), await instanceFor(t, url, 'two')];
  const hints: Hint[] = Array.from({ length: 130 }, (_, index) => ({ topic: 'transaction', id: `t${index}` }));
  hints.push({ topic: 'lane', id: 'evm:1:0xaa' }, { topic: 'relayer', id: 'r1' });
  for (const hint of [...hints, ...hints]) one.hints.send(hint);
  await until('all are heard', () => two.heard.length > hints.length);
  t.strictSame(two.heard, ['missed', ...hints]);
  t.strictSame(one.heard, ['missed']);

  two.stop();
  two.stop();
  one.hints.send({ topic: 'lane', id: 'later' });
  await one.hints.close();
  t.equal(two.heard.length, hints.length + 1);
});

t.test('a listener that fails disturbs neither the others nor the connection', async (t) => {
  const url = await postgres.createDatabase();
  const [one, two] = [await instanceFor(t, url, 'one'), await instanceFor(t, url, 'two')];
  const heard: unknown[] = [];
  two.hints.listen(() => {
    throw new Error('broken');
  });
  two.hints.listen((hint) => heard.push(hint));
  one.hints.send({ topic: 'lane', id: 'a' });
  await until('the other listener hears', () => heard.length === 1);
  t.match(two.lines.join(''), /a listener for hints failed/);
});

t.test('what is no hint is passed over', async (t) => {
  const url = await postgres.createDatabase();
  const [one, two] = [await instanceFor(t, url, 'one'), await instanceFor(t, url, 'two')];
  for (const payload of ['', 'no JSON', '{"from":"x"}', '{"from":"x","hints":[["wrong","id"]]}']) {
    await one.pool.query('select pg_notify($1, $2)', ['isolayer', payload]);
  }
  one.hints.send({ topic: 'lane', id: 'good' });
  await until('the good one is heard', () => two.heard.length === 2);
  t.strictSame(two.heard[1], { topic: 'lane', id: 'good' });
  t.equal(two.lines.filter((line) => /cannot be read/.test(line)).length, 4);
});

t.test('a lost connection is made anew, and what may have been missed is told', async (t) => {
  const url = await postgres.createDatabase();
  const { heard, hints, lines } = await instanceFor(t, url, 'one');
  await postgres.cutConnections(url);
  await until('it listens again', () => heard.length === 2);
  t.strictSame(heard, ['missed', 'missed']);

  await postgres.crash();
  hints.send({ topic: 'lane', id: 'lost' });
  await until('it is said', () => lines.some((line) => /notices to other instances were lost/.test(line)));
  await until('it is noticed', () => lines.some((line) => /no notices come from other instances/.test(line)));
  await postgres.restart();
  await until('it listens once more', () => heard.length === 3);
});

t.test('closed before it could connect, and closed twice', async (t) => {
  const pool = new PostgresPool({ connectionString: 'postgres://nobody@127.0.0.1:1/none' });
  t.teardown(() => pool.end());
  const hints = new PostgresHints({ pool, instance: 'one', log: createLog('silent') });
  hints.start();
  await Promise.all([hints.close(), hints.close()]);
  t.equal(pool.totalCount, 0);
});

t.test('closing sends what was gathered', async (t) => {
  const url = await postgres.createDatabase();
  const two = await instanceFor(t, url, 'two');
  const pool = new PostgresPool({ connectionString: url });
  const hints = new PostgresHints({ pool, instance: 'one', log: createLog('silent') });
  hints.send({ topic: 'lane', id: 'last words' });
  await hints.close();
  await pool.end();
  await until('they are heard', () => two.heard.length === 2);
  t.match(JSON.stringify(two.heard), 'last words');
});
