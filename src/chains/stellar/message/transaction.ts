import { hash } from 'node:crypto';
import { Keypair, xdr } from '@stellar/stellar-sdk/base';
import type { TransactionDraft } from './draft.ts';
import { capLedgerBounds, type Envelope } from './transaction-envelope.ts';

/** What the relayer adds to a draft of its own. */
export interface TransactionTerms {
  /** The fee of the whole transaction, in stroops. */
  fee: bigint;
  sequence: bigint;
  /** Unix seconds: no ledger that closes later takes it. */
  maxTime: bigint;
  /** What a simulation found for an operation of contracts. */
  contract?: ContractTerms | undefined;
}

export interface ContractTerms {
  /** What the transaction may touch and use. */
  data: xdr.SorobanTransactionData;
  consents: readonly xdr.SorobanAuthorizationEntry[];
  /** The last ledger that may take the transaction. */
  lastLedger: bigint | undefined;
}

export function buildTransaction(
  draft: TransactionDraft,
  { fee, sequence, maxTime, contract }: TransactionTerms,
): xdr.Transaction {
  const { source, minTime, memo, operations } = draft;
  const timeBounds = new xdr.TimeBounds({ minTime, maxTime });
  const ledgers = capLedgerBounds(contract?.lastLedger, draft.ledgers);
  return new xdr.Transaction({
    sourceAccount: source,
    fee: Number(fee),
    seqNum: sequence,
    cond: ledgers === null ? xdr.Preconditions.precondTime(timeBounds) : within(timeBounds, ledgers),
    memo,
    operations: contract === undefined ? [...operations] : operations.map((one) => consented(one, contract.consents)),
    ext: contract === undefined ? xdr.TransactionExt.v0() : xdr.TransactionExt.sorobanData(contract.data),
  });
}

function consented(operation: xdr.Operation, auth: readonly xdr.SorobanAuthorizationEntry[]): xdr.Operation {
  const { sourceAccount, body } = operation;
  if (body.type !== 'invokeHostFunction') return operation;
  const { hostFunction } = body.invokeHostFunctionOp;
  const call = new xdr.InvokeHostFunctionOp({ hostFunction, auth: [...auth] });
  return new xdr.Operation({ sourceAccount, body: xdr.OperationBody.invokeHostFunction(call) });
}

function within(timeBounds: xdr.TimeBounds, ledgerBounds: xdr.LedgerBounds): xdr.Preconditions {
  const nothing = { minSeqNum: null, minSeqAge: 0n, minSeqLedgerGap: 0, extraSigners: [] };
  return xdr.Preconditions.precondV2(new xdr.PreconditionsV2({ timeBounds, ledgerBounds, ...nothing }));
}

/** A fee bump around a transaction. Its payer gives at most this many stroops. */
export function buildFeeBump(
  { transaction, signatures }: Envelope,
  payer: string,
  fee: bigint,
): xdr.FeeBumpTransaction {
  const inner = new xdr.TransactionV1Envelope({ tx: transaction, signatures: [...signatures] });
  return new xdr.FeeBumpTransaction({
    feeSource: Keypair.fromPublicKey(payer).xdrMuxedAccount(),
    fee,
    innerTx: xdr.FeeBumpTransactionInnerTx.envelopeTypeTx(inner),
    ext: xdr.FeeBumpTransactionExt.v0(),
  });
}

/** The hash that is signed, and by which the chain knows the transaction. It covers the network's passphrase. */
export function transactionHash(transaction: xdr.Transaction | xdr.FeeBumpTransaction, passphrase: string): Buffer {
  const isFeeBump = transaction instanceof xdr.FeeBumpTransaction;
  const type = Buffer.alloc(4);
  type.writeInt32BE((isFeeBump ? xdr.EnvelopeType.envelopeTypeTxFeeBump : xdr.EnvelopeType.envelopeTypeTx).value);
  return sha256(Buffer.concat([sha256(Buffer.from(passphrase, 'utf8')), type, transaction.toXdr()]));
}

/** The transaction with signatures, in base64. */
export function encodeEnvelope(
  transaction: xdr.Transaction | xdr.FeeBumpTransaction,
  signatures: readonly xdr.DecoratedSignature[],
): string {
  const envelope =
    transaction instanceof xdr.FeeBumpTransaction
      ? xdr.TransactionEnvelope.envelopeTypeTxFeeBump(
          new xdr.FeeBumpTransactionEnvelope({ tx: transaction, signatures: [...signatures] }),
        )
      : xdr.TransactionEnvelope.envelopeTypeTx(
          new xdr.TransactionV1Envelope({ tx: transaction, signatures: [...signatures] }),
        );
  return envelope.toXdr('base64');
}

/** A signature with the hint that tells whose it is. */
export function decorateSignature(publicKey: Uint8Array, signature: Uint8Array): xdr.DecoratedSignature {
  return new xdr.DecoratedSignature({ hint: publicKey.slice(-4), signature });
}

const sha256 = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer');
