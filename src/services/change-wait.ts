/** What a timer can hold; a longer wait looks once more after this. */
const LONGEST_MS = 2 ** 31 - 1;

/** A wait that a change, a pause or an abort ends. A change that comes between two waits ends the next one at once. */
export class ChangeWait {
  readonly #signal: AbortSignal;
  readonly #stopListening: () => void;
  #changed = false;
  #wakeUp: (() => void) | null = null;
  readonly #end = () => {
    this.#changed = true;
    this.#wakeUp?.();
  };

  /** `listen` takes a listener and returns the way to stop that. */
  constructor(listen: (listener: () => void) => () => void, signal: AbortSignal) {
    this.#signal = signal;
    this.#stopListening = listen(this.#end);
    signal.addEventListener('abort', this.#end);
  }

  /** Resolves after a change, an abort, or the given milliseconds. */
  async next(milliseconds: number): Promise<void> {
    if (!this.#changed && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(milliseconds, LONGEST_MS));
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
