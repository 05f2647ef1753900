import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { eventually } from '../../../../test/support/eventually.ts';
import type { ChildNews } from '../../../host/child/child-supervisor.ts';
import { createDriverPool } from '../../../host/driver-pool.ts';
import { PROTOCOL_VERSION } from '../../../protocol.ts';
import { version } from '../../support/sandbox.ts';

const FAKE_DRIVER = new URL('../../support/fake-driver.ts', import.meta.url);

/** Starts a pool with this many threads, all ready. */
async function startPool(mostThreads: number, filename = fileURLToPath(FAKE_DRIVER)) {
  const heard: [number, ChildNews][] = [];
  const ready: number[] = [];
  const lost: number[] = [];
  const pool = await createDriverPool(
    {
      filename,
      data: { protocol: PROTOCOL_VERSION, program: '', addon: '' },
      runtime: '',
      mostThreads,
      log: { warn() {}, error() {} },
    },
    {
      threadReady: (thread) => ready.push(thread),
      news: (thread, message) => heard.push([thread, message]),
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
const task = (params: object, child = 1) => ({
  child,
  call: ++calls,
  version: 'v',
  context: JSON.stringify({ params }),
  timeout_ms: 1000,
});

/** Opens a child in this thread, and has it load the version of the tasks. */
async function serving({ pool, heard }: Awaited<ReturnType<typeof startPool>>, thread: number, child = 1) {
  pool.post(thread, { type: 'open', child });
  pool.post(thread, { type: 'load', child, version: version('', { version: 'v' }) });
  await eventually(
    () => heard,
    (all) => all.some(([from, news]) => from === thread && news.type === 'loaded' && news.child === child),
  );
}

t.test('it grows as it is asked to, and each order and call goes to its thread', async (t) => {
  const started = await startPool(2);
  const { pool, heard, ready } = started;
  t.teardown(() => pool.close());
  pool.grow();
  t.equal(pool.threads().length, 2);
  t.same(ready, pool.threads());
  for (const thread of pool.threads()) await serving(started, thread, thread);
  const [, second = 0] = pool.threads();
  t.match(await pool.run(second, task({}, second)), { outcome: { kind: 'returned' } });
  const lost = task({ kill: true }, second);
  t.match(await pool.run(second, lost), { lost: false }, 'it was its own doing');
  t.match(
    await eventually(
      () => heard.find(([, { type }]) => type === 'closed'),
      (found) => found !== undefined,
    ),
    [second, { child: second, culprit: lost.call, stderr: 'last words' }],
  );
  pool.post(4711, { type: 'open', child: 1 });
  t.match(await pool.run(4711, task({})), { lost: true });
});

t.test('calls of one child run side by side', async (t) => {
  const started = await startPool(1);
  const { pool } = started;
  t.teardown(() => pool.close());
  const [thread = 0] = pool.threads();
  await serving(started, thread);
  const endless = pool.run(thread, task({ ask: 'kv.get' }));
  t.match(await pool.run(thread, task({})), { outcome: { kind: 'returned' } });
  endless.catch(() => undefined);
});

t.test('a thread that dies takes its calls along, is told, and is replaced', async (t) => {
  const started = await startPool(2);
  const { pool, ready, lost } = started;
  t.teardown(() => pool.close());
  const [first = 0, second = 0] = pool.threads();
  await serving(started, first);
  await serving(started, second, 2);
  const other = pool.run(second, task({}, 2));
  t.match(await pool.run(first, task({ exit: true })), { lost: true });
  t.match(await other, { outcome: { kind: 'returned' } });
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
  const started = await startPool(2, path.join(folder, 'driver.mjs'));
  const { pool, ready, lost } = started;
  t.teardown(() => pool.close());
  const tries = path.join(folder, 'tries');
  writeFileSync(tries, '');
  const [first = 0, second = 0] = pool.threads();
  await serving(started, first);
  await serving(started, second, 2);
  await pool.run(first, task({ exit: true }));
  await eventually(
    () => readFileSync(tries).length,
    (times) => times >= 3,
  );
  t.match(await pool.run(second, task({}, 2)), { outcome: { kind: 'returned' } }, 'the other one works on');
  await pool.run(second, task({ exit: true }, 2));
  await eventually(
    () => lost,
    (threads) => threads.length === 2,
  );
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
