import type { Clock } from './domain/clock.ts';
import { AppError } from './domain/errors.ts';
import type { Store } from './store/store.ts';

/**
 * What became of a write: it is on disk (`kept`), its body threw or its lease was lost (`undone`), or the store could
 * not write it (`failed`).
 */
export type WriteOutcome = 'kept' | 'undone' | 'failed';

/** Counts what becomes of writes. */
interface WriteMetrics {
  /** `seconds` from the asking on, with the time in the queue; `failure` says why one has failed. */
  wrote(outcome: WriteOutcome, seconds: number, failure?: string): void;
}

/** The same store, each of whose writes is counted when it has ended. */
export function meteredStore(store: Store, metrics: WriteMetrics, clock: Pick<Clock, 'elapsed'>): Store {
  const metered = async <T>(write: () => Promise<T>): Promise<T> => {
    const began = clock.elapsed();
    let outcome: WriteOutcome = 'kept';
    let failure: string | undefined;
    try {
      return await write();
    } catch (cause) {
      outcome = cause instanceof AppError && cause.code === 'UNAVAILABLE' ? 'failed' : 'undone';
      if (outcome === 'failed') failure = reasonOf(cause);
      throw cause;
    } finally {
      metrics.wrote(outcome, (clock.elapsed() - began) / 1000, failure);
    }
  };
  return {
    read: store.read,
    write: (body) => metered(() => store.write(body)),
    writeUnder: (lease, body) => metered(() => store.writeUnder(lease, body)),
    leases: store.leases,
    buckets: store.buckets,
    instances: store.instances,
    hints: store.hints,
    now: () => store.now(),
    place: () => store.place(),
    close: () => store.close(),
  };
}

/** With what the database itself said, which is for operators. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== message ? `${message}: ${cause.message}` : message;
}
