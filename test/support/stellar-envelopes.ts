import {
  Account,
  Asset,
  FeeBumpTransaction,
  Keypair,
  Operation,
  SorobanDataBuilder,
  Transaction,
  TransactionBuilder,
  type xdr,
} from '@stellar/stellar-sdk';
import {
  buildFeeBump,
  decorateSignature,
  encodeEnvelope,
  transactionHash,
} from '../../src/chains/stellar/message/transaction.ts';
import { readEnvelope } from '../../src/chains/stellar/message/transaction-envelope.ts';
import { PASSPHRASE, RELAYER } from './stellar-relayer.ts';

/** An account whose fees the relayer pays. */
export const CLIENT = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 22));
export const OTHER = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 23));

/**
 * Differences from the default envelope: a fee of 100, sequence 8, signed by its source, valid up to 2,000,000,000 s.
 */
export interface EnvelopeHow {
  fee?: string;
  minTime?: number;
  maxTime?: number;
  signers?: readonly Keypair[];
  passphrase?: string;
  sequence?: string;
  resourceFee?: bigint;
  with?: (builder: TransactionBuilder) => unknown;
}

/** An envelope as clients send it. */
export function envelopeText(source: Keypair, operations: readonly xdr.Operation[], how: EnvelopeHow = {}): string {
  const networkPassphrase = how.passphrase ?? PASSPHRASE;
  const account = new Account(source.publicKey(), String(BigInt(how.sequence ?? 8) - 1n));
  const builder = new TransactionBuilder(account, { fee: how.fee ?? '100', networkPassphrase });
  for (const operation of operations) builder.addOperation(operation);
  builder.setTimebounds(how.minTime ?? 0, how.maxTime ?? 2_000_000_000);
  if (how.resourceFee !== undefined) {
    builder.setSorobanData(new SorobanDataBuilder().setResourceFee(how.resourceFee).build());
  }
  how.with?.(builder);
  const transaction = builder.build();
  transaction.sign(...(how.signers ?? [source]));
  return transaction.toXdr();
}

/** A payment of lumens to somebody. */
export const payOp = (amount: string, source?: Keypair): xdr.Operation =>
  Operation.payment({
    destination: OTHER.publicKey(),
    amount,
    asset: Asset.native(),
    ...(source === undefined ? {} : { source: source.publicKey() }),
  });

/** A fee bump of the relayer around an envelope. */
export function bumpText(inner: string, fee: bigint, payer: Keypair = RELAYER): string {
  const bump = buildFeeBump(readEnvelope(inner), payer.publicKey(), fee);
  return encodeEnvelope(bump, [decorateSignature(payer.rawPublicKey(), payer.sign(transactionHash(bump, PASSPHRASE)))]);
}

/** Parses an envelope with the public library. */
export const transactionIn = (text: string): Transaction => new Transaction(text, PASSPHRASE);
export const feeBumpIn = (text: string): FeeBumpTransaction => new FeeBumpTransaction(text, PASSPHRASE);
