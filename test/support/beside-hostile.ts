import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import { hostileProgram } from '../../sandbox/test/support/hostile-sandbox.ts';
import { ROOT } from '../../sandbox/test/support/sandbox.ts';
import { type RunningHost, startPluginHost } from './plugin-host.ts';

/** Stores the caller's secret. Returns the secret and the stored value, which must be the same. */
const HONEST = `export async function handler({ params, api, kv }) {
  await kv.set('mine', params.secret ?? 'none');
  if (params.waits) await new Promise((resolve) => setTimeout(resolve, params.waits));
  return { secret: params.secret ?? 'none', kept: await kv.get('mine') };
}
`;

/**
 * Returns a function that starts hosts with two plugins: `honest`, and `hostile`, whose process is `hostile-child.ts`.
 * Both share one driver thread. `more` goes into the entry of `hostile`.
 */
export async function besideHostile(t: Test): Promise<(t: Test, more?: object) => Promise<RunningHost>> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'isolayer-hostile-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const driverFile = path.join(folder, 'driver.mjs');
  await writeFile(driverFile, driverOf(await hostileProgram()));
  return async (t, more = {}) => {
    const running = await startPluginHost({
      files: { 'honest.ts': HONEST, 'hostile.ts': 'export const handler = () => 1;' },
      entries: [{ id: 'hostile', emit_logs: true, timeout: 30, ...more }],
      driverFile,
      mostThreads: 1,
    });
    t.teardown(running.close);
    return running;
  };
}

/**
 * The program of the real driver thread, whose children run another program. It has the program in it: an environment
 * variable is gone when another file of the same test process ends.
 */
function driverOf(program: string): string {
  const driver = pathToFileURL(path.join(ROOT, 'sandbox/driver/driver.ts'));
  return `import { workerData } from 'node:worker_threads';
workerData.program = ${JSON.stringify(program)};
export const { task } = await import(${JSON.stringify(driver.href)});
`;
}
