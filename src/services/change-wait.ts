/** The longest timer. A longer wait ends early, and its caller checks again. */
const MAX_MS = 2 ** 31 - 1;

/** Waits for a change, a time or an abort. A change between two waits ends the next wait at once. */
export class ChangeWait {
  readonly #signal: AbortSignal;
  readonly #stopListening: () => void;
  #changed = false;
  #wakeUp: (() => void) | null = null;
  readonly #end = () => {
    this.#changed = true;
    this.#wakeUp?.();
  };

  /** @param listen registers a listener and returns a function that removes it */
  constructor(listen: (listener: () => void) => () => void, signal: AbortSignal) {
    this.#signal = signal;
    this.#stopListening = listen(this.#end);
    signal.addEventListener('abort', this.#end);
  }

  /** Resolves after a change, an abort, or the given milliseconds. */
  async next(milliseconds: number): Promise<void> {
    if (!this.#changed && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(milliseconds, MAX_MS));
        this.#wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wakeUp = null;
    }
    this.#changed = false;
  }

  /** Stops listening. Safe to call twice. */
  close(): void {
    this.#stopListening();
    this.#signal.removeEventListener('abort', this.#end);
  }
}
