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

/** The script of a frame's header that says what it likes of its length and its kind. */
export function frameHeader(length: number, kind: number): string {
  return `const bytes = Buffer.alloc(9); bytes.writeUInt32BE(${length}, 0); bytes[4] = ${kind}; bytes[8] = call; raw(bytes);`;
}

/** Processes that lie at the same time. */
const AT_ONCE = 8;

/** Each lie, told by a child of its own, costs that child its life, and the call that was there its process. */
export async function assertLiesEnd(
  t: Test,
  hostile: HostileSlots,
  what: string,
  lies: Readonly<Record<string, string>>,
): Promise<void> {
  const rest = Object.entries(lies).map(([how, body]) => ({ name: `${what} ${how}`, body }));
  while (rest.length > 0) {
    await Promise.all(
      rest.splice(0, AT_ONCE).map(async ({ name, body }) => {
        const slot = await hostile.open(t);
        const report = await slot.call(hostileScript(`${body} return 'silent';`), { timeoutMs: 60_000 });
        t.match(report, { outcome: { kind: 'ended', code: 'SANDBOX_LOST' } }, name);
        t.match(await slot.closed(), { cause: 'protocol' }, name);
      }),
    );
  }
}
