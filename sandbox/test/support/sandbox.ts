import path from 'node:path';
import {
  type CallReport,
  DEFAULT_LIMITS,
  type DurableStart,
  type Json,
  type Limits,
  type PluginVersion,
} from '../../contract.ts';
import { probeLauncher } from '../../driver/confinement.ts';
import { type ChildLauncher, launch } from '../../driver/launch.ts';
import { serviceNice } from '../../driver/niceness.ts';
import { ChildProcesses, type ProcessesDeps } from '../../driver/processes.ts';
import { ChildDoor } from '../../host/child/child-link.ts';
import { bootFrame, type ChildNews, ChildSupervisor } from '../../host/child/child-supervisor.ts';
import { openJournal } from '../../host/child/journal.ts';
import { nativeAddon } from '../../host/compiler/child-program.ts';
import { createCompiler } from '../../host/compiler/compiler.ts';
import { type SandboxTexts, sandboxTexts } from '../../host/compiler/sandbox-texts.ts';
import type { LoadedMessage } from '../../protocol.ts';

/** The folder of the checkout. */
export const ROOT = path.resolve(import.meta.dirname, '../../..');
export const SANDBOX_DIR = path.join(ROOT, 'sandbox');

const WAIT_MS = 20_000;

let texts: Promise<SandboxTexts> | undefined;

/** The runtime as the service bundles it. */
export async function guestRuntime(): Promise<string> {
  return (await builtTexts()).runtime;
}

/** The child's program as the service bundles it. */
export async function sandboxProgram(): Promise<string> {
  return (await builtTexts()).program;
}

/** Built once for each test file, or once for a run of several files. */
async function builtTexts(): Promise<SandboxTexts> {
  texts ??= (async () => {
    const compiler = createCompiler({ root: ROOT, sandboxDir: SANDBOX_DIR });
    const built = await sandboxTexts(compiler, SANDBOX_DIR);
    await compiler.close();
    return built;
  })();
  return await texts;
}

/** A plugin whose handler has this body; `context` is its parameter, and `kept` a variable of its module. */
export function plugin(body: string, more: Partial<Omit<PluginVersion, 'limits'>> & { limits?: Partial<Limits> } = {}) {
  const code = `const kept = {}; var __isolayer_plugin__ = { handler: async (context) => { ${body} } };`;
  return version(code, more);
}

/** A plugin version made of a script. */
export function version(
  code: string,
  more: Partial<Omit<PluginVersion, 'limits'>> & { limits?: Partial<Limits> } = {},
): PluginVersion {
  return {
    pluginId: 'tested',
    version: 'v1',
    code,
    filename: 'plugins/tested.ts',
    env: {},
    isolation: 'plugin',
    ...more,
    limits: { ...DEFAULT_LIMITS, ...more.limits },
  };
}

/** The text of a call's context. */
export function contextText(params: Json): string {
  return JSON.stringify({
    params,
    headers: {},
    route: '',
    method: 'POST',
    query: {},
    caller: { keyId: 'test' },
  });
}

interface CallOptions {
  timeoutMs?: number;
  of?: string;
  durable?: DurableStart | undefined;
}

/**
 * One sandbox with a real child, whose process is watched by this thread. It records all news of the child.
 */
export class TestSandbox {
  readonly messages: ChildNews[] = [];
  /** Gets each message of the child as it comes. */
  onMessage: (message: ChildNews) => void = () => undefined;
  readonly supervisor: ChildSupervisor;
  readonly #door = new ChildDoor();
  #lastCall = 0;
  #waiting: (() => void)[] = [];

