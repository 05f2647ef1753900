import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildJob, BuildResult, BundlerMessage } from './build-job.ts';
import type { SourceFileStates } from './source-files.ts';

/** The limits of the bundler. */
export interface BundlerLimits {
  /** A build in a process of its own that takes longer ends, with its process. */
  timeoutMs: number;
  /** The process ends after this long without a build. */
  idleMs: number;
  /** A process that takes more memory, together with esbuild's, ends. In bytes. */
  memoryBytes: number;
}

/**
 * Why a build did not finish. Its process ended, took too much memory, did not start or was closed. Or the build took
 * too long, or its files had changed.
 */
export type LossReason = 'ended' | 'memory' | 'unstarted' | 'closed' | 'late' | 'outdated';

/** Thrown when a build did not finish. */
export class BundlerLost extends Error {
  readonly reason: LossReason;

  constructor(reason: LossReason) {
    super(`the bundler did not finish: ${reason}`);
    this.reason = reason;
  }
}

/** The part of the time limit that a build has in the shared process. */
const SHARE_AMONG_OTHERS = 1 / 2;

/**
 * Does many builds at once in one shared process, which starts with the first. A build that the shared process does not
 * finish, for whatever reason, is done once more in a process of its own, one such build at a time. So a build that
 * breaks, fills or blocks the shared process costs others a moment.
 */
export class Bundler {
  readonly #limits: BundlerLimits;
  readonly #processes = new Set<BundlerProcess>();
  #shared: BundlerProcess | undefined;
  /** Settles when the last of the builds in a process of their own is over. */
  #alone: Promise<unknown> = Promise.resolve();
  #closing = new AbortController();

  constructor(limits: BundlerLimits) {
    this.#limits = limits;
  }

  /**
   * Does a build.
   * @param read receives the files that the build is made of, with their states, also when it does not finish
   * @param outdated aborted when the build's files have changed: then it is not done in a process of its own any more
   * @throws BundlerLost when this build ends its process, takes too much memory or too long, when the bundler is
   *   closed, or when the build is outdated and the shared process did not finish it
   */
  async build(job: BuildJob, read: SourceFileStates = new Map(), outdated?: AbortSignal): Promise<BuildResult> {
    const closed = this.#closing.signal;
    try {
      if (this.#shared?.takesBuilds !== true) {
        this.#shared?.retire();
        this.#shared = this.#start();
      }
      return await this.#shared.perform(job, read, this.#limits.timeoutMs * SHARE_AMONG_OTHERS);
    } catch (error) {
      if (!(error instanceof BundlerLost) || error.reason === 'closed' || error.reason === 'unstarted') throw error;
    }
    const over = outdated === undefined ? closed : AbortSignal.any([closed, outdated]);
    const built = this.#alone.then(() => this.#byItself(job, read, over));
    this.#alone = built.catch(() => undefined);
    // A build that is over does not wait for its turn.
    const givenUp = new Promise<never>((_, reject) => {
      if (over.aborted) reject(lossOf(over));
      over.addEventListener('abort', () => reject(lossOf(over)), { once: true });
    });
    return await Promise.race([built, givenUp]);
  }

  /** Ends the processes and the builds under way. A later build starts a new process. */
  async close(): Promise<void> {
    this.#closing.abort(new BundlerLost('closed'));
    this.#closing = new AbortController();
    for (const process of this.#processes) process.end('closed');
    await Promise.all(Array.from(this.#processes, ({ gone }) => gone));
  }

  async #byItself(job: BuildJob, read: SourceFileStates, over: AbortSignal): Promise<BuildResult> {
    if (over.aborted) throw lossOf(over);
    const process = this.#start();
    const end = () => process.end(lossOf(over).reason);
    over.addEventListener('abort', end);
    try {
      return await process.perform(job, read, this.#limits.timeoutMs);
    } finally {
      over.removeEventListener('abort', end);
      process.end('closed');
      await process.gone;
    }
  }

  #start(): BundlerProcess {
    const process = new BundlerProcess(this.#limits);
    this.#processes.add(process);
    void process.gone.then(() => this.#processes.delete(process));
    return process;
  }
}

function lossOf({ reason }: AbortSignal): BundlerLost {
  return reason instanceof BundlerLost ? reason : new BundlerLost('outdated');
}

/** A build under way. */
interface Pending {
  settle: (result: BuildResult | BundlerLost) => void;
  read: SourceFileStates;
  deadline: NodeJS.Timeout;
}

const MIB = 1_048_576;
const LOOK_MS = 50;

/** One process of the bundler and its esbuild process, from start to end. */
class BundlerProcess {
  /** Resolves when the process is gone and each of its builds is settled. */
  readonly gone: Promise<void>;
  readonly #limits: BundlerLimits;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  readonly #finished = Promise.withResolvers<void>();
  #builds = 0;
  #isRetired = false;
  #reason: LossReason | undefined;
  #looking: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(limits: BundlerLimits) {
    this.gone = this.#finished.promise;
    this.#limits = limits;
    this.#child = fork(join(import.meta.dirname, 'bundler-process.ts'), {
      cwd: '/',
      env: {},
      execArgv: [`--max-old-space-size=${Math.ceil(limits.memoryBytes / MIB)}`, '--disable-sigusr1'],
      serialization: 'advanced',
      // A crashing process prints a long text that names the machine's folders.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // Leads a process group of its own, which holds esbuild's process too.
      detached: true,
    });
    this.#child.on('message', (message: BundlerMessage) => this.#receive(message));
    this.#child.on('error', () => this.#finish('unstarted'));
    this.#child.on('exit', () => {
      // Its esbuild process might still run.
      this.#kill();
      // Messages that it sent before are still read.
      if (this.#child.connected) this.#child.once('disconnect', () => this.#finish('ended'));
      else this.#finish('ended');
    });
    // A build under way keeps the server's process alive. A process that waits for the next build does not.
    this.#child.unref();
    this.#child.channel?.unref();
  }

