/**
 * Threat: a driver thread ends, in order or not, and leaves a child behind that loops for ever. The thread is the
 * service's own, started by its pool.
 */
import { once } from 'node:events';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { descendantsOf, survivors } from '../../../test/support/processes.ts';
import type { ChildNews } from '../../host/child/child-supervisor.ts';
import type { ChildOrder } from '../../host/child/children.ts';
import { nativeAddon } from '../../host/compiler/child-program.ts';
import { createDriverPool } from '../../host/driver-pool.ts';
import { PROTOCOL_VERSION } from '../../protocol.ts';
import { contextText, guestRuntime, plugin, SANDBOX_DIR, sandboxProgram } from '../support/sandbox.ts';

const GONE_WITHIN_MS = 5000;
const SPINNING = plugin("await context.kv.get('x'); for (;;);", { limits: { slice_ms: 60_000, cpu_ms: 60_000 } });
const runtime = await guestRuntime();
const program = await sandboxProgram();

/** A pool of one thread, and a way to wait for its messages. */
async function openPool(t: Test) {
  const messages: ChildNews[] = [];
  const waiting: (() => void)[] = [];
  const pool = await createDriverPool(
    {
      filename: path.join(SANDBOX_DIR, 'driver', 'driver.ts'),
      data: { protocol: PROTOCOL_VERSION, program, addon: nativeAddon() },
      runtime,
      mostThreads: 1,
      log: { warn() {}, error() {} },
    },
    {
      threadReady: () => undefined,
      threadLost: () => undefined,
      news: (_thread, message) => {
        messages.push(message);
        for (const wake of waiting.splice(0)) wake();
      },
    },
  );
  t.teardown(() => pool.close());
  const [thread = 0] = pool.threads();
  const post = (message: ChildOrder): void => pool.post(thread, message);
  const message = async (type: ChildNews['type'], child = 1): Promise<ChildNews> => {
    for (;;) {
      const found = messages.find((one) => one.type === type && one.child === child);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  const run = (call: number) =>
    pool.run(thread, { child: 1, call, version: 'v1', context: contextText({ call }), timeout_ms: 60_000 });
  return { pool, post, message, run };
}

t.test('a call goes through a thread and back', async (t) => {
  const { post, message, run } = await openPool(t);
  post({ type: 'open', child: 1 });
  post({ type: 'load', child: 1, version: plugin("return [context.params.call, await context.kv.get('x')];") });
  t.match(await message('loaded'), { child: 1, message: { failure: null } });
  const report = run(8);
  t.match(await message('request'), { child: 1, call: 8, message: { method: 'kv.get' } });
  post({ type: 'reply', child: 1, call: 8, message: { id: 1, reply: { ok: true, value: '"y"' } } });
  t.match(await report, { outcome: { kind: 'returned', json: '[8,"y"]' }, lost: false });
  post({ type: 'close', child: 1, reason: 'enough' });
  t.match(await message('closed'), { cause: 'closed', detail: 'enough' });
});

t.test('the end of a thread ends its spinning child', async (t) => {
  const { pool, post, message, run } = await openPool(t);
  post({ type: 'open', child: 1 });
  post({ type: 'load', child: 1, version: SPINNING });
  const loaded = await message('loaded');
  const spawned = await message('spawned');
  t.equal(loaded.type, 'loaded');
  run(1).catch(() => undefined);
  await message('request');
  post({ type: 'reply', child: 1, call: 1, message: { id: 1, reply: { ok: true, value: null } } });
  const children = await descendantsOf(process.pid);
  t.ok(children.length > 0, 'there is a child');
  await pool.close();
  const confined = spawned.type === 'spawned' && spawned.confinement.pdeathsig;
  // If no signal reaches children at their parent's death, the host kills them by process id.
  if (confined) t.same(await survivors(children, GONE_WITHIN_MS), []);
});

t.test('a thread does not start with a host of another protocol, nor outside of a thread', async (t) => {
  const driver = path.join(SANDBOX_DIR, 'driver', 'driver.ts');
  const workerData = { protocol: PROTOCOL_VERSION + 1, runtime, program, addon: nativeAddon() };
  const [error] = (await once(new Worker(driver, { workerData }), 'error').catch((thrown: unknown) => [thrown])) as [
    Error,
  ];
  t.match(error.message, /the host speaks protocol/);
  await t.rejects(import(driver), /entry of a worker thread/);
});
