import type { Log } from '../observability/log.ts';
import { backOff, type EngineTiming } from './timing.ts';

/** A wait for one waiter that somebody else can end early. An end that comes while nobody waits ends the next wait. */
export class EndablePause {
  #ended = false;
  #wakeUp: (() => void) | null = null;

  /** Resolves after the given milliseconds, or when {@link end} was called since the last wait. */
  async last(milliseconds: number): Promise<void> {
    if (!this.#ended) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.#wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wakeUp = null;
    }
    this.#ended = false;
  }

  end(): void {
    this.#ended = true;
    this.#wakeUp?.();
  }
}

export interface RoundsParts {
  /** The name in the log. */
  name: string;
  /** Makes one round. @returns how long the next one may wait, in milliseconds */
  round(): Promise<number>;
  timing: EngineTiming;
  log: Log;
  /** In [0, 1), for jitter. */
  random(): number;
}

/** Makes rounds, one after the other, until it is closed. One that fails is made again after a growing pause. */
export class Rounds {
  readonly #parts: RoundsParts;
  readonly #pause = new EndablePause();
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(parts: RoundsParts) {
    this.#parts = parts;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  start(): void {
    if (!this.#closed) this.#running ??= this.#run();
  }

  /** A pause within a round, which closing ends. */
  pause(milliseconds: number): Promise<void> {
    return this.#pause.last(milliseconds);
  }

  /** Ends after the round under way. Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#pause.end();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { name, timing, random, log } = this.#parts;
    let failures = 0;
    while (!this.#closed) {
      try {
        await this.#pause.last(await this.#parts.round());
        failures = 0;
      } catch (error) {
        failures += 1;
        log.error({ err: error }, `${name} failed`);
        await this.#pause.last(backOff(failures, timing, random));
      }
    }
  }
}
