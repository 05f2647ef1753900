import type { BuildJob } from './build-request.ts';
import { type BundlerHold, bundlerHold } from './bundler-launch.ts';
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

/**
 * Builds in a process of its own, which serves all of them and starts with the first. Where it ends, the builds it was
 * at are done once more, each by itself in a new one: they come through, but for the one that ended it.
 */
export class Bundler {
  private readonly limits: BundlerLimits;
  private hold: BundlerHold;
  private life: BundlerLife | undefined;
  private idle: NodeJS.Timeout | undefined;
  private readonly running = new Set<Promise<unknown>>();
  /** Settles with the last build that is to be done by itself. */
  private alone: Promise<unknown> = Promise.resolve();
  private timesClosed = 0;

  /** @param hold how the system holds the process, if it can */
  constructor(limits: BundlerLimits, hold = bundlerHold(limits.memoryBytes)) {
    this.limits = limits;
    this.hold = hold;
  }

  /**
   * @param read receives the files that it is made of, with their states, also when it comes to no end
   * @throws BundlerLost when this build ends the process, takes too much or too long, or the bundler is closed
   */
  async build(job: BuildJob, read: FilesRead = new Map()): Promise<BuildResult> {
    const { timesClosed } = this;
    const attempt = () => {
      if (timesClosed !== this.timesClosed) throw new BundlerLost('closed', false);
      return this.attempt(job, read);
    };
    try {
      return await this.amongOthers(attempt);
    } catch (error) {
      if (!(error instanceof BundlerLost) || isItsOwn(error)) throw error;
      // No build is to blame where none was begun.
      return await (error.reason === 'unstarted' ? this.amongOthers(attempt) : this.byItself(attempt));
    }
  }

  /** Ends the process, and with it the builds under way; a later build would start another one. */
  async close(): Promise<void> {
    this.timesClosed++;
    await this.endLife();
  }

  private async amongOthers(attempt: () => Promise<BuildResult>): Promise<BuildResult> {
    for (let last: unknown; last !== this.alone; ) {
      last = this.alone;
      await last;
    }
    return await attempt();
  }

  private byItself(attempt: () => Promise<BuildResult>): Promise<BuildResult> {
    const before = this.alone;
    const build = (async () => {
      await before;
      await Promise.allSettled(this.running);
      // What earlier builds left in its memory is not held against this one.
      await this.endLife();
      return await attempt();
    })();
    this.alone = build.catch(() => undefined);
    return build;
  }

  private attempt(job: BuildJob, read: FilesRead): Promise<BuildResult> {
    clearTimeout(this.idle);
    read.clear();
    const build = this.living().perform(job, read, this.limits.timeoutMs);
    const settled = build
      .catch(() => undefined)
      .finally(() => {
        this.running.delete(settled);
        if (this.running.size === 0) this.rest();
      });
    this.running.add(settled);
    return build;
  }

  private living(): BundlerLife {
    if (this.life !== undefined && this.life.reason === undefined) return this.life;
    // What restricts the process may be what does not work here.
    if (this.life?.reason === 'unstarted') this.hold = { ...this.hold, prefix: [] };
    this.life = new BundlerLife(this.hold);
    return this.life;
  }

  private rest(): void {
    clearTimeout(this.idle);
    this.idle = setTimeout(() => void this.endLife(), this.limits.idleMs).unref();
  }

  private async endLife(): Promise<void> {
    clearTimeout(this.idle);
    const { life } = this;
    this.life = undefined;
    life?.end('closed');
    await life?.gone;
  }
}

/**
 * Whether a loss is certainly due to the build itself, or final for another reason. What is late beside others may have
 * been held up by one of them.
 */
function isItsOwn({ reason, wasAlone }: BundlerLost): boolean {
  return reason === 'closed' || (wasAlone && (reason === 'late' || reason === 'memory'));
}
