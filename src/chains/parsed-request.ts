import type { Transaction } from '../domain/transaction/transaction.ts';

/** A checked request as the engine keeps it. */
export interface ParsedRequest
  extends Pick<Transaction, 'request' | 'validUntil' | 'anchorKind' | 'onDeath' | 'contentKey'> {
  /** By which the chain knows its bytes, where the account has signed them before. */
  signedAs?: string;
}
