import type { Clock } from './domain/clock.ts';
import { AppError } from './domain/errors.ts';
import type { Store } from './store/store.ts';

/**
 * The outcome of a write: it is on disk (`kept`), its body threw or its lease was lost (`undone`), or the store could
 * not write it (`failed`).
 */
export type WriteOutcome = 'kept' | 'undone' | 'failed';

/** Counts writes by outcome. */
interface WriteMetrics {
  /** `seconds` is the time since the request, including the queue. `failure` is the reason of a failed write. */
  wrote(outcome: WriteOutcome, seconds: number, failure?: string): void;
}

/** A store whose writes are counted. */
export interface MeteredStore extends Store {
  /** How long the oldest write that is under way has waited, in milliseconds; 0 when there is none. */
  oldestWriteMs(): number;
}

/** Returns the store with each write counted when it ends. */
export function meteredStore(store: Store, metrics: WriteMetrics, clock: Pick<Clock, 'elapsed'>): MeteredStore {
  /** The writes under way, the oldest first. */
  const underWay = new Set<{ began: number }>();
  const metered = async <T>(write: () => Promise<T>): Promise<T> => {
    const began = clock.elapsed();
    const entry = { began };
    underWay.add(entry);
    let outcome: WriteOutcome = 'kept';
    let failure: string | undefined;
    try {
      return await write();
    } catch (cause) {
      outcome = cause instanceof AppError && cause.code === 'UNAVAILABLE' ? 'failed' : 'undone';
      if (outcome === 'failed') failure = reasonOf(cause);
      throw cause;
    } finally {
      underWay.delete(entry);
      metrics.wrote(outcome, (clock.elapsed() - began) / 1000, failure);
    }
  };
  return {
    oldestWriteMs() {
      const [oldest] = underWay;
      return oldest === undefined ? 0 : clock.elapsed() - oldest.began;
    },
    read: store.read,
    write: (body) => metered(() => store.write(body)),
    writeUnder: (lease, body) => metered(() => store.writeUnder(lease, body)),
    leases: store.leases,
    buckets: store.buckets,
    instances: store.instances,
    hints: store.hints,
    now: () => store.now(),
    place: () => store.place(),
    warnings: () => store.warnings(),
    close: () => store.close(),
  };
}

/** Returns the reason for operators, with the database's own message. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== message ? `${message}: ${cause.message}` : message;
}
