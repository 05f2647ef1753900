import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { eventually } from '../../../../test/support/eventually.ts';
import { createDriverPool } from '../../../host/driver-pool.ts';
import { type DriverMessage, PROTOCOL_VERSION } from '../../../protocol.ts';

const FAKE_DRIVER = new URL('../../support/fake-driver.ts', import.meta.url);

/** Starts a pool with this many threads, all ready. */
async function startPool(mostThreads: number, filename = fileURLToPath(FAKE_DRIVER)) {
  const heard: [number, DriverMessage][] = [];
  const ready: number[] = [];
  const lost: number[] = [];
  const pool = await createDriverPool(
    {
      filename,
      data: { protocol: PROTOCOL_VERSION, runtime: '', program: '', addon: '' },
      mostThreads,
      log: { warn() {}, error() {} },
    },
    {
      threadReady: (thread) => ready.push(thread),
      message: (thread, message) => heard.push([thread, message]),
      threadLost: (thread) => lost.push(thread),
    },
  );
  for (let count = 1; count < mostThreads; count += 1) {
    pool.grow();
    await eventually(
      () => pool.threads().length,
      (there) => there > count,
    );
  }
  return { pool, heard, ready, lost };
}

let calls = 0;
const task = (params: object) => ({
  child: 1,
  call: ++calls,
  version: 'v',
  context: JSON.stringify({ params }),
  timeout_ms: 1000,
});

t.test('it grows as it is asked to, and each message and call goes to its thread', async (t) => {
  const { pool, heard, ready } = await startPool(2);
  t.teardown(() => pool.close());
  pool.grow();
  t.equal(pool.threads().length, 2);
  t.same(ready, pool.threads());
  for (const thread of pool.threads()) {
    pool.post(thread, { type: 'open', child: thread });
    await eventually(
      () => heard,
      (all) => all.some(([from, { type }]) => from === thread && type === 'ready'),
    );
    t.match(heard.at(-1), [thread, { type: 'ready', child: thread }]);
  }
  const [, second = 0] = pool.threads();
  t.match(await pool.run(second, task({ kill: true })), { lost: false });
  t.match(
    await eventually(
      () => heard.at(-1),
      (last) => last?.[1].type === 'closed',
    ),
    [second, { culprit: 1 }],
  );
  pool.post(4711, { type: 'open', child: 1 });
});

t.test('calls of one thread run side by side', async (t) => {
  const { pool } = await startPool(1);
  t.teardown(() => pool.close());
  const [thread = 0] = pool.threads();
  const endless = pool.run(thread, task({ ask: 'kv.get' }));
  t.match(await pool.run(thread, task({})), { outcome: { kind: 'returned' } });
  endless.catch(() => undefined);
});

t.test('a thread that dies takes its calls along, is told, and is replaced', async (t) => {
  const { pool, ready, lost } = await startPool(2);
  t.teardown(() => pool.close());
  const [first = 0, second = 0] = pool.threads();
  const other = pool.run(second, task({}));
  await t.rejects(pool.run(first, task({ exit: true })));
  await other;
  await eventually(
    () => ready,
    (all) => all.length === 3,
  );
  t.same(lost, [first]);
  t.equal(pool.threads().length, 2);
  t.notOk(pool.threads().includes(first));
});

t.test('a thread that cannot be started is tried again until it can', async (t) => {
  const folder = t.testdir({
    'driver.mjs': `
      import { appendFileSync, existsSync } from 'node:fs';
      const tries = new URL('tries', import.meta.url);
      if (existsSync(tries)) {
        appendFileSync(tries, 'x');
        throw new Error('not now');
      }
      await import(${JSON.stringify(FAKE_DRIVER.href)});
      export function task() {}`,
  });
  const { pool, ready, lost } = await startPool(2, path.join(folder, 'driver.mjs'));
  t.teardown(() => pool.close());
  const tries = path.join(folder, 'tries');
  writeFileSync(tries, '');
  const [first = 0, second = 0] = pool.threads();
  await t.rejects(pool.run(first, task({ exit: true })));
  await eventually(
    () => readFileSync(tries).length,
    (times) => times >= 3,
  );
  t.match(await pool.run(second, task({})), { outcome: { kind: 'returned' } }, 'the other one works on');
  await t.rejects(pool.run(second, task({ exit: true })));
  t.same([pool.threads(), lost], [[], [first, second]]);
  rmSync(tries);
  await eventually(
    () => ready,
    (all) => all.length === 4,
  );
  t.equal(pool.threads().length, 2);
});

t.test('closing twice is closing once', async (t) => {
  const { pool, lost } = await startPool(1);
  await Promise.all([pool.close(), pool.close()]);
  t.same([pool.threads(), lost], [[], []]);
});
