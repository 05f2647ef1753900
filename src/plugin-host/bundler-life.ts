import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { BuildJob, BuildRequest } from './build-request.ts';
import { type BundlerFile, bundlerFiles } from './bundler-files.ts';
import { encodeFrame, type Frame, FrameReader } from './bundler-frames.ts';
import { type BundlerHold, launchBundler } from './bundler-launch.ts';
import { BUNDLE_BYTES, MAP_BYTES, MESSAGE_BYTES, MOST_FILES } from './bundler-limits.ts';
import { BundlerLost, type LossReason } from './bundler-lost.ts';
import { type BuildProblems, bundlerReportSchema } from './bundler-report.ts';
import { familyMemory } from './family-memory.ts';
import type { FilesRead } from './files-read.ts';

/** What the bundler's process made of a job. */
export type BuildResult =
  | { kind: 'built'; code: string; map: string | null }
  | { kind: 'oversized'; bytes: number }
  | ({ kind: 'failed' } & BuildProblems);

/** A build under way. */
interface Pending {
  settle: (result: BuildResult | BundlerLost) => void;
  read: FilesRead;
  reason: LossReason | undefined;
  late: NodeJS.Timeout;
}

const LOOK_MS = 50;
/** How long the channel of a dead process may take to end. */
const DRAIN_MS = 1000;

/** One process of the bundler, with that of esbuild, from its start to its end. */
export class BundlerLife {
  /** Resolves when the process is gone and each of its builds is settled. */
  readonly gone: Promise<void>;
  readonly #process: ChildProcess;
  readonly #hold: BundlerHold;
  readonly #files: readonly BundlerFile[];
  readonly #reader = new FrameReader({ message: MESSAGE_BYTES, bytes: BUNDLE_BYTES + MAP_BYTES });
  readonly #channel: Socket;
  readonly #pending = new Map<number, Pending>();
  readonly #finished = Promise.withResolvers<void>();
  #builds = 0;
  #isReady = false;
  #hasExited = false;
  #reason: LossReason | undefined;
  #looking: NodeJS.Timeout | undefined;
  #draining: NodeJS.Timeout | undefined;

  constructor(hold: BundlerHold) {
    this.gone = this.#finished.promise;
    this.#hold = hold;
    this.#files = bundlerFiles(hold.roots);
    this.#process = launchBundler(hold, this.#files);
    const channel = this.#process.stdio[3];
    if (!(channel instanceof Socket)) throw new Error('the bundler was started without its channel');
    this.#channel = channel;
    channel.on('data', (chunk: Buffer) => this.#receive(chunk));
    // A process that dies breaks the pipe; its exit says more.
    channel.on('error', () => undefined);
    channel.on('close', () => this.#channelClosed());
    this.#process.on('error', () => this.#exited());
    this.#process.on('exit', () => this.#exited());
    // Builds under way keep the server; a process that waits for the next one does not.
    this.#process.unref();
    channel.unref();
  }

  /** Why it ends; undefined as long as builds may be given to it. */
  get reason(): LossReason | undefined {
    return this.#reason;
  }

  /** Whether it sees other folders than there are now, as when packages were installed meanwhile. */
  get isOutdated(): boolean {
    return !isDeepStrictEqual(bundlerFiles(this.#hold.roots), this.#files);
  }

  /** The hold, once it has proved to work. */
  get hold(): BundlerHold | undefined {
    return this.#isReady ? this.#hold : undefined;
  }

  /**
   * @param read receives the files that it is made of, also when it comes to no end
   * @throws BundlerLost
   */
  perform(job: BuildJob, read: FilesRead, timeoutMs: number): Promise<BuildResult> {
    const build = this.#builds++;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => this.end('late', build), timeoutMs);
      const settle = (result: BuildResult | BundlerLost) => {
        clearTimeout(late);
        this.#pending.delete(build);
        if (this.#pending.size === 0) clearInterval(this.#looking);
        if (result instanceof BundlerLost) reject(result);
        else resolve(result);
      };
      this.#pending.set(build, { settle, read, reason: undefined, late });
      if (this.#pending.size === 1) this.#looking = setInterval(() => this.#look(), LOOK_MS);
      const request: BuildRequest = { build, job };
      this.#channel.write(encodeFrame(request));
    });
  }

  /**
   * Ends it at once. Safe to call twice, and late.
   * @param blamed the one build that is the cause; the others lose only their process
   */
  end(reason: LossReason, blamed?: number): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    for (const [build, pending] of this.#pending)
      pending.reason = blamed === undefined || blamed === build ? reason : 'beside';
    this.#kill();
    // Whatever it said before is still heard.
    this.#draining = setTimeout(() => this.#finish(), DRAIN_MS);
  }

  #look(): void {
    const { pid } = this.#process;
    if (pid !== undefined && !this.#hasExited && familyMemory(pid) > this.#hold.memoryBytes) this.end('memory');
  }

  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.push(chunk)) this.#heard(frame);
    } catch {
      this.end('ended');
    }
  }

  #heard({ message, bytes }: Frame): void {
    const report = bundlerReportSchema.parse(message);
    if (report.kind === 'ready') {
      this.#isReady = true;
      // That a busy machine takes long to start a process is not the build's doing.
      for (const { late } of this.#pending.values()) late.refresh();
      return;
    }
    const pending = this.#pending.get(report.build);
    if (pending === undefined) return;
    switch (report.kind) {
      case 'read':
        for (const [file, state] of report.files) pending.read.set(file, state);
        if (pending.read.size > 2 * MOST_FILES) throw new Error('no bundle has so many files');
        return;
      case 'built': {
        const { code, map } = report;
        if (bytes.length !== code + (map ?? 0)) throw new Error('the bundle is not as long as it is said to be');
        const text = bytes.toString('utf8', 0, code);
        return pending.settle({ kind: 'built', code: text, map: map === null ? null : bytes.toString('utf8', code) });
      }
      case 'oversized':
        return pending.settle({ kind: 'oversized', bytes: report.bytes });
      case 'failed':
        return pending.settle({ kind: 'failed', problems: report.problems, total: report.total });
      default:
        throw new Error(`unknown report ${JSON.stringify(report satisfies never)}`);
    }
  }

  #exited(): void {
    if (this.#hasExited) return;
    this.end(this.#isReady ? 'ended' : 'unstarted');
    this.#hasExited = true;
    // What it started might live on.
    this.#kill();
    if (this.#channel.destroyed) this.#finish();
  }

  #channelClosed(): void {
    this.end(this.#isReady ? 'ended' : 'unstarted');
    if (this.#hasExited) this.#finish();
  }

  /** The whole group: the process is at its head. */
  #kill(): void {
    const { pid } = this.#process;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It is gone already.
    }
  }

  #finish(): void {
    clearTimeout(this.#draining);
    this.#channel.destroy();
    const wasAlone = this.#builds === 1;
    for (const { settle, reason } of [...this.#pending.values()]) {
      settle(new BundlerLost(reason ?? this.#reason ?? 'ended', wasAlone));
    }
    this.#finished.resolve();
  }
}
