import type { ChainClient } from '../../src/chains/chain-client.ts';
import type { Store } from '../../src/store/store.ts';

/**
 * The death of an engine in the middle of its work: from one moment on nothing that it waits for ever answers, so it
 * can do nothing more. What it had asked for may still happen, as with a process that is killed.
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

  /** All is over: what the dead still wait for fails, so that nothing of them goes on waiting. */
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
        // What is not asked of the network answers at once.
        if (name === 'patienceMs') return member.bind(target) as unknown;
        return (...args: unknown[]) => this.#call(() => Reflect.apply(member, target, args) as Promise<unknown>);
      },
    });
  }

  /** Half of the deaths come before the call has its effect, half after: the count goes down on either side of it. */
  async #call<T>(call: () => Promise<T>): Promise<T> {
    await this.#step();
    try {
      return await call();
    } finally {
      // The dead hear of failures no more than of answers.
      await this.#step();
    }
  }

  async #step(): Promise<void> {
    if (this.#left > 0) this.#left -= 1;
    if (this.#left > 0) return;
    await this.#over.promise;
  }
}
