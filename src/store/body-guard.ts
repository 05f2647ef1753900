import { AsyncLocalStorage } from 'node:async_hooks';
import type { KyselyPlugin } from 'kysely';
import { AppError } from '../domain/errors.ts';

/** Where a query may be made: within a write body, by its writer, or anywhere else. */
export type QueryPlace = 'inside' | 'outside';

interface Scope {
  open: boolean;
}

/**
 * Knows whether code runs inside a write body, and refuses what would dead-lock there or write outside a transaction.
 * One per store.
 */
export class BodyGuard {
  readonly #scope = new AsyncLocalStorage<Scope>();
  #closed = false;

  /** Runs a body; when it ends, or is ended by `abandon`, its writer is of no more use. */
  enter<T>(body: () => Promise<T>): { ended: Promise<T>; abandon: () => void } {
    const scope: Scope = { open: true };
    const close = () => {
      scope.open = false;
    };
    return { ended: this.#scope.run(scope, body).finally(close), abandon: close };
  }

  /** From now on the store is not asked for anything; bodies that have begun may finish. */
  close(): void {
    this.#closed = true;
  }

  /** Fails after {@link close}, and inside a body: `store.read` would not see the body's writes, `store.write` would wait for itself. */
  assertOutside(): void {
    if (this.#closed) throw new AppError('UNAVAILABLE', { reason: 'The store is closed' });
    if (this.#scope.getStore()?.open) {
      throw new Error('Inside a write body use its writer; store.read and store.write are for outside');
    }
  }

  /** Fails where a query of this place must not be made. */
  assert(place: QueryPlace): void {
    if (place === 'outside') this.assertOutside();
    else if (!this.#scope.getStore()?.open)
      throw new Error('This write body has ended; its writer cannot be used any more');
  }

  /** For the reader of a store: each of its queries is made outside bodies. */
  readonly outside: KyselyPlugin = passThrough(() => this.assert('outside'));

  /** For the writer of a store: each of its queries is made inside the body that it was given to. */
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