  constructor(runtime: string, start: ProcessesDeps['start'], launcher: ChildLauncher, hasJournal = false) {
    const service = serviceNice();
    const processes = new ChildProcesses({
      ...{ launcher, service, start, door: this.#door.address },
      // As if it crossed from a thread.
      post: (message) => setImmediate(() => this.supervisor.receive(message)),
    });
    const { confinement } = launcher;
    this.supervisor = new ChildSupervisor(
      1,
      {
        ...{ door: this.#door, throttled: new Set(), confinement, comesBack: service.comesBack },
        boot: (journal) => bootFrame(runtime, journal),
        order: (message) => setImmediate(() => processes.receive(message)),
        post: (news) => {
          if (news.type === 'closed') this.#door.close();
          this.messages.push(news);
          this.onMessage(news);
          for (const wake of this.#waiting.splice(0)) wake();
        },
      },
      hasJournal ? openJournal(confinement) : undefined,
    );
  }

  /** Starts a child as the service does, and waits until it is ready. */
  static async open(runtime: string): Promise<TestSandbox> {
    const launcher = await probeLauncher(process.platform, nativeAddon());
    const text = await sandboxProgram();
    const start: ProcessesDeps['start'] = (channel, journalFd) => launch(launcher, text, { channel, journalFd });
    const sandbox = new TestSandbox(runtime, start, launcher, true);
    await sandbox.message('ready');
    return sandbox;
  }

  /** Returns the first message of a type, and waits for it if necessary. Fails if the sandbox closes first. */
  async message<T extends ChildNews['type']>(type: T): Promise<Extract<ChildNews, { type: T }>> {
    const deadline = performance.now() + WAIT_MS;
    for (;;) {
      const found = this.messages.find((message) => message.type === type);
      if (found !== undefined) return found as Extract<ChildNews, { type: T }>;
      const closed = this.messages.find((message) => message.type === 'closed');
      if (closed !== undefined) throw new Error(`the sandbox closed instead: ${JSON.stringify(closed)}`);
      await this.#more(deadline, type);
    }
  }

  /** Returns the capability call with this id, of any call or of the given one, and waits for it if necessary. */
  async request(id: number, call?: number): Promise<Extract<ChildNews, { type: 'request' }>> {
    const deadline = performance.now() + WAIT_MS;
    for (;;) {
      for (const message of this.messages) {
        if (message.type !== 'request' || message.message.id !== id) continue;
        if (call === undefined || message.call === call) return message;
      }
      await this.#more(deadline, `capability call ${id}`);
    }
  }

  /** Waits until the sandbox has closed. Returns how it closed. */
  closed(): Promise<Extract<ChildNews, { type: 'closed' }>> {
    return this.message('closed');
  }

  /** Loads a version and waits for the result. */
  async load(loaded: PluginVersion): Promise<LoadedMessage> {
    this.supervisor.load(loaded);
    const deadline = performance.now() + WAIT_MS;
    for (;;) {
      for (const message of this.messages) {
        if (message.type === 'loaded' && message.message.version === loaded.version) return message.message;
        if (message.type === 'closed') throw new Error(`the sandbox closed instead: ${JSON.stringify(message)}`);
      }
      await this.#more(deadline, 'loaded');
    }
  }

  /** Runs one call. */
  call(params: Json = {}, { timeoutMs = 10_000, of = 'v1', durable }: CallOptions = {}): Promise<CallReport> {
    this.#lastCall += 1;
    return this.supervisor.run({
      child: 1,
      call: this.#lastCall,
      version: of,
      context: contextText(params),
      timeout_ms: timeoutMs,
      ...(durable === undefined ? {} : { durable }),
    });
  }

  /** The number of the call that was started last. */
  get lastCall(): number {
    return this.#lastCall;
  }

  /** The processes of the child. */
  async pids(): Promise<number[]> {
    return (await this.message('spawned')).pids;
  }

  /** Ends the child and waits until it is gone. Safe to call twice. */
  async close(): Promise<Extract<ChildNews, { type: 'closed' }>> {
    this.supervisor.close('the test is over');
    return this.message('closed');
  }

  async #more(deadline: number, what: string): Promise<void> {
    const left = deadline - performance.now();
    if (left <= 0) throw new Error(`no ${what} within ${WAIT_MS} ms`);
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, left);
    this.#waiting.push(resolve);
    await promise;
    clearTimeout(timer);
  }
}

/** Whether a process runs. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
