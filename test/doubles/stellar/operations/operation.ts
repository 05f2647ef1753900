import { xdr } from '@stellar/stellar-sdk';
import type { AccountId, Header } from '../ledger/entry.ts';
import type { State } from '../ledger/state.ts';
import type { Meter } from '../soroban/meter.ts';
import type { TransactionFrame } from '../transactions/frame.ts';

/** The context in which an operation is applied. */
export interface Acting {
  readonly state: State;
  readonly header: Header;
  /** The source of the operation. The default is the transaction's source. */
  readonly source: AccountId;
  readonly transaction: TransactionFrame;
  /** The operation's place in the transaction, from 0. */
  readonly place: number;
  readonly networkId: Buffer;
  /** Counts the resources of contracts. */
  readonly meter: Meter;
  /** Returns the ledger's next id for an entry with an id. */
  nextId(): bigint;
  /** The highest sequence that this ledger's transactions of the account use. */
  sequenceInLedger(account: AccountId): bigint;
}

export type Threshold = 'low' | 'medium' | 'high';

/** One operation. */
export interface Operation {
  /** The threshold that the signatures of its source must reach. */
  readonly threshold: Threshold;
  /** Returns the result of an operation that is invalid in any ledger. */
  check(source: AccountId, transaction: TransactionFrame): xdr.OperationResult | undefined;
  /** Applies the operation. Its changes only count if it succeeds. */
  apply(acting: Acting): xdr.OperationResult;
}

export const told = (result: xdr.OperationResultTr): xdr.OperationResult => xdr.OperationResult.opInner(result);

export function isSuccess(result: xdr.OperationResult): boolean {
  return result.type === 'opInner' && result.tr.value.type.endsWith('Success');
}

/** The number of bytes after a success code, for results that have more than the code. */
const SUCCESS_BYTES: Readonly<Record<string, number>> = {
  pathPaymentStrictReceive: 52,
  pathPaymentStrictSend: 52,
  manageSellOffer: 84,
  createPassiveSellOffer: 84,
  manageBuyOffer: 84,
  accountMerge: 8,
  inflation: 4,
  createClaimableBalance: 36,
  invokeHostFunction: 32,
};

/** The result of an operation that was not reached: a success with zeros, as stellar-core initialises it. */
export function blankResult(body: xdr.OperationBody): xdr.OperationResult {
  const bytes = Buffer.alloc(12 + (SUCCESS_BYTES[body.type] ?? 0));
  bytes.writeInt32BE(xdr.OperationType.fromName(body.type).value, 4);
  return xdr.OperationResult.fromXdr(bytes);
}
