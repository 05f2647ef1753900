import path from 'node:path';
import { build, stop } from 'esbuild';
import type { Test } from 'tap';
import type { Limits } from '../../contract.ts';
import { probeLauncher } from '../../driver/confinement.ts';
import { launch } from '../../driver/launch.ts';
import { CHILD_BUILD, childProgram, nativeAddon } from '../../host/compiler/child-program.ts';
import { UP } from '../../protocol.ts';
import { plugin, ROOT, TestSandbox } from './sandbox.ts';

/** The child's program with `hostile-child.ts` as its entry. */
export async function hostileProgram(): Promise<string> {
  const entry = path.join(ROOT, 'sandbox/test/support/hostile-child.ts');
  const { outputFiles } = await build({ ...CHILD_BUILD, write: false, absWorkingDir: ROOT, entryPoints: [entry] });
  await stop();
  return childProgram(outputFiles[0]?.text ?? '', nativeAddon());
}

/** Makes sandboxes with a hostile child. */
export class HostileSandboxes {
  readonly #program: string;
  readonly #launcher: Awaited<ReturnType<typeof probeLauncher>>;

  private constructor(program: string, launcher: Awaited<ReturnType<typeof probeLauncher>>) {
    this.#program = program;
    this.#launcher = launcher;
  }

  static async create(): Promise<HostileSandboxes> {
    return new HostileSandboxes(await hostileProgram(), await probeLauncher(process.platform, nativeAddon()));
  }

  /** A sandbox that is ready and has no plugin yet. */
  async ready(t: Test): Promise<TestSandbox> {
    // A hostile plugin gets no isolate, so nothing has to be prepared for one.
    const sandbox = new TestSandbox(
      '',
      (channel) => launch(this.#launcher, this.#program, { channel }),
      this.#launcher,
    );
    t.teardown(() => sandbox.close());
    await sandbox.message('ready');
    return sandbox;
  }

  /** A sandbox that has loaded its plugin. */
  async open(t: Test, limits: Partial<Limits> = {}): Promise<TestSandbox> {
    const sandbox = await this.ready(t);
    await sandbox.load(plugin('', { pluginId: 'hostile', limits }));
    return sandbox;
  }
}

/** Parameters of a call that runs a script with the tools of `hostile-child.ts`. `UP` has the kinds of frames. */
export function hostileScript(body: string): { script: string } {
  const names = '{ say, raw, done, reply, call, calls, channel }';
  return { script: `const UP = ${JSON.stringify(UP)}; export const attempt = async (${names}) => { ${body} };` };
}

/** The message that a script sends from inside the guest, as an honest child would. */
export function inside(text: string): string {
  return `say(UP.ENTER, call); ${text}; say(UP.LEAVE, call);`;
}

/** A script that writes a frame header with any length and kind. */
export function frameHeader(length: number, kind: number): string {
  return `const bytes = Buffer.alloc(9); bytes.writeUInt32BE(${length}, 0); bytes[4] = ${kind}; bytes[8] = call; raw(bytes);`;
}

/** The number of lying processes at the same time. */
const AT_ONCE = 8;

/** Checks lies, each told by its own child. Each lie ends that child, and the call in it loses its process. */
export async function assertLiesEnd(
  t: Test,
  hostile: HostileSandboxes,
  what: string,
  lies: Readonly<Record<string, string>>,
): Promise<void> {
  const rest = Object.entries(lies).map(([how, body]) => ({ name: `${what} ${how}`, body }));
  while (rest.length > 0) {
    await Promise.all(
      rest.splice(0, AT_ONCE).map(async ({ name, body }) => {
        const sandbox = await hostile.open(t);
        const report = await sandbox.call(hostileScript(`${body} return 'silent';`), { timeoutMs: 60_000 });
        t.match(report, { outcome: { kind: 'ended', code: 'SANDBOX_LOST' } }, name);
        t.match(await sandbox.closed(), { cause: 'protocol' }, name);
      }),
    );
  }
}
