import {
  type Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { RelayerAccount } from '../../src/chains/chain-client.ts';
import type { SolanaFields } from '../../src/chains/solana/schema.ts';
import type { JsonObject } from '../../src/domain/json/json.ts';
import { type Attempt, UNACCEPTED_ATTEMPT } from '../../src/features/transactions/records/attempt.ts';
import { newTransaction, type Transaction } from '../../src/features/transactions/records/transaction.ts';
import { createKeySigner } from '../../src/signers/held-key.ts';
import type { Signer } from '../../src/signers/signer.ts';
import { keypair } from './solana-messages.ts';
import { keyOf } from './solana-node.ts';

/** The relayer of the tests. */
export const RELAYER: Keypair = keypair(21);

const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

/** A signer over a key pair. */
export const signerOf = (keys: Keypair): Signer => createKeySigner('test', Buffer.from(keys.secretKey.subarray(0, 32)));

/** The relayer's account; it pays the fees. */
export const relayerAccount = (policies: JsonObject = {}): RelayerAccount => ({
  address: RELAYER.publicKey.toBase58(),
  policies: { fee_payment_strategy: 'relayer', ...policies },
});

/** A memo, which others may sign. */
export function memo(text: string, ...signers: readonly Keypair[]): TransactionInstruction {
  const keys = signers.map(({ publicKey }) => ({ pubkey: publicKey, isSigner: true, isWritable: false }));
  return new TransactionInstruction({ programId: MEMO, keys, data: Buffer.from(text) });
}

/** An instruction as clients write it. */
export const onWire = ({ programId, keys, data }: TransactionInstruction) => ({
  program_id: programId.toBase58(),
  accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({
    pubkey: pubkey.toBase58(),
    is_signer: isSigner,
    is_writable: isWritable,
  })),
  data: data.toString('base64'),
});

/** How a transaction is built. */
export interface Built {
  payer?: PublicKey;
  blockhash?: string;
  /** Who signs it, other than the relayer. */
  signers?: readonly Keypair[];
}

/** Base64 of a legacy transaction as the public client makes it. */
export function built(instructions: TransactionInstruction[], options: Built = {}): string {
  const { payer = RELAYER.publicKey, blockhash: recentBlockhash = keyOf(7), signers = [] } = options;
  const message = new TransactionMessage({ payerKey: payer, recentBlockhash, instructions });
  const transaction = new VersionedTransaction(message.compileToLegacyMessage());
  transaction.sign([...signers]);
  return Buffer.from(transaction.serialize()).toString('base64');
}

/** A transaction as the engine would have stored it, sent. */
export function storedSolana(over: Partial<Transaction> = {}): Transaction {
  return {
    ...newTransaction({
      id: '00000000-0000-4000-8000-000000000001',
      relayerId: 'relayer',
      networkType: 'solana',
      lane: `solana:${keyOf(1)}:${RELAYER.publicKey.toBase58()}`,
      createdAt: 1_700_000_000_000,
      validUntil: null,
      request: { instructions: [onWire(memo('hello'))] },
      anchorKind: 'none',
      onDeath: 'renew',
      contentKey: null,
    }),
    status: 'submitted',
    nextActionAt: 0,
    ...over,
  };
}

/** The decided fields of a memo: it can be in a block up to height 900, and in no slot below 800. */
export function fieldsOf(over: Partial<SolanaFields> = {}): JsonObject {
  const { message } = VersionedTransaction.deserialize(Buffer.from(built([memo('hello')]), 'base64'));
  return {
    message: Buffer.from(message.serialize()).toString('base64'),
    signatures: [''],
    last_valid_block_height: 900,
    slot: 800,
    fee: 5_000,
    ...over,
  };
}

/** A signed version as the engine would have stored it. */
export function storedAttempt(hash: string, over: Partial<Attempt> = {}): Attempt {
  const { id: transactionId, lane, request } = storedSolana();
  const about = { transactionId, ordinal: 1, lane, anchor: { kind: 'none' }, purpose: 'send', request } as const;
  return { ...about, fields: fieldsOf(), raw: 'AQAB', hash, createdAt: 0, ...UNACCEPTED_ATTEMPT, ...over };
}
