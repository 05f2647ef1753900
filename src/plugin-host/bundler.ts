import type { BuildJob } from './build-request.ts';
import type { BundlerConfinement } from './bundler-confinement.ts';
import type { BundlerHold } from './bundler-launch.ts';
import { type BuildResult, BundlerLife } from './bundler-life.ts';
import { BundlerLost } from './bundler-lost.ts';
import type { FilesRead } from './files-read.ts';

/** What bounds the bundler. */
export interface BundlerLimits {
  /** A build that takes longer ends, with the process. */
  timeoutMs: number;
  /** Memory of its process and esbuild's together, in bytes. */
  memoryBytes: number;
  /** After so long without a build the process ends. */
  idleMs: number;
}

/** One go at a build, in the process that it is given. */
type Attempt = (life: () => BundlerLife) => Promise<BuildResult>;

/** A build that may be what ended its process, or held up others. */
interface Suspect {
  tookMs: number;
  begin: () => void;
}

/**
 * Builds in a process of its own, which serves all of them and starts with the first. Where it ends, the builds it was
 * at are done once more, one after the other, each by itself in a new one beside it: they come through, but for the one
 * that ended it, and none that is begun later waits for them.
 */
export class Bundler {
  private readonly limits: BundlerLimits;
  private hold: BundlerHold;
  private readonly otherHolds: BundlerHold[];
  private proven: BundlerHold | undefined;
  /** The process for all builds. */
  private shared: BundlerLife | undefined;
  private running = 0;
  private idle: NodeJS.Timeout | undefined;
  /** The process for one build. */
  private single: BundlerLife | undefined;
  private isSingleTaken = false;
  private readonly suspects: Suspect[] = [];
  private timesClosed = 0;

  /** @param holds how the system holds a process, the best one first; one that does not start is not tried again */
  constructor(limits: BundlerLimits, [hold, ...others]: readonly [BundlerHold, ...BundlerHold[]]) {
    this.limits = limits;
    this.hold = hold;
    this.otherHolds = others;
  }

  /**
   * @param read receives the files that it is made of, with their states, also when it comes to no end
   * @param outdated says that its files have changed: then it has no turn by itself any more
   * @throws BundlerLost when this build ends the process, takes too much or too long, the bundler is closed, or it is
   * outdated and was not done among the others
   */
  async build(job: BuildJob, read: FilesRead = new Map(), outdated?: AbortSignal): Promise<BuildResult> {
    const { timesClosed } = this;
    const { timeoutMs } = this.limits;
    const attempt: Attempt = (life) => {
      if (timesClosed !== this.timesClosed) throw new BundlerLost('closed', false);
      read.clear();
      return life().perform(job, read, timeoutMs);
    };
    for (let unstarted = 0; ; ) {
      const began = performance.now();
      try {
        return await this.amongOthers(attempt);
      } catch (error) {
        if (!(error instanceof BundlerLost) || isItsOwn(error)) throw error;
        const tookMs = performance.now() - began;
        // No build is to blame where none was begun, and none that has just begun where another took too long.
        if (error.reason === 'unstarted' && ++unstarted > 1) throw error;
        const isInnocent = error.reason === 'unstarted' || (error.reason === 'beside' && tookMs < timeoutMs / 2);
        if (!isInnocent) return await this.byItself(attempt, tookMs, outdated);
      }
    }
  }

  /** How far the process is confined; undefined until one has worked. */
  get confinement(): BundlerConfinement | undefined {
    return this.proven?.confinement;
  }

  /** Ends the processes, and with them the builds under way; a later build would start another one. */
  async close(): Promise<void> {
    this.timesClosed++;
    this.single?.end('closed');
    await Promise.all([this.endShared(), this.single?.gone]);
  }

  private async amongOthers(attempt: Attempt): Promise<BuildResult> {
    clearTimeout(this.idle);
    this.running += 1;
    try {
      return await attempt(() => this.living());
    } finally {
      this.proven = this.shared?.hold ?? this.proven;
      this.running -= 1;
      if (this.running === 0) this.idle = setTimeout(() => void this.endShared(), this.limits.idleMs).unref();
    }
  }

  /** Those that took the shortest first: they are likely to be quick. */
  private async byItself(attempt: Attempt, tookMs: number, outdated?: AbortSignal): Promise<BuildResult> {
    const lost = new BundlerLost('outdated', false);
    if (outdated?.aborted === true) throw lost;
    const turn = Promise.withResolvers<void>();
    const suspect = { tookMs, begin: turn.resolve };
    this.suspects.push(suspect);
    this.suspects.sort((a, b) => a.tookMs - b.tookMs);
    const giveUp = () => {
      const at = this.suspects.indexOf(suspect);
      if (at !== -1) this.suspects.splice(at, 1);
      // Without effect where its turn has come.
      turn.reject(lost);
    };
    outdated?.addEventListener('abort', giveUp);
    this.tryNext();
    await turn.promise.finally(() => outdated?.removeEventListener('abort', giveUp));
    const end = () => this.single?.end('outdated');
    try {
      return await attempt(() => {
        // It may have changed in the moment before.
        if (outdated?.aborted === true) throw lost;
        this.single = new BundlerLife(this.hold);
        outdated?.addEventListener('abort', end);
        return this.single;
      });
    } finally {
      outdated?.removeEventListener('abort', end);
      this.single?.end('closed');
      await this.single?.gone;
      this.isSingleTaken = false;
      this.tryNext();
    }
  }

  private tryNext(): void {
    if (this.isSingleTaken) return;
    const suspect = this.suspects.shift();
    this.isSingleTaken = suspect !== undefined;
    suspect?.begin();
  }

  private living(): BundlerLife {
    // Builds under way do not end for the sake of one that begins.
    if (this.running === 1 && this.shared?.isOutdated === true) this.shared.end('closed');
    if (this.shared !== undefined && this.shared.reason === undefined) return this.shared;
    // What restricts the process may be what does not work here.
    if (this.shared?.reason === 'unstarted') this.hold = this.otherHolds.shift() ?? this.hold;
    this.shared = new BundlerLife(this.hold);
    return this.shared;
  }

  private async endShared(): Promise<void> {
    clearTimeout(this.idle);
    const { shared } = this;
    this.shared = undefined;
    shared?.end('closed');
    await shared?.gone;
  }
}

/**
 * Whether a loss is certainly due to the build itself, or final for another reason. What is late beside others may have
 * been held up by one of them.
 */
function isItsOwn({ reason, wasAlone }: BundlerLost): boolean {
  return reason === 'closed' || (wasAlone && (reason === 'late' || reason === 'memory'));
}
