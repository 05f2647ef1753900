import { AppError } from '../domain/errors.ts';
import type { Transaction } from '../domain/transaction/transaction.ts';
import type { Reader } from '../store/store.ts';

/**
 * Finds a transaction of a relayer.
 * @throws AppError `RELAYER_NOT_FOUND`, `TRANSACTION_NOT_FOUND`
 */
export async function findTransaction(
  read: Pick<Reader, 'transaction' | 'hasRelayer'>,
  relayerId: string,
  transactionId: string,
): Promise<Transaction> {
  const transaction = await read.transaction(relayerId, transactionId);
  if (transaction !== undefined) return transaction;
  if (!(await read.hasRelayer(relayerId))) throw new AppError('RELAYER_NOT_FOUND', { id: relayerId });
  throw new AppError('TRANSACTION_NOT_FOUND', { id: transactionId });
}
