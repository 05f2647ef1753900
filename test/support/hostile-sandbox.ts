import { copyFile, cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import { launch, probeLauncher } from '../../sandbox/driver/launch.ts';
import { type Limits, UP } from '../../sandbox/protocol.ts';
import { guestRuntime, plugin, ROOT, SANDBOX_DIR, TestSlot } from './sandbox.ts';

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

/** Slots whose child is hostile, one after the other. */
export class HostileSlots {
  readonly #sandbox: string;
  readonly #runtime: string;
  readonly #launcher: Awaited<ReturnType<typeof probeLauncher>>;

  private constructor(sandbox: string, runtime: string, launcher: Awaited<ReturnType<typeof probeLauncher>>) {
    this.#sandbox = sandbox;
    this.#runtime = runtime;
    this.#launcher = launcher;
  }

  static async create(t: Test): Promise<HostileSlots> {
    return new HostileSlots(await hostileSandbox(t), await guestRuntime(), await probeLauncher(process.platform));
  }

  /** One that is ready, and has no plugin yet. */
  async ready(t: Test): Promise<TestSlot> {
    const slot = new TestSlot(this.#runtime, () => launch(this.#launcher, this.#sandbox), this.#launcher);
    t.teardown(() => slot.close());
    await slot.message('ready');
    return slot;
  }

  /** One that has loaded its plugin. */
  async open(t: Test, limits: Partial<Limits> = {}): Promise<TestSlot> {
    const slot = await this.ready(t);
    await slot.load(plugin('', { pluginId: 'hostile', limits }));
    return slot;
  }
}

/** Parameters of a call whose script has the tools of `hostile-child.ts` at hand, and the kinds of frames as `UP`. */
export function hostileScript(body: string): { script: string } {
  const names = '{ say, raw, done, reply, call, calls, channel }';
  return { script: `const UP = ${JSON.stringify(UP)}; export const attempt = async (${names}) => { ${body} };` };
}

/** What a script says from inside of the guest, as an honest child would. */
export function inside(text: string): string {
  return `say(UP.ENTER, call); ${text}; say(UP.LEAVE, call);`;
}
