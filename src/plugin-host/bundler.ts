import { type BuildOptions, type BuildResult, build, stop } from 'esbuild';
import { isBuildFailure } from './compile-failure.ts';

/** A build after which the bundler's process was gone, or had to be ended. */
export class BundlerLost extends Error {
  readonly isLate: boolean;

  constructor(isLate: boolean) {
    super(isLate ? 'the bundler took too long' : 'the process of the bundler ended');
    this.isLate = isLate;
  }
}

/**
 * Builds by esbuild's process, which serves all of them. Where that ends, the builds it was at are done once more in a
 * new one, each by itself: they come through, but for the one that ended it.
 */
export class Bundler {
  private readonly timeoutMs: number;
  private life = new AbortController();
  private readonly running = new Set<Promise<BuildResult>>();
  /** Settles with the last build that is to be done by itself. */
  private alone: Promise<unknown> = Promise.resolve();

  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs;
  }

  /** @throws BundlerLost when this build ends the process, or takes too long; what esbuild throws otherwise */
  async build(options: BuildOptions): Promise<BuildResult> {
    try {
      return await this.amongOthers(options);
    } catch (error) {
      if (!(error instanceof BundlerLost) || error.isLate) throw error;
      return await this.byItself(options);
    }
  }

  /** Ends the process; a later build would start it again. */
  close(): Promise<void> {
    return stop();
  }

  private async amongOthers(options: BuildOptions): Promise<BuildResult> {
    for (let last: unknown; last !== this.alone; ) {
      last = this.alone;
      await last;
    }
    const attempt = this.attempt(options);
    this.running.add(attempt);
    return attempt.finally(() => this.running.delete(attempt));
  }

  private byItself(options: BuildOptions): Promise<BuildResult> {
    const before = this.alone;
    const attempt = (async () => {
      await before;
      await Promise.allSettled(this.running);
      return this.attempt(options);
    })();
    this.alone = attempt.catch(() => undefined);
    return attempt;
  }

  private attempt(options: BuildOptions): Promise<BuildResult> {
    const { life } = this;
    return new Promise((resolve, reject) => {
      let isLate = false;
      // The answers that an ended process owes never come, so nobody waits for them.
      const lose = () => settle(() => reject(new BundlerLost(isLate)));
      const timer = setTimeout(() => {
        isLate = true;
        this.end(life);
      }, this.timeoutMs);
      const settle = (how: () => void) => {
        clearTimeout(timer);
        life.signal.removeEventListener('abort', lose);
        how();
      };
      life.signal.addEventListener('abort', lose);
      build(options).then(
        (result) => settle(() => resolve(result)),
        (error: unknown) => {
          if (isBuildFailure(error)) settle(() => reject(error));
          else this.end(life);
        },
      );
    });
  }

  /** Only ending it lets a process that is stuck go, and esbuild start another one. */
  private end(life: AbortController): void {
    if (this.life !== life) return;
    this.life = new AbortController();
    void stop();
    life.abort();
  }
}
