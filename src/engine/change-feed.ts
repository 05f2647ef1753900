/** Tells listeners that a transaction's stored state changed. Carries no state: a listener reads the store. */
export class ChangeFeed {
  readonly #listeners = new Map<string, Set<{ call: () => void }>>();
  readonly #ofAny = new Set<{ call: () => void }>();
  readonly #onFault: (error: unknown) => void;
  readonly #passOn: (transactionId: string) => void;

  /**
   * `onFault` is called with the error of a listener that threw; the others are still called. `passOn` tells other
   * instances.
   */
  constructor(onFault: (error: unknown) => void, passOn: (transactionId: string) => void = () => {}) {
    this.#onFault = onFault;
    this.#passOn = passOn;
  }

  /** Returns a function that stops listening; calling it again does nothing. */
  on(transactionId: string, listener: () => void): () => void {
    const entry = { call: listener };
    const listeners = this.#listeners.get(transactionId) ?? new Set();
    listeners.add(entry);
    this.#listeners.set(transactionId, listeners);
    return () => {
      listeners.delete(entry);
      if (listeners.size === 0 && this.#listeners.get(transactionId) === listeners) {
        this.#listeners.delete(transactionId);
      }
    };
  }

  /** Listens to every change. Returns a function that stops that. */
  onAny(listener: () => void): () => void {
    const entry = { call: listener };
    this.#ofAny.add(entry);
    return () => this.#ofAny.delete(entry);
  }

  /** Calls the listeners of {@link onAny}: some transaction may have changed. */
  notifyAny(): void {
    this.#call(this.#ofAny);
  }

  /** Calls the transaction's listeners, here and on other instances. */
  notify(transactionId: string): void {
    this.notifyHere(transactionId);
    this.#passOn(transactionId);
  }

  /** Calls the transaction's listeners here: another instance changed it. */
  notifyHere(transactionId: string): void {
    this.#call(this.#listeners.get(transactionId) ?? []);
    this.notifyAny();
  }

  #call(listeners: Iterable<{ call: () => void }>): void {
    for (const { call } of [...listeners]) {
      try {
        call();
      } catch (error) {
        this.#onFault(error);
      }
    }
  }

  /** How many transactions are listened to. */
  get size(): number {
    return this.#listeners.size;
  }
}
