import type { ChainClient } from '../../src/chains/chain-client.ts';
import type { Store } from '../../src/store/store.ts';

/**
 * Simulates a killed engine. From one moment on, nothing that the engine waits for answers, so it can do nothing more.
 * What it had asked for may still happen, as after the end of a process.
 */
export class Crash {
  #left: number;
  readonly #over = Promise.withResolvers<never>();

  /** Dies around the given number of calls from now; at once for 0. */
  constructor(calls: number) {
    this.#left = calls;
    this.#over.promise.catch(() => {});
  }

  get hasHappened(): boolean {
    return this.#left === 0;
  }

  /** Dies now. */
  now(): void {
    this.#left = 0;
  }

  /** Ends the simulation. All pending calls of dead engines fail, so that none waits for ever. */
  bury(): void {
    this.#over.reject(new Error('it died'));
  }

  /** The same store, for as long as the engine lives. */
  store(store: Store): Store {
    return {
      ...store,
      read: this.#mortal(store.read),
      write: (body) => this.#call(() => store.write(body)),
      writeUnder: (lease, body) => this.#call(() => store.writeUnder(lease, body)),
      now: () => this.#call(() => store.now()),
      leases: this.#mortal(store.leases),
    };
  }

  /** The same client, for as long as the engine lives. */
  client(client: ChainClient): ChainClient {
    return this.#mortal(client);
  }

  #mortal<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (_, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        // Answers at once, because it makes no call to the network.
        if (name === 'patienceMs') return member.bind(target) as unknown;
        return (...args: unknown[]) => this.#call(() => Reflect.apply(member, target, args) as Promise<unknown>);
      },
    });
  }

  /**
   * Counts down before and after the call. So half of the deaths come before the call has its effect, and half after
   * it.
   */
  async #call<T>(call: () => Promise<T>): Promise<T> {
    await this.#step();
    try {
      return await call();
    } finally {
      // A dead engine gets no failures and no answers.
      await this.#step();
    }
  }

  async #step(): Promise<void> {
    if (this.#left > 0) this.#left -= 1;
    if (this.#left > 0) return;
    await this.#over.promise;
  }
}
