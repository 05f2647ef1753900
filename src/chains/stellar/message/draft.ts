import { Asset, decodeAddressToMuxedAccount, Keypair, xdr } from '@stellar/stellar-sdk/base';
import { amountOf } from '../../../domain/amount.ts';
import type { WireAsset, WireMemo, WirePayment } from '../form/operation.ts';
import type { ForwardRequest, OwnRequest, StellarFields, StellarOperation, SwapRequest } from '../schema.ts';
import { parseAuthorizationEntry } from './authorization.ts';
import { consentsOf, hostFunctionOf } from './contract.ts';
import { feeForwardOf, forwardBodyOf } from './forward.ts';
import { capLedgerBounds, preconditionsOf, readEnvelope, resourceFeeOf, timeBoundsOf } from './transaction-envelope.ts';

/** A transaction of the relayer's account without sequence, fee and end, whoever has written it. */
export interface TransactionDraft {
  source: xdr.MuxedAccount;
  operations: readonly xdr.Operation[];
  memo: xdr.Memo;
  /** Unix seconds: no ledger that closes before takes it. */
  minTime: bigint;
  /** The client's own end, in Unix seconds; null where it has none. */
  maxTime: bigint | null;
  ledgers: xdr.LedgerBounds | null;
  /** What the client bids for its place in a ledger, in stroops. */
  bid: bigint;
  /** What an operation of contracts touches, as the client says; null where the client does not say. */
  data: xdr.SorobanTransactionData | null;
  /** Whether a simulation has to find the needed consents, because the client names none. */
  finds: boolean;
}

/** The draft of a request for a transaction of an account. */
export function draftTransaction(request: OwnRequest, address: string): TransactionDraft {
  if ('forward' in request) return forwardDraft(request);
  if ('transaction' in request) return draftIn(readEnvelope(request.transaction).transaction);
  return {
    source: Keypair.fromPublicKey(address).xdrMuxedAccount(),
    operations: request.operations.map(operationOf),
    memo: memoOf(request.memo),
    minTime: 0n,
    maxTime: null,
    ledgers: null,
    bid: 0n,
    ...contractPart(request.operations),
  };
}

/** The draft of a prepared request. The operation of a swap was found when it was prepared. */
export function preparedDraft(request: OwnRequest | SwapRequest, { source, swap }: StellarFields): TransactionDraft {
  if (!('swap' in request)) return draftTransaction(request, source);
  if (swap === undefined) throw new TypeError('what a swap does is decided before it is signed');
  return draftOfOperation(xdr.Operation.fromXdr(swap.operation, 'base64'), source);
}

/** The draft of one operation of an account; what a call needs is found by simulation. */
export function draftOfOperation(operation: xdr.Operation, address: string): TransactionDraft {
  return {
    source: Keypair.fromPublicKey(address).xdrMuxedAccount(),
    operations: [operation],
    memo: memoOf(undefined),
    minTime: 0n,
    maxTime: null,
    ledgers: null,
    bid: 0n,
    data: null,
    finds: operation.body.type === 'invokeHostFunction',
  };
}

function contractPart([operation]: readonly StellarOperation[]): Pick<TransactionDraft, 'data' | 'finds'> {
  switch (operation?.type) {
    case 'invoke_contract':
    case 'create_contract':
    case 'upload_wasm':
      return { data: null, finds: consentsOf(operation) === null };
    case 'restore_footprint':
      return { data: xdr.SorobanTransactionData.fromXdr(operation.data, 'base64'), finds: false };
    default:
      return { data: null, finds: false };
  }
}

function draftIn(transaction: xdr.Transaction): TransactionDraft {
  const { sourceAccount: source, operations, memo, fee, ext } = transaction;
  const { minTime, maxTime } = timeBoundsOf(transaction);
  return {
    source,
    operations,
    memo,
    minTime,
    bid: BigInt(fee) - resourceFeeOf(transaction),
    maxTime: maxTime === 0n ? null : maxTime,
    ledgers: preconditionsOf(transaction)?.ledgerBounds ?? null,
    data: ext.type === 'sorobanData' ? ext.sorobanData : null,
    finds: !operations.some(
      ({ body }) => body.type === 'invokeHostFunction' && body.invokeHostFunctionOp.auth.length > 0,
    ),
  };
}

/** The call of a forwarder, with the consent that its user has signed. */
function forwardDraft({ forward, consent }: ForwardRequest): TransactionDraft {
  const { transaction } = readEnvelope(forward);
  const asked = feeForwardOf(transaction);
  const signed = parseAuthorizationEntry(consent);
  if (asked === undefined || signed === undefined) throw new TypeError('not a call of a forwarder that was accepted');
  const draft = draftIn(transaction);
  return {
    ...draft,
    operations: [new xdr.Operation({ sourceAccount: null, body: forwardBodyOf(asked, signed) })],
    ledgers: capLedgerBounds(BigInt(asked.lastLedger), draft.ledgers),
    // The relayer decides the bid, and a simulation finds the rest.
    bid: 0n,
    data: null,
    finds: false,
  };
}

/** An operation of the transaction's own source. An operation of contracts gets the consents that the client names. */
export function operationOf(operation: StellarOperation): xdr.Operation {
  return new xdr.Operation({ sourceAccount: null, body: bodyOf(operation) });
}

function bodyOf(operation: StellarOperation): xdr.OperationBody {
  switch (operation.type) {
    case 'payment':
      return xdr.OperationBody.payment(paymentOf(operation));
    case 'bump_sequence':
      return xdr.OperationBody.bumpSequence(new xdr.BumpSequenceOp({ bumpTo: amountOf(operation.bump_to) }));
    case 'restore_footprint':
      return xdr.OperationBody.restoreFootprint(new xdr.RestoreFootprintOp({ ext: xdr.ExtensionPoint.v0() }));
    case 'invoke_contract':
    case 'create_contract':
    case 'upload_wasm':
      return xdr.OperationBody.invokeHostFunction(
        new xdr.InvokeHostFunctionOp({ hostFunction: hostFunctionOf(operation), auth: consentsOf(operation) ?? [] }),
      );
    default:
      return operation satisfies never;
  }
}

function paymentOf({ destination, asset, amount }: WirePayment): xdr.PaymentOp {
  return new xdr.PaymentOp({
    destination: decodeAddressToMuxedAccount(destination),
    asset: assetOf(asset).toXdrObject(),
    amount: amountOf(amount),
  });
}

function assetOf(asset: WireAsset): Asset {
  return asset.type === 'native' ? Asset.native() : new Asset(asset.code, asset.issuer);
}

export function memoOf(memo: WireMemo | undefined): xdr.Memo {
  switch (memo?.type) {
    case undefined:
    case 'none':
      return xdr.Memo.memoNone();
    case 'text':
      return xdr.Memo.memoText(memo.value);
    case 'id':
      return xdr.Memo.memoId(amountOf(memo.value));
    case 'hash':
      return xdr.Memo.memoHash(Buffer.from(memo.value, 'hex'));
    case 'return':
      return xdr.Memo.memoReturn(Buffer.from(memo.value, 'hex'));
    default:
      return memo satisfies never;
  }
}
