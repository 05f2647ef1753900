/**
 * The promise: the SVM that other tests judge by speaks Solana's own protocol. Solana's public client drives it.
 */
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  SendTransactionError,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import t from 'tap';
import { startSvm } from '../support/svm.ts';

const svm = await startSvm({ slotMs: 0 });
t.teardown(() => svm.stop());
const connection = new Connection(svm.url, 'confirmed');

async function funded(): Promise<Keypair> {
  const payer = Keypair.generate();
  await svm.airdrop(payer.publicKey.toBase58(), 10n * BigInt(LAMPORTS_PER_SOL));
  return payer;
}

async function signed(payer: Keypair, ...instructions: TransactionInstruction[]): Promise<Buffer> {
  const transaction = new Transaction({ feePayer: payer.publicKey, ...(await connection.getLatestBlockhash()) });
  transaction.add(...instructions).sign(payer);
  return transaction.serialize();
}

const transfer = (from: Keypair, to: Keypair, lamports: number) =>
  SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to.publicKey, lamports });

const statusOf = async (signature: string) => (await connection.getSignatureStatus(signature)).value;

t.test('a transfer is processed, confirmed and final', async (t) => {
  const payer = await funded();
  const to = Keypair.generate();
  const signature = await connection.sendRawTransaction(await signed(payer, transfer(payer, to, 5_000_000)));
  t.equal(await statusOf(signature), null, 'no block holds it');

  await svm.tick();
  t.match(await statusOf(signature), { err: null, confirmationStatus: 'processed', confirmations: 0 });
  t.equal(await connection.getBalance(to.publicKey, 'confirmed'), 0);
  t.equal(await connection.getBalance(to.publicKey, 'processed'), 5_000_000);
  await svm.tick();
  t.match(await statusOf(signature), { confirmationStatus: 'confirmed', confirmations: 1 });
  t.equal(await connection.getBalance(to.publicKey, 'confirmed'), 5_000_000);
  t.equal(await connection.getBalance(to.publicKey, 'finalized'), 0);
  await svm.tick(5);
  t.match(await statusOf(signature), { confirmationStatus: 'finalized', confirmations: null });
  t.equal(await connection.getBalance(payer.publicKey, 'finalized'), 10 * LAMPORTS_PER_SOL - 5_005_000);
});

t.test('a preflight that fails says why and sends nothing', async (t) => {
  const payer = await funded();
  const raw = await signed(payer, transfer(payer, Keypair.generate(), 50 * LAMPORTS_PER_SOL));
  const error = await connection.sendRawTransaction(raw).catch((caught: unknown) => caught);
  t.type(error, SendTransactionError);
  t.match(String(error), 'Error processing Instruction 0: custom program error: 0x1');
  t.match(String(error), 'insufficient lamports');
  await svm.tick();
  t.equal(await connection.getBalance(payer.publicKey, 'processed'), 10 * LAMPORTS_PER_SOL);
});
