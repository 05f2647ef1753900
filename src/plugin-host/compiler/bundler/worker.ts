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
  MOST_FILES,
  MOST_PROBLEMS,
  mostReportBytes,
  PATH_CHARS,
  PROBLEM_CHARS,
  REPORT,
  WORKER_PROTOCOL,
} from './worker-messages.ts';

/**
 * Why a build came to no end: its worker ended, took too much memory, never began to speak or was closed; the build
 * took too long, or what it was made of had changed.
 */
export type LossReason = 'ended' | 'memory' | 'unstarted' | 'closed' | 'late' | 'outdated';

/** A build that came to no end. */
export class BundlerLost extends Error {
  readonly reason: LossReason;

  constructor(reason: LossReason) {
    super(`the bundler came to no end: ${reason}`);
    this.reason = reason;
  }
}

/** What the worker made of a job. */
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
const problemsSchema = z.strictObject({ problems: z.array(problem).max(MOST_PROBLEMS), total: count });

/** One process of the bundler, with that of esbuild, from its start to its end. */
export class BundlerWorker {
  /** Resolves when the process is gone and each of its builds is settled. */
  readonly gone: Promise<void>;
  readonly hold: BundlerHold;
  readonly #idleMs: number;
  readonly #process: ChildProcess;
  readonly #files: readonly ReadableFile[];
  readonly #channel: Socket;
  /** What it reads is hostile, so what it says is bounded in every direction. */
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

  /** @param idleMs after so long without a build it ends */
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
    // A process that dies breaks the pipe; its exit says more.
    channel.on('error', () => undefined);
    channel.on('close', () => this.#channelClosed());
    this.#process.on('error', () => this.#exited());
    this.#process.on('exit', () => this.#exited());
    // Builds under way keep the server; a process that waits for the next one does not.
    this.#process.unref();
    channel.unref();
  }

  /** Whether the hold has proved to work. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether builds may be given to it: it has not ended, none hangs in it, and it sees the folders that there are now. */
  get takesBuilds(): boolean {
    if (this.#reason !== undefined || this.#isRetired) return false;
    return isDeepStrictEqual(readableFiles(this.hold.roots), this.#files);
  }

  /**
   * @param read receives the files that it is made of, also when it comes to no end
   * @throws BundlerLost
   */
  perform(job: BuildJob, read: FilesRead, timeoutMs: number): Promise<BuildResult> {
    const build = this.#builds++;
    read.clear();
    clearTimeout(this.#idle);
    return new Promise((resolve, reject) => {
      // esbuild cannot be told to leave a build: the worker ends when the others that it is at are done.
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

  /** Takes no more builds, and ends after those that it is at. Safe to call twice, and late. */
  retire(): void {
    this.#isRetired = true;
    if (this.#pending.size === 0) this.#rest();
  }

  /** Ends it at once. Safe to call twice, and late. */
  end(reason: LossReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#kill();
    // Whatever it said before is still heard.
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
      // That a busy machine takes long to start a process is not the build's doing.
      for (const { deadline } of this.#pending.values()) deadline.refresh();
      return;
    }
    const pending = this.#pending.get(build);
    if (pending === undefined) return;
    switch (kind) {
      case REPORT.READ: {
        const [file, state] = readSchema.parse(JSON.parse(text));
        pending.read.set(file, state);
        if (pending.read.size > 2 * MOST_FILES) throw new Error('no bundle has so many files');
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
    clearTimeout(this.#idle);
    this.#channel.destroy();
    for (const { settle } of [...this.#pending.values()]) settle(new BundlerLost(this.#reason ?? 'ended'));
    clearTimeout(this.#idle);
    this.#finished.resolve();
  }
}