  /** Whether the process takes builds: it has not ended, and no build hangs in it. */
  get takesBuilds(): boolean {
    return this.#reason === undefined && !this.#isRetired;
  }

  /**
   * Does a build.
   * @param read receives the files that the build is made of, also when it does not finish
   * @throws BundlerLost
   */
  perform(job: BuildJob, read: SourceFileStates, timeoutMs: number): Promise<BuildResult> {
    const build = this.#builds++;
    read.clear();
    clearTimeout(this.#idle);
    return new Promise((resolve, reject) => {
      // esbuild cannot stop a build. So the process ends when its other builds are done.
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
      this.#pending.set(build, { settle, read, deadline });
      if (this.#pending.size === 1) this.#looking = setInterval(() => this.#look(), LOOK_MS);
      // A process that has ended says so by its event.
      this.#child.send({ build, job }, () => undefined);
    });
  }

  /** Takes no more builds, and ends after those under way. Safe to call twice, and after the end. */
  retire(): void {
    this.#isRetired = true;
    if (this.#pending.size === 0) this.#rest();
  }

  /** Ends the process group at once. Safe to call twice, and after the end. */
  end(reason: LossReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    // The server's process waits for the end that it asked for.
    this.#child.ref();
    this.#kill();
  }

  #rest(): void {
    clearInterval(this.#looking);
    if (this.#isRetired) return this.end('closed');
    this.#idle = setTimeout(() => this.end('closed'), this.#limits.idleMs).unref();
  }

  #look(): void {
    const { pid } = this.#child;
    if (pid !== undefined && familyMemory(pid) > this.#limits.memoryBytes) this.end('memory');
  }

  #receive(message: BundlerMessage): void {
    if (message.kind === 'ready') {
      // Restarts the deadlines: on a busy machine a process starts slowly, which is not the build's fault.
      for (const { deadline } of this.#pending.values()) deadline.refresh();
      return;
    }
    const pending = this.#pending.get(message.build);
    if (message.kind === 'read') pending?.read.set(message.file, message.state);
    else pending?.settle(message.result);
  }

  #finish(reason: LossReason): void {
    this.#reason ??= reason;
    clearTimeout(this.#idle);
    for (const { settle } of [...this.#pending.values()]) settle(new BundlerLost(this.#reason));
    clearTimeout(this.#idle);
    this.#finished.resolve();
  }

  /** Kills the whole process group, which the process leads. */
  #kill(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It is gone already.
    }
  }
}

/** The memory of a process and of those that it started, in bytes; 0 when the system does not tell. */
function familyMemory(pid: number): number {
  // The processes that its first thread started. In Node this thread starts all of them.
  const children = readOrNothing(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean);
  return [String(pid), ...children].reduce((sum, one) => sum + memoryOf(one), 0);
}

/** The memory of one process, swapped or not. The system's figures are in kB for any page size. */
function memoryOf(pid: string): number {
  const figures = readOrNothing(`/proc/${pid}/status`).matchAll(/^Vm(?:RSS|Swap):\s+(\d+) kB$/gm);
  return [...figures].reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0);
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    // The process is gone, or the system does not have this file.
    return '';
  }
}
