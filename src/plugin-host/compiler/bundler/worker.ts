import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { encodeFrame, FrameDecoder } from '../../../../sandbox/frames.ts';
import type { FilesRead } from '../files-read.ts';
import { type ReadableFile, readableFiles } from '../readable-files.ts';
import { type BundlerHold, familyMemory, launchWorker } from './launch.ts';
import {
  BUILD,
  type BuildJob,
  type BuildProblems,
  MAX_FILES,
  MAX_PROBLEMS,
  mostReportBytes,
  PATH_CHARS,
  PROBLEM_CHARS,
  REPORT,
  WORKER_PROTOCOL,
} from './worker-messages.ts';

/**
 * Why a build did not finish. Its worker ended, took too much memory, did not start or was closed. Or the build took
 * too long, or its files had changed.
 */
export type LossReason = 'ended' | 'memory' | 'unstarted' | 'closed' | 'late' | 'outdated';

/** Thrown when a build did not finish. */
export class BundlerLost extends Error {
  readonly reason: LossReason;

  constructor(reason: LossReason) {
    super(`the bundler came to no end: ${reason}`);
    this.reason = reason;
  }
}

/** The worker's result of a job. */
export type BuildResult =
  | { kind: 'built'; code: string; map: string | null }
  | { kind: 'oversized'; bytes: number }
  | ({ kind: 'failed' } & BuildProblems);

/** A build under way. */
interface Pending {
  settle: (result: BuildResult | BundlerLost) => void;
  read: FilesRead;
  map: string | null;
  deadline: NodeJS.Timeout;
}

const LOOK_MS = 50;
/** How long the channel of a dead process may take to end. */
const DRAIN_MS = 1000;

const count = z.int().min(0);
const path = z.string().max(PATH_CHARS);
const place = z.strictObject({ file: path, line: count, column: count });
const problem = z.strictObject({ text: z.string().max(PROBLEM_CHARS), place: place.nullable() });
const readSchema = z.tuple([path, z.string().max(200)]);
const problemsSchema = z.strictObject({ problems: z.array(problem).max(MAX_PROBLEMS), total: count });

/** One process of the bundler and its esbuild process, from start to end. */
export class BundlerWorker {
  /** Resolves when the process is gone and each of its builds is settled. */
  readonly gone: Promise<void>;
  readonly hold: BundlerHold;
  readonly #idleMs: number;
  readonly #process: ChildProcess;
  readonly #files: readonly ReadableFile[];
  readonly #channel: Socket;
  /** The worker reads hostile code, so everything that it sends is limited. */
  readonly #decoder = new FrameDecoder(mostReportBytes, (kind, build, text) => this.#heard(kind, build, text));
  readonly #pending = new Map<number, Pending>();
  readonly #finished = Promise.withResolvers<void>();
  #builds = 0;
  #isReady = false;
  #hasExited = false;
  #isRetired = false;
  #reason: LossReason | undefined;
  #looking: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #draining: NodeJS.Timeout | undefined;

