import { largestAmount } from '../../../domain/amount.ts';
import { type AppError, invalidRequest } from '../../../domain/errors.ts';
import type { Timestamp } from '../../../features/transactions/records/transaction.ts';
import type { ParsedRequest, RelayerAccount } from '../../chain-client.ts';
import { policyFault, readPolicy } from '../configuration/policy.ts';
import { BASE_FEE } from '../fees.ts';
import { accountLossFault, ownFundsFault } from '../guard/accounts.ts';
import { trustLineAssets } from '../guard/tokens.ts';
import {
  accountOfAddress,
  accountOfMuxed,
  type Envelope,
  MalformedEnvelope,
  preconditionsOf,
  readEnvelope,
  timeBoundsOf,
  transactionShapeFault,
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
export function xdrFault(text: string, cause?: unknown): AppError {
  return invalidRequest(`Transaction validation error: ${text}`, cause);
}

/** @throws AppError `INVALID_REQUEST` that names the field */
export function parseEnvelope(text: string, field = 'transaction_xdr'): Envelope {
  try {
    return readEnvelope(text);
  } catch (error) {
    if (!(error instanceof MalformedEnvelope)) throw error;
    throw xdrFault(`Invalid XDR: invalid \`${field}\`: ${error.message}`, error);
  }
}

/**
 * Checks what has to hold for every envelope, whoever has made it.
 * @throws AppError `INVALID_REQUEST`
 */
export function assertEnvelopeSound({ envelope: { transaction }, source }: EnvelopeForm, account: string): void {
  const fault = transactionShapeFault(transaction);
  // The reference has these words twice.
  if (fault !== undefined) throw xdrFault(`Transaction validation error: ${fault}`);
  const own = accountOfMuxed(transaction.sourceAccount);
  if (source !== null && ![account, own].includes(accountOfAddress(source))) {
    throw invalidRequest(`source_account ${source} is not that of transaction_xdr, ${own}`);
  }
}

/**
 * When the transaction ends, by its own bounds or the request's, whichever is earlier; null where neither ends it.
 * @throws AppError `INVALID_REQUEST` for bounds that have ended
 */
export function earliestExpiry({ envelope, validUntil }: EnvelopeForm, now: Timestamp): Timestamp | null {
  const { maxTime } = timeBoundsOf(envelope.transaction);
  if (maxTime === 0n) return validUntil;
  // An end that is later than any date counts as no end.
  const end = maxTime > LAST_SECOND ? null : Number(maxTime) * 1_000;
  if (end !== null && end <= now) throw xdrFault(`The time bounds of transaction_xdr ended at ${maxTime}`);
  if (end === null || validUntil === null) return end ?? validUntil;
  return Math.min(end, validUntil);
}

/** The last second that a date can hold. */
const LAST_SECOND = 8_640_000_000_000n;

/** In the reference's words. */
const NOT_SPONSORED =
  'Gasless transactions (User fee payment strategy) are not supported via unsigned_xdr path. Please use fee_bump path (SignedXdr) for gasless transactions.';

/**
 * Checks an envelope of the relayer's account that nobody has signed. The lane gives its sequence. The transaction ends
 * no later than the envelope says, and bids no less.
 * @throws AppError `INVALID_REQUEST`
 */
export function parseUnsignedEnvelope(form: EnvelopeForm, account: RelayerAccount, now: Timestamp): ParsedRequest {
  const { envelope, text } = form;
  const { transaction } = envelope;
  assertOwnEnvelope(envelope, account.address);
  assertEnvelopeSound(form, account.address);
  const policy = readPolicy(account.policies);
  if (policy.feePaymentStrategy === 'user' && trustLineAssets(transaction, policy) === undefined)
    throw xdrFault(NOT_SPONSORED);
  const spends = ownFundsFault(transaction, account.address, policy);
  if (spends !== undefined) throw xdrFault(spends);
  const least = BASE_FEE * BigInt(transaction.operations.length);
  const bid = BigInt(transaction.fee);
  const tooDear = policyFault(policy, { fee: largestAmount(bid, least) });
  if (tooDear !== undefined) throw xdrFault(tooDear.reason);
  return {
    request: { transaction: text },
    validUntil: earliestExpiry(form, now),
    anchorKind: 'sequence',
    onDeath: 'renew',
    contentKey: null,
  };
}

/**
 * Checks an envelope that the relayer sends in its own name, whoever pays for it.
 * @throws AppError `INVALID_REQUEST`
 */
export function assertOwnEnvelope(envelope: Envelope, relayer: string): void {
  const source = accountOfMuxed(envelope.transaction.sourceAccount);
  if (source !== relayer) throw xdrFault(`XDR source account ${source} does not match relayer account ${relayer}`);
  const fault = faultOf(envelope, relayer);
  if (fault !== undefined) throw xdrFault(fault);
}

/** Why the relayer cannot send an envelope in its own name; undefined where it can. */
function faultOf({ transaction, isFeeBump }: Envelope, account: string): string | undefined {
  if (isFeeBump) return 'A fee bump of the relayer’s own transaction is its own to make: give the transaction in it';
  const asked = preconditionsOf(transaction);
  if (asked !== null) {
    const { minSeqNum, minSeqAge, minSeqLedgerGap, extraSigners } = asked;
    if (minSeqNum !== null || minSeqAge !== 0n || minSeqLedgerGap !== 0) {
      return 'The relayer sets the sequence: transaction_xdr must not have preconditions about it';
    }
    if (extraSigners.length > 0) return 'Only the relayer signs: transaction_xdr must not require extra signers';
  }
  return accountLossFault(transaction, account);
}
