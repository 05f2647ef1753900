import { AsyncLocalStorage } from 'node:async_hooks';
import type { KyselyPlugin } from 'kysely';
import { StoreUnavailable } from '../domain/errors.ts';

/** Where a query may run: `inside` a write body, by its writer, or `outside`. */
export type QueryPlace = 'inside' | 'outside';

interface Scope {
  open: boolean;
}

/**
 * Tracks whether code runs inside a write body. Refuses queries that would deadlock there, or that would write outside
 * a transaction. One per store.
 */
export class BodyGuard {
  readonly #scope = new AsyncLocalStorage<Scope>();
  #closed = false;

  /** Runs a body. Its writer stops working when the body ends, or when `abandon` ends it. */
  enter<T>(body: () => Promise<T>): { ended: Promise<T>; abandon: () => void } {
    const scope: Scope = { open: true };
    const close = () => {
      scope.open = false;
    };
    return { ended: this.#scope.run(scope, body).finally(close), abandon: close };
  }

  /** Refuses new queries from now on. Bodies that have begun may finish. */
  close(): void {
    this.#closed = true;
  }

  /**
   * Throws after {@link close}, and inside a body. There `store.read` would not see the body's writes, and
   * `store.write` would wait for itself.
   */
  assertOutside(): void {
    if (this.#closed) throw new StoreUnavailable('The store is closed');
    if (this.#scope.getStore()?.open) {
      throw new Error('Inside a write body use its writer; store.read and store.write are for outside');
    }
  }

  /** Throws when a query for this place must not run now. */
  assert(place: QueryPlace): void {
    if (place === 'outside') this.assertOutside();
    else if (!this.#scope.getStore()?.open)
      throw new Error('This write body has ended; its writer cannot be used any more');
  }

  /** Plugin for a store's reader: allows its queries only outside bodies. */
  readonly outside: KyselyPlugin = passThrough(() => this.assert('outside'));

  /** Plugin for a store's writer: allows its queries only inside the body that it was given to. */
  readonly inside: KyselyPlugin = passThrough(() => this.assert('inside'));
}

function passThrough(check: () => void): KyselyPlugin {
  return {
    transformQuery({ node }) {
      check();
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
}
