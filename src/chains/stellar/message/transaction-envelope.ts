import { decodeAddressToMuxedAccount, StrKey, xdr } from '@stellar/stellar-sdk/base';

/** The most operations of one transaction, by the protocol. */
export const MAX_OPERATIONS = 100;

/** A transaction with the signatures that it has so far. */
export interface Envelope {
  transaction: xdr.Transaction;
  signatures: readonly xdr.DecoratedSignature[];
  /**
   * Whether the text is a fee bump around this transaction. The signatures then include those of the fee bump itself.
   */
  isFeeBump: boolean;
}

/** Thrown for a text that is no envelope; says why. */
export class MalformedEnvelope extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
    this.name = 'MalformedEnvelope';
  }
}

/**
 * Reads an envelope of any form. The first form becomes the second: it means the same, and is signed as the second
 * (CAP-15).
 * @throws MalformedEnvelope
 */
export function readEnvelope(text: string): Envelope {
  let read: xdr.TransactionEnvelope;
  try {
    read = xdr.TransactionEnvelope.fromXdr(text, 'base64');
  } catch (error) {
    throw new MalformedEnvelope('not the base64 of a transaction envelope', error);
  }
  if (read.type === 'envelopeTypeTx') {
    return { transaction: read.v1.tx, signatures: read.v1.signatures, isFeeBump: false };
  }
  if (read.type === 'envelopeTypeTxV0') {
    return { transaction: secondForm(read.v0.tx), signatures: read.v0.signatures, isFeeBump: false };
  }
  const { tx, signatures } = read.feeBump;
  return { transaction: tx.innerTx.v1.tx, signatures: [...tx.innerTx.v1.signatures, ...signatures], isFeeBump: true };
}

function secondForm(tx: xdr.TransactionV0): xdr.Transaction {
  return new xdr.Transaction({
    sourceAccount: xdr.MuxedAccount.keyTypeEd25519(tx.sourceAccountEd25519),
    fee: tx.fee,
    seqNum: tx.seqNum,
    cond: tx.timeBounds === null ? xdr.Preconditions.precondNone() : xdr.Preconditions.precondTime(tx.timeBounds),
    memo: tx.memo,
    operations: tx.operations,
    ext: xdr.TransactionExt.v0(),
  });
}

/** The account behind an address, `G…` or `M…`. */
export function accountOfMuxed(muxed: xdr.MuxedAccount): string {
  const key = muxed.type === 'keyTypeEd25519' ? muxed.ed25519 : muxed.med25519.ed25519;
  return StrKey.encodeEd25519PublicKey(key.toBytes());
}

/** The account that a text names in either form; any other text stays as it is. */
export function accountOfAddress(text: string): string {
  return StrKey.isValidMed25519PublicKey(text) ? accountOfMuxed(decodeAddressToMuxedAccount(text)) : text;
}

/** What a transaction asks of the chain beyond plain time bounds; null where it asks nothing. */
export function preconditionsOf({ cond }: xdr.Transaction): xdr.PreconditionsV2 | null {
  return cond.type === 'precondV2' ? cond.v2 : null;
}

/** Time bounds in Unix seconds; 0 means no bound. */
export interface TimeBounds {
  minTime: bigint;
  maxTime: bigint;
}

export function timeBoundsOf(transaction: xdr.Transaction): TimeBounds {
  const { cond } = transaction;
  const bounds = cond.type === 'precondTime' ? cond.timeBounds : preconditionsOf(transaction)?.timeBounds;
  return { minTime: bounds?.minTime ?? 0n, maxTime: bounds?.maxTime ?? 0n };
}

/**
 * Ledger bounds with the earlier of two ends. They name the first ledger that does not take the transaction (CAP-21).
 */
export function capLedgerBounds(last: bigint | undefined, ledgers: xdr.LedgerBounds | null): xdr.LedgerBounds | null {
  if (last === undefined) return ledgers;
  const { minLedger, maxLedger } = ledgers ?? { minLedger: 0, maxLedger: 0 };
  const end = Number(last) + 1;
  return new xdr.LedgerBounds({ minLedger, maxLedger: maxLedger === 0 ? end : Math.min(maxLedger, end) });
}

const SOROBAN = new Set(['invokeHostFunction', 'extendFootprintTtl', 'restoreFootprint']);

/** Whether the rules of contracts hold for a transaction. */
export function isSoroban({ operations }: { operations: readonly xdr.Operation[] }): boolean {
  return operations.some(({ body }) => SOROBAN.has(body.type));
}

/** What a contract's transaction pays beside its place in a ledger, in stroops. */
export function resourceFeeOf({ ext }: xdr.Transaction): bigint {
  return ext.type === 'sorobanData' ? ext.sorobanData.resourceFee : 0n;
}

/** Why the protocol refuses the shape of a transaction, in the reference's words; undefined where it does not. */
export function transactionShapeFault(transaction: xdr.Transaction): string | undefined {
  const { operations, memo } = transaction;
  if (operations.length === 0) return 'Transaction has no operations';
  if (operations.length > MAX_OPERATIONS) {
    return `Transaction has ${operations.length} operations, but maximum allowed is ${MAX_OPERATIONS}`;
  }
  if (!isSoroban(transaction)) return undefined;
  const contracts = operations.filter(({ body }) => SOROBAN.has(body.type));
  if (contracts.length > 1) return 'Transaction can contain at most one Soroban operation';
  if (operations.length > 1) {
    return 'Soroban operations must be exclusive - no other operations allowed in the same transaction';
  }
  return memo.type === 'memoNone' ? undefined : 'Soroban operations cannot have a memo (except MemoNone)';
}
