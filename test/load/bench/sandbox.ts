/**
 * `node test/load/bench/sandbox.ts` measures the sandbox alone, without HTTP: calls per second through one child, directly and
 * of a pool of driver threads, and the latency of a call in a reused isolate and in a new one.
 */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallReport } from '../../../sandbox/contract.ts';
import type { ChildNews } from '../../../sandbox/host/child/child-supervisor.ts';
import { nativeAddon } from '../../../sandbox/host/compiler/child-program.ts';
import { createDriverPool } from '../../../sandbox/host/driver-pool.ts';
import { PROTOCOL_VERSION } from '../../../sandbox/protocol.ts';
import {
  contextText,
  guestRuntime,
  plugin,
  SANDBOX_DIR,
  sandboxProgram,
  TestSandbox,
} from '../../../sandbox/test/support/sandbox.ts';
import { createLog } from '../../../src/observability/log.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const DEPTHS = [1, 32, 256];
/** Calls per second while latency is measured. */
const STEADY_RATE = 50;

const runtime = await guestRuntime();
const trivial = plugin("return { greeting: 'Hello, ' + context.params.name + '!' };");

type Run = () => Promise<CallReport>;

await straight();
await ofPool();
await freshIsolate();

async function straight(): Promise<void> {
  const sandbox = await TestSandbox.open(runtime);
  await sandbox.load(trivial);
  await measure('one child, straight', () => sandbox.call({ name: 'bench' }));
  await sandbox.close();
}

async function ofPool(): Promise<void> {
  const loaded = Promise.withResolvers<void>();
  const post = (thread: number, message: ChildNews): void => {
    if (message.type === 'ready') pool.post(thread, { type: 'load', child: 1, version: trivial });
    if (message.type === 'loaded') loaded.resolve();
  };
  const pool = await createDriverPool(
    {
      filename: path.join(SANDBOX_DIR, 'driver', 'driver.ts'),
      data: { protocol: PROTOCOL_VERSION, program: await sandboxProgram(), addon: nativeAddon() },
      runtime,
      mostThreads: 1,
      log: createLog('warn'),
    },
    { threadReady: () => undefined, news: post, threadLost: () => loaded.reject(new Error('the thread is gone')) },
  );
  const thread = pool.threads()[0] ?? 0;
  pool.post(thread, { type: 'open', child: 1 });
  await loaded.promise;
  let call = 0;
  const context = contextText({ name: 'bench' });
  await measure('one child, of a pool of threads', () => {
    call += 1;
    return pool.run(thread, { child: 1, call, version: trivial.version, context, timeout_ms: 10_000 });
  });
  await pool.close();
}

async function freshIsolate(): Promise<void> {
  for (const isolation of ['plugin', 'call'] as const) {
    const sandbox = await TestSandbox.open(runtime);
    await sandbox.load({ ...trivial, isolation });
    const took: number[] = [];
    for (let left = SECONDS * STEADY_RATE; left > 0; left -= 1) {
      const began = performance.now();
      checked(await sandbox.call({ name: 'bench' }));
      took.push(performance.now() - began);
      await sleep(1000 / STEADY_RATE);
    }
    took.sort((a, b) => a - b);
    const at = (share: number) => took[Math.floor(took.length * share)]?.toFixed(2);
    print(`isolation '${isolation}', ${STEADY_RATE} calls/s: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
    await sandbox.close();
  }
}

async function measure(name: string, run: Run): Promise<void> {
  for (const depth of DEPTHS) {
    let calls = 0;
    const began = performance.now();
    const until = began + SECONDS * 1000;
    const lane = async (): Promise<void> => {
      while (performance.now() < until) {
        checked(await run());
        calls += 1;
      }
    };
    await Promise.all(Array.from({ length: depth }, lane));
    const rate = calls / ((performance.now() - began) / 1000);
    print(`${name}, ${depth} deep: ${Math.round(rate)} calls/s`);
  }
}

function checked({ outcome }: CallReport): void {
  if (outcome.kind !== 'returned') throw new Error(`a call failed: ${JSON.stringify(outcome)}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
