import type { Clock } from '../../domain/clock.ts';

/** How long the statements of bodies may hold the event loop, in milliseconds. */
const HELD_MS = 5;

/**
 * The turns of the event loop that one write body takes. A long body pauses between its statements, so that requests do
 * not wait for all of it. A turn that ends while the body waits for something else makes the body overdue.
 */
export class BodyTurns {
  /** Rejects when the body is overdue. */
  readonly overdue: Promise<never>;
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #fail: () => void;
  #watch: NodeJS.Immediate;
  #began: number;
  #pause: Promise<void> | undefined;
  #ended = false;

  /**
   * @param began when the turn began in which the body starts; bodies before it may have taken a part of it
   * @param onOverdue called before `overdue` rejects
   */
  constructor(clock: Pick<Clock, 'elapsed'>, began: number, onOverdue: () => void) {
    const { promise, reject } = Promise.withResolvers<never>();
    this.overdue = promise;
    this.#clock = clock;
    this.#fail = () => {
      onOverdue();
      reject(new Error('A write body awaited something other than its writer; it was undone'));
    };
    this.#watch = setImmediate(this.#fail);
    this.#began = began;
  }

  /** Await this before each statement. Undefined: there is still time in this turn. */
  pause(): Promise<void> | undefined {
    if (this.#pause === undefined && this.#clock.elapsed() - this.#began >= HELD_MS) this.#pause = this.#nextTurn();
    return this.#pause;
  }

  /** When the turn began in which the body's latest statement ran. */
  get began(): number {
    return this.#began;
  }

  /** The body has ended. */
  end(): void {
    this.#ended = true;
    clearImmediate(this.#watch);
  }

  async #nextTurn(): Promise<void> {
    clearImmediate(this.#watch);
    await new Promise((resolve) => setImmediate(resolve));
    this.#pause = undefined;
    this.#began = this.#clock.elapsed();
    if (!this.#ended) this.#watch = setImmediate(this.#fail);
  }
}
