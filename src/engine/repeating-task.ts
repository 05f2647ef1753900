import { EndablePause } from '../domain/endable-pause.ts';
import type { Log } from '../observability/log.ts';
import { backOff, type EngineTiming } from './timing.ts';

export interface RepeatingTaskParts {
  /** The name in the log. */
  name: string;
  /** Does the task once. @returns how long the next time may wait, in milliseconds */
  once(): Promise<number>;
  timing: EngineTiming;
  log: Log;
  /** In [0, 1), for jitter. */
  random(): number;
}

/** Does a task again and again, until it is closed. One that fails is done again after a growing pause. */
export class RepeatingTask {
  readonly #parts: RepeatingTaskParts;
  readonly #pause = new EndablePause();
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(parts: RepeatingTaskParts) {
    this.#parts = parts;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  start(): void {
    if (!this.#closed) this.#running ??= this.#run();
  }

  /** A pause within the task, which closing ends. */
  pause(milliseconds: number): Promise<void> {
    return this.#pause.last(milliseconds);
  }

  /** Ends when the task has ended that is under way. Safe to call twice. */
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
        await this.#pause.last(await this.#parts.once());
        failures = 0;
      } catch (error) {
        failures += 1;
        log.error({ err: error }, `${name} failed`);
        await this.#pause.last(backOff(failures, timing, random));
      }
    }
  }
}
