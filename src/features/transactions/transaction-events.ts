import type { Engine } from '../../engine/engine.ts';
import type { Store } from '../../store/store.ts';
import type { EventPlace, TransactionEvent } from './records/transaction-event.ts';

/** The events of transactions. */
export interface TransactionEvents {
  /** The place of the latest event. */
  latest(): Promise<EventPlace>;
  /** Whether all events after a place are still stored. They are stored for at least an hour. */
  isKept(place: EventPlace): Promise<boolean>;
  /** The events after a place, of all instances, at most `limit`. */
  after(place: EventPlace, limit: number): Promise<TransactionEvent[]>;
  /**
   * Calls the listener when there may be new events, though not always for those of other instances. Returns a function
   * that stops this.
   */
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
