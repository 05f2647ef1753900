import { hash } from 'node:crypto';
import { Keypair, xdr } from '@stellar/stellar-sdk/base';

/** What the bytes of a transaction say. */
export interface Content {
  source: string;
  /** Of the whole transaction, in stroops. */
  fee: bigint;
  sequence: bigint;
  /** Unix seconds: no ledger that closes later takes it. */
  maxTime: bigint;
  memo: xdr.Memo;
  operations: readonly xdr.Operation[];
}

export function transactionOf({ source, fee, sequence, maxTime, memo, operations }: Content): xdr.Transaction {
  return new xdr.Transaction({
    sourceAccount: Keypair.fromPublicKey(source).xdrMuxedAccount(),
    fee: Number(fee),
    seqNum: sequence,
    cond: xdr.Preconditions.precondTime(new xdr.TimeBounds({ minTime: 0n, maxTime })),
    memo,
    operations: [...operations],
    ext: xdr.TransactionExt.v0(),
  });
}

/** What is signed, and what the chain knows it by: the network is part of it. */
export function hashOf(transaction: xdr.Transaction, passphrase: string): Buffer {
  const type = Buffer.alloc(4);
  type.writeInt32BE(xdr.EnvelopeType.envelopeTypeTx.value);
  return sha256(Buffer.concat([sha256(Buffer.from(passphrase, 'utf8')), type, transaction.toXdr()]));
}

/** The transaction with the signature of its source, in base64. */
export function envelopeOf(transaction: xdr.Transaction, publicKey: Uint8Array, signature: Uint8Array): string {
  const signatures = [new xdr.DecoratedSignature({ hint: publicKey.slice(-4), signature })];
  const envelope = new xdr.TransactionV1Envelope({ tx: transaction, signatures });
  return xdr.TransactionEnvelope.envelopeTypeTx(envelope).toXdr('base64');
}

const sha256 = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer');
