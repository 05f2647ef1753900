import { xdr } from '@stellar/stellar-sdk';
import type { AccountId, Header } from '../ledger/entry.ts';
import type { State } from '../ledger/state.ts';
import type { Meter } from '../soroban/meter.ts';
import type { TransactionFrame } from '../transactions/frame.ts';

/** Where an operation acts. */
export interface Acting {
  readonly state: State;
  readonly header: Header;
  /** The operation's own source, or the transaction's. */
  readonly source: AccountId;
  readonly transaction: TransactionFrame;
  readonly networkId: Buffer;
  /** Of what contracts use. */
  readonly meter: Meter;
  /** The ledger's next identifier for what has one. */
  nextId(): bigint;
  /** The highest sequence that an account's transactions have in this ledger. */
  sequenceInLedger(account: AccountId): bigint;
}

export type Threshold = 'low' | 'medium' | 'high';

/** One operation, with what it asks and does. */
export interface Operation {
  /** Which of its source's thresholds the signatures must reach. */
  readonly threshold: Threshold;
  /** What is wrong with it whatever the ledger holds. */
  check(source: AccountId, transaction: TransactionFrame): xdr.OperationResult | undefined;
  /** What it changes counts only if it succeeds. */
  apply(acting: Acting): xdr.OperationResult;
}

export const told = (result: xdr.OperationResultTr): xdr.OperationResult => xdr.OperationResult.opInner(result);

export function isSuccess(result: xdr.OperationResult): boolean {
  return result.type === 'opInner' && result.tr.value.type.endsWith('Success');
}

/** Bytes behind the code of a success, where it says more than that. */
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

/** What stands for an operation that nobody came to: a success of zeros, as stellar-core prepares it. */
export function blankResult(body: xdr.OperationBody): xdr.OperationResult {
  const bytes = Buffer.alloc(12 + (SUCCESS_BYTES[body.type] ?? 0));
  bytes.writeInt32BE(xdr.OperationType.fromName(body.type).value, 4);
  return xdr.OperationResult.fromXdr(bytes);
}
