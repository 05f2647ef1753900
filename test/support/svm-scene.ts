import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  type PublicKey,
  type SignatureStatus,
  type Signer,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import { type Svm, startSvm } from '../doubles/svm/svm.ts';

/** An SVM that makes blocks only when told to, with Solana's public client. */
export interface SvmScene {
  readonly svm: Svm;
  /** At commitment `confirmed`. */
  readonly connection: Connection;
  /** An account with 10 SOL. */
  funded(): Promise<Keypair>;
  /** A legacy transaction under the newest confirmed blockhash; the first signer pays. */
  signed(signers: readonly [Signer, ...Signer[]], ...instructions: TransactionInstruction[]): Promise<Buffer>;
  /** Sends a transaction and makes blocks until it is confirmed. Resolves with the signature. */
  land(raw: Uint8Array): Promise<string>;
  /** Without a search in the history. */
  statusOf(signature: string): Promise<SignatureStatus | null>;
  /** The whole answer to one call, error included. */
  answerTo(method: string, ...params: unknown[]): Promise<Record<string, unknown>>;
}

/** Blocks with three blocks above them are final. */
export async function startSvmScene(): Promise<SvmScene> {
  const svm = await startSvm({ slotMs: 0, finalizedAfter: 3 });
  const connection = new Connection(svm.url, 'confirmed');
  return {
    svm,
    connection,
    async funded() {
      const payer = Keypair.generate();
      await svm.airdrop(payer.publicKey.toBase58(), 10n * BigInt(LAMPORTS_PER_SOL));
      return payer;
    },
    async signed(signers, ...instructions) {
      const [{ publicKey: feePayer }] = signers;
      const transaction = new Transaction({ feePayer, ...(await connection.getLatestBlockhash()) });
      transaction.add(...instructions).sign(...signers);
      return transaction.serialize();
    },
    async land(raw) {
      const signature = await connection.sendRawTransaction(raw);
      await svm.tick(2);
      return signature;
    },
    statusOf: async (signature) => (await connection.getSignatureStatus(signature)).value,
    async answerTo(method, ...params) {
      const response = await post(svm.url, { jsonrpc: '2.0', id: 7, method, params });
      return (await response.json()) as Record<string, unknown>;
    },
  };
}

/** One HTTP request with a body in JSON. */
export const post = (url: string, body: unknown): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

/** For raw calls of `sendTransaction`. */
export const CONFIRMED = { encoding: 'base64', preflightCommitment: 'confirmed' };

export const transfer = (from: Keypair, to: PublicKey, lamports: number) =>
  SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports });

/** An account that nobody has the key of. */
export const anyone = (): PublicKey => Keypair.generate().publicKey;

/** The text with which a promise rejects. */
export const refusalOf = (promise: Promise<unknown>): Promise<string> => promise.then(() => 'taken', String);
