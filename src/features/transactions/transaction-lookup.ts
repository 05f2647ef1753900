import type { Clock } from '../../domain/clock.ts';
import { EndablePause } from '../../domain/endable-pause.ts';
import { AppError } from '../../domain/errors.ts';
import { whenKnown } from '../../domain/when-known.ts';
import type { Engine } from '../../engine/engine.ts';
import type { StoreReader } from '../../store/store.ts';
import type { Transaction } from './records/transaction.ts';

/**
 * Finds a transaction of a relayer.
 * @throws AppError `RELAYER_NOT_FOUND`, `TRANSACTION_NOT_FOUND`
 */
export function findTransaction(
  read: Pick<StoreReader, 'transaction' | 'hasRelayer'>,
  relayerId: string,
  transactionId: string,
): Transaction | Promise<Transaction> {
  return whenKnown(read.transaction(relayerId, transactionId), (transaction) => {
    if (transaction !== undefined) return transaction;
    return whenKnown(read.hasRelayer(relayerId), (isThere): never => {
      if (!isThere) throw new AppError('RELAYER_NOT_FOUND', { id: relayerId });
      throw new AppError('TRANSACTION_NOT_FOUND', { id: transactionId });
    });
  });
}

/** The longest timer. A longer wait looks once more in between. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** How often and how long to look. The signal ends the wait with its reason. */
interface PollTiming {
  intervalMs: number;
  timeoutMs: number;
  signal?: AbortSignal;
}

/**
 * Looks at a transaction after each change of it until something is found. Looks at intervals too, because another
 * instance's notice of a change may be lost.
 * @returns what was found; undefined after the time-out
 */
export async function pollTransaction<T>(
  { engine, clock }: { engine: Pick<Engine, 'onChange'>; clock: Pick<Clock, 'elapsed'> },
  transactionId: string,
  look: () => Promise<T | undefined>,
  { intervalMs, timeoutMs, signal }: PollTiming,
): Promise<T | undefined> {
  const deadline = clock.elapsed() + timeoutMs;
  const pause = new EndablePause();
  const wake = () => pause.end();
  const stopListening = engine.onChange(transactionId, wake);
  signal?.addEventListener('abort', wake);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const found = await look();
      if (found !== undefined) return found;
      const left = deadline - clock.elapsed();
      if (left <= 0) return undefined;
      await pause.last(Math.min(intervalMs, left, MAX_TIMER_MS));
    }
  } finally {
    stopListening();
    signal?.removeEventListener('abort', wake);
  }
}
