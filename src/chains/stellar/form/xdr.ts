import { type AppError, invalidRequest } from '../../../domain/errors.ts';
import type { Timestamp } from '../../../domain/transaction/transaction.ts';
import {
  accountNamed,
  accountOf,
  boundsOf,
  type Envelope,
  MalformedEnvelope,
  readEnvelope,
  shapeFault,
} from '../message/transaction-envelope.ts';

/** A send request by an envelope. */
export interface EnvelopeForm {
  text: string;
  envelope: Envelope;
  /** The `source_account` beside it, if any. */
  source: string | null;
  validUntil: Timestamp | null;
}

/** A fault in a request's envelope, with the reference's first words. */
export function inXdr(text: string, cause?: unknown): AppError {
  return invalidRequest(`Transaction validation error: ${text}`, cause);
}

/** @throws AppError `INVALID_REQUEST` that names the field */
export function enveloped(text: string, field = 'transaction_xdr'): Envelope {
  try {
    return readEnvelope(text);
  } catch (error) {
    if (!(error instanceof MalformedEnvelope)) throw error;
    throw inXdr(`Invalid XDR: invalid \`${field}\`: ${error.message}`, error);
  }
}

/**
 * Checks what has to hold for every envelope, whoever has made it.
 * @throws AppError `INVALID_REQUEST`
 */
export function assertSound({ envelope: { transaction }, source }: EnvelopeForm, account: string): void {
  const fault = shapeFault(transaction);
  // The reference has these words twice.
  if (fault !== undefined) throw inXdr(`Transaction validation error: ${fault}`);
  const own = accountOf(transaction.sourceAccount);
  if (source !== null && ![account, own].includes(accountNamed(source))) {
    throw invalidRequest(`source_account ${source} is not that of transaction_xdr, ${own}`);
  }
}

/**
 * When the transaction ends, by its own bounds or the request's, whichever is earlier; null where neither ends it.
 * @throws AppError `INVALID_REQUEST` for bounds that have ended
 */
export function earlierEnd({ envelope, validUntil }: EnvelopeForm, now: Timestamp): Timestamp | null {
  const { maxTime } = boundsOf(envelope.transaction);
  if (maxTime === 0n) return validUntil;
  // An end that is later than any date counts as no end.
  const end = maxTime > LAST_SECOND ? null : Number(maxTime) * 1_000;
  if (end !== null && end <= now) throw inXdr(`The time bounds of transaction_xdr ended at ${maxTime}`);
  if (end === null || validUntil === null) return end ?? validUntil;
  return Math.min(end, validUntil);
}

/** The last second that a date can hold. */
const LAST_SECOND = 8_640_000_000_000n;
