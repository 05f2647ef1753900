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
