import { copyFile, cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import { ROOT, SANDBOX_DIR } from './sandbox.ts';

/** Names the folder for `hostile-driver.ts`. */
export const HOSTILE_SANDBOX = 'ISOLAYER_TEST_HOSTILE_SANDBOX';

/** A copy of the child's folder, whose entry is `hostile-child.ts`. Removed at the end of the test. */
export async function hostileSandbox(t: Test): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'isolayer-escape-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const sandbox = path.join(folder, 'sandbox');
  await mkdir(sandbox);
  await cp(path.join(SANDBOX_DIR, 'process'), path.join(sandbox, 'process'), { recursive: true });
  await cp(path.join(SANDBOX_DIR, 'guest'), path.join(sandbox, 'guest'), { recursive: true });
  await copyFile(path.join(SANDBOX_DIR, 'protocol.ts'), path.join(sandbox, 'protocol.ts'));
  await copyFile(path.join(ROOT, 'test/support/hostile-child.ts'), path.join(sandbox, 'process', 'main.ts'));
  await copyFile(path.join(ROOT, 'package.json'), path.join(folder, 'package.json'));
  // Inside of what the child may read.
  const isolatedVm = path.dirname(createRequire(import.meta.url).resolve('isolated-vm/package.json'));
  const nodeGypBuild = path.dirname(createRequire(`${isolatedVm}/`).resolve('node-gyp-build/package.json'));
  for (const from of [isolatedVm, nodeGypBuild]) {
    await cp(from, path.join(sandbox, 'node_modules', path.basename(from)), { recursive: true });
  }
  return sandbox;
}
