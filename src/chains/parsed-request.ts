import type { Transaction } from '../domain/transaction/transaction.ts';

/** A checked request as the engine keeps it. */
export interface ParsedRequest
  extends Pick<Transaction, 'request' | 'validUntil' | 'anchorKind' | 'onDeath' | 'contentKey'> {
  /** The name by which the chain knows the transaction's bytes, if the account has signed them before. */
  signedAs?: string;
}
