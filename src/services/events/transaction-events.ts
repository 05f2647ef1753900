import type { EventPlace, TransactionEvent } from '../../domain/transaction/transaction-event.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Store } from '../../store/store.ts';

/** What becomes of transactions, for who follows it. */
export interface TransactionEvents {
  /** Where they end now. */
  latest(): Promise<EventPlace>;
  /** Whether all that followed an event can still be told: for an hour at least. */
  isKept(place: EventPlace): Promise<boolean>;
  /** Those that follow, at most `limit`, of all instances. */
  after(place: EventPlace, limit: number): Promise<TransactionEvent[]>;
  /** Calls back when there may be more, though not always for those of other instances; returns the way to stop that. */
  onNews(listener: () => void): () => void;
}

export function createTransactionEvents(store: Pick<Store, 'read'>, engine: Pick<Engine, 'onNews'>): TransactionEvents {
  const { read } = store;
  return {
    latest: () => read.latestTransactionEvent(),
    isKept: (place) => read.isKeptTransactionEvent(place),
    after: (place, limit) => read.transactionEvents(place, limit),
    onNews: (listener) => engine.onNews(listener),
  };
}