  /** @param idleMs the worker ends after this long without a build */
  constructor(hold: BundlerHold, idleMs: number) {
    this.gone = this.#finished.promise;
    this.hold = hold;
    this.#idleMs = idleMs;
    this.#files = readableFiles(hold.roots);
    this.#process = launchWorker(hold, this.#files);
    const channel = this.#process.stdio[3];
    if (!(channel instanceof Socket)) throw new Error('the bundler was started without its channel');
    this.#channel = channel;
    channel.on('data', (chunk: Buffer) => this.#receive(chunk));
    // A dying process breaks the pipe. Its exit event says more.
    channel.on('error', () => undefined);
    channel.on('close', () => this.#channelClosed());
    this.#process.on('error', () => this.#exited());
    this.#process.on('exit', () => this.#exited());
    // A build under way keeps the server's process alive. A worker that waits for the next build does not.
    this.#process.unref();
    channel.unref();
  }

  /** Whether the worker has started, so that its confinement works here. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /**
   * Whether the worker takes builds: it has not ended, no build hangs in it, and the folders that it may read are still
   * those on disk.
   */
  get takesBuilds(): boolean {
    if (this.#reason !== undefined || this.#isRetired) return false;
    return isDeepStrictEqual(readableFiles(this.hold.roots), this.#files);
  }

  /**
   * Does a build.
   * @param read receives the files that the build is made of, also when it does not finish
   * @throws BundlerLost
   */
  perform(job: BuildJob, read: FilesRead, timeoutMs: number): Promise<BuildResult> {
    const build = this.#builds++;
    read.clear();
    clearTimeout(this.#idle);
    return new Promise((resolve, reject) => {
      // esbuild cannot stop a build. So the worker ends when its other builds are done.
      const late = () => {
        this.#isRetired = true;
        settle(new BundlerLost('late'));
      };
      const deadline = setTimeout(late, timeoutMs);
      const settle = (result: BuildResult | BundlerLost) => {
        clearTimeout(deadline);
        this.#pending.delete(build);
        if (this.#pending.size === 0) this.#rest();
        if (result instanceof BundlerLost) reject(result);
        else resolve(result);
      };
      this.#pending.set(build, { settle, read, map: null, deadline });
      if (this.#pending.size === 1) this.#looking = setInterval(() => this.#look(), LOOK_MS);
      this.#channel.write(encodeFrame(BUILD, build, JSON.stringify(job)));
    });
  }

  /** Takes no more builds, and ends after those under way. Safe to call twice, and after the end. */
  retire(): void {
    this.#isRetired = true;
    if (this.#pending.size === 0) this.#rest();
  }

  /** Ends the worker at once. Safe to call twice, and after the end. */
  end(reason: LossReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#kill();
    // Messages that it sent before are still read.
    this.#draining = setTimeout(() => this.#finish(), DRAIN_MS);
  }

  #rest(): void {
    clearInterval(this.#looking);
    if (this.#isRetired) return this.end('closed');
    this.#idle = setTimeout(() => this.end('closed'), this.#idleMs).unref();
  }

  #look(): void {
    const { pid } = this.#process;
    if (pid !== undefined && !this.#hasExited && familyMemory(pid) > this.hold.memoryBytes) this.end('memory');
  }

  #receive(chunk: Buffer): void {
    try {
      this.#decoder.push(chunk);
    } catch {
      this.end('ended');
      this.#channel.destroy();
    }
  }

  #heard(kind: number, build: number, text: string): void {
    if (kind === REPORT.READY) {
      if (build !== WORKER_PROTOCOL) throw new Error(`the bundler speaks protocol ${build}`);
      this.#isReady = true;
      // Restarts the deadlines: on a busy machine a process starts slowly, which is not the build's fault.
      for (const { deadline } of this.#pending.values()) deadline.refresh();
      return;
    }
    const pending = this.#pending.get(build);
    if (pending === undefined) return;
    switch (kind) {
      case REPORT.READ: {
        const [file, state] = readSchema.parse(JSON.parse(text));
        pending.read.set(file, state);
        if (pending.read.size > 2 * MAX_FILES) throw new Error('no bundle has so many files');
        return;
      }
      case REPORT.MAP:
        pending.map = text;
        return;
      case REPORT.CODE:
        return pending.settle({ kind: 'built', code: text, map: pending.map });
      case REPORT.OVERSIZED:
        return pending.settle({ kind: 'oversized', bytes: count.parse(JSON.parse(text)) });
      default:
        return pending.settle({ kind: 'failed', ...problemsSchema.parse(JSON.parse(text)) });
    }
  }

  #exited(): void {
    if (this.#hasExited) return;
    this.end(this.#isReady ? 'ended' : 'unstarted');
    this.#hasExited = true;
    // Processes that it started might still run.
    this.#kill();
    if (this.#channel.destroyed) this.#finish();
  }

  #channelClosed(): void {
    this.end(this.#isReady ? 'ended' : 'unstarted');
    if (this.#hasExited) this.#finish();
  }

  /** Kills the whole process group, which the worker leads. */
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
    clearTimeout(this.#idle);
    this.#channel.destroy();
    for (const { settle } of [...this.#pending.values()]) settle(new BundlerLost(this.#reason ?? 'ended'));
    clearTimeout(this.#idle);
    this.#finished.resolve();
  }
}
