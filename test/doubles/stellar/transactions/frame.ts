import { createHash } from 'node:crypto';
import { xdr } from '@stellar/stellar-sdk';
import { accountOfMuxed } from '../ledger/address.ts';
import type { AccountId } from '../ledger/entry.ts';

/** A transaction that can be submitted, alone or in a fee bump. */
export type Frame = TransactionFrame | FeeBumpFrame;

/** Operations of contract transactions. */
const SOROBAN = new Set(['invokeHostFunction', 'extendFootprintTtl', 'restoreFootprint']);

export const isSorobanOperation = ({ body }: xdr.Operation): boolean => SOROBAN.has(body.type);

/** A transaction in its envelope, with the values that the rules need. */
export class TransactionFrame {
  readonly kind = 'transaction';
  readonly envelope: xdr.TransactionEnvelope;
  readonly tx: xdr.Transaction;
  readonly signatures: readonly xdr.DecoratedSignature[];
  /** The hash that is signed, which identifies the transaction. */
  readonly hash: string;
  /** The hash of the envelope with its signatures. Queues identify transactions by it. */
  readonly fullHash: string;
  readonly source: AccountId;
  readonly operationSources: readonly AccountId[];

  constructor(v1: xdr.TransactionV1Envelope, networkId: Buffer) {
    this.envelope = xdr.TransactionEnvelope.envelopeTypeTx(v1);
    this.tx = v1.tx;
    this.signatures = v1.signatures;
    this.hash = contentHash(networkId, xdr.EnvelopeType.envelopeTypeTx, v1.tx);
    this.fullHash = sha256(this.envelope.toXdr()).toString('hex');
    this.source = accountOfMuxed(v1.tx.sourceAccount);
    this.operationSources = v1.tx.operations.map(({ sourceAccount }) =>
      sourceAccount === null ? this.source : accountOfMuxed(sourceAccount),
    );
  }

  get inner(): TransactionFrame {
    return this;
  }

  get feeSource(): AccountId {
    return this.source;
  }

  get sequence(): bigint {
    return this.tx.seqNum;
  }

  /** The number of operations that the fee is for. */
  get size(): number {
    return this.tx.operations.length;
  }

  get fullFee(): bigint {
    return BigInt(this.tx.fee);
  }

  /** The bid for a place in a ledger: the full fee without the resource fee. */
  get inclusionFee(): bigint {
    return this.fullFee - this.resourceFee;
  }

  get isSoroban(): boolean {
    const [first] = this.tx.operations;
    return first !== undefined && isSorobanOperation(first);
  }

  get sorobanData(): xdr.SorobanTransactionData | undefined {
    return this.tx.ext.type === 'sorobanData' ? this.tx.ext.sorobanData : undefined;
  }

  get resourceFee(): bigint {
    return this.isSoroban ? (this.sorobanData?.resourceFee ?? 0n) : 0n;
  }

  get preconditions(): xdr.PreconditionsV2 | undefined {
    return this.tx.cond.type === 'precondV2' ? this.tx.cond.v2 : undefined;
  }

  get timeBounds(): xdr.TimeBounds | null {
    if (this.tx.cond.type === 'precondTime') return this.tx.cond.timeBounds;
    return this.preconditions?.timeBounds ?? null;
  }
}

/** A transaction whose fee another account pays (CAP-15). */
export class FeeBumpFrame {
  readonly kind = 'fee-bump';
  readonly envelope: xdr.TransactionEnvelope;
  readonly signatures: readonly xdr.DecoratedSignature[];
  readonly hash: string;
  readonly fullHash: string;
  readonly inner: TransactionFrame;
  readonly feeSource: AccountId;
  readonly fullFee: bigint;

  constructor(feeBump: xdr.FeeBumpTransactionEnvelope, networkId: Buffer) {
    this.envelope = xdr.TransactionEnvelope.envelopeTypeTxFeeBump(feeBump);
    this.signatures = feeBump.signatures;
    this.hash = contentHash(networkId, xdr.EnvelopeType.envelopeTypeTxFeeBump, feeBump.tx);
    this.fullHash = sha256(this.envelope.toXdr()).toString('hex');
    this.inner = new TransactionFrame(feeBump.tx.innerTx.v1, networkId);
    this.feeSource = accountOfMuxed(feeBump.tx.feeSource);
    this.fullFee = feeBump.tx.fee;
  }

  get source(): AccountId {
    return this.inner.source;
  }

  get sequence(): bigint {
    return this.inner.sequence;
  }

  /** The fee bump counts as one more operation. */
  get size(): number {
    return this.inner.size + 1;
  }

  get inclusionFee(): bigint {
    return this.fullFee - this.inner.resourceFee;
  }

  get isSoroban(): boolean {
    return this.inner.isSoroban;
  }

  get resourceFee(): bigint {
    return this.inner.resourceFee;
  }
}

/** Reads version 0 of an envelope as version 1, as nodes have done since protocol 13. */
export function frameOf(envelope: xdr.TransactionEnvelope, networkId: Buffer): Frame {
  if (envelope.type === 'envelopeTypeTxFeeBump') return new FeeBumpFrame(envelope.feeBump, networkId);
  if (envelope.type === 'envelopeTypeTx') return new TransactionFrame(envelope.v1, networkId);
  const { tx, signatures } = envelope.v0;
  const v1 = new xdr.Transaction({
    sourceAccount: xdr.MuxedAccount.keyTypeEd25519(tx.sourceAccountEd25519),
    fee: tx.fee,
    seqNum: tx.seqNum,
    cond: tx.timeBounds === null ? xdr.Preconditions.precondNone() : xdr.Preconditions.precondTime(tx.timeBounds),
    memo: tx.memo,
    operations: tx.operations,
    ext: xdr.TransactionExt.v0(),
  });
  return new TransactionFrame(new xdr.TransactionV1Envelope({ tx: v1, signatures }), networkId);
}

export function networkIdOf(passphrase: string): Buffer {
  return sha256(Buffer.from(passphrase, 'utf8'));
}

function contentHash(networkId: Buffer, type: xdr.EnvelopeType, content: { toXdr(): Uint8Array }): string {
  const tag = Buffer.alloc(4);
  tag.writeInt32BE(type.value);
  return sha256(Buffer.concat([networkId, tag, content.toXdr()])).toString('hex');
}

export const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();
