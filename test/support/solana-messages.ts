import { createAssociatedTokenAccountIdempotentInstruction, createTransferCheckedInstruction } from '@solana/spl-token';
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { fc } from './properties.ts';

/** The parts of a message, in the terms of Solana's public client. */
export interface MessagePlan {
  payer: PublicKey;
  blockhash: string;
  instructions: TransactionInstruction[];
  tables: AddressLookupTableAccount[];
}

/** An instruction by its keys, in base58. */
export interface Call {
  program: string;
  accounts: readonly { key: string; isSigner: boolean; isWritable: boolean }[];
  data: Buffer;
}

/** The instruction in the public client's form. */
export const callOf = ({ program, accounts, data }: Call): TransactionInstruction =>
  new TransactionInstruction({
    programId: new PublicKey(program),
    keys: accounts.map(({ key, ...rights }) => ({ pubkey: new PublicKey(key), ...rights })),
    data,
  });

/** A key pair that is always the same. */
export const keypair = (seed: number): Keypair => Keypair.fromSeed(Buffer.alloc(32, seed));

const KEYS = { minLength: 4, maxLength: 14, selector: (key: Uint8Array) => Buffer.from(key).toString('hex') };
const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
const account = fc.record({ pick: fc.nat(), isSigner: fc.boolean(), isWritable: fc.boolean() });
const call = fc.record({
  pick: fc.nat(),
  accounts: fc.array(account, { maxLength: 8 }),
  data: fc.uint8Array({ maxLength: 150 }),
});

/** Any instructions over a few accounts. Some of the accounts are in lookup tables. The payer is not a program. */
export const messagePlan: fc.Arbitrary<MessagePlan> = fc
  .record({ keys: fc.uniqueArray(key, KEYS), blockhash: key, calls: fc.array(call, { maxLength: 4 }), cut: fc.nat(14) })
  .map(({ keys, blockhash, calls, cut }) => {
    const [payer = PublicKey.default, ...others] = keys.map((bytes) => new PublicKey(bytes));
    const pick = (from: PublicKey[], number: number) => from[number % from.length] ?? payer;
    return {
      payer,
      blockhash: new PublicKey(blockhash).toBase58(),
      instructions: calls.map(
        (each) =>
          new TransactionInstruction({
            programId: pick(others, each.pick),
            keys: each.accounts.map((at) => ({ ...at, pubkey: pick([payer, ...others], at.pick) })),
            data: Buffer.from(each.data),
          }),
      ),
      tables: [table(1, others.slice(0, cut)), table(2, others.slice(cut))],
    };
  });

function table(seed: number, addresses: PublicKey[]): AddressLookupTableAccount {
  const state = { deactivationSlot: 0n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0, addresses };
  return new AddressLookupTableAccount({ key: keypair(seed).publicKey, state });
}

const [payer, owner, recipient, mint, blockhash] = [11, 12, 13, 14, 15].map(keypair) as [
  Keypair,
  Keypair,
  Keypair,
  Keypair,
  Keypair,
];

const transfer = SystemProgram.transfer({
  fromPubkey: payer.publicKey,
  toPubkey: recipient.publicKey,
  lamports: 1_234_567,
});
const tokenTransfer = [
  ComputeBudgetProgram.setComputeUnitLimit({ units: 60_000 }),
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 12_345n }),
  createAssociatedTokenAccountIdempotentInstruction(
    payer.publicKey,
    keypair(16).publicKey,
    recipient.publicKey,
    mint.publicKey,
  ),
  createTransferCheckedInstruction(
    keypair(17).publicKey,
    mint.publicKey,
    keypair(16).publicKey,
    owner.publicKey,
    500_000n,
    6,
  ),
];
const nonced = [
  SystemProgram.nonceAdvance({ noncePubkey: keypair(18).publicKey, authorizedPubkey: owner.publicKey }),
  transfer,
];

/** Transactions as wallets make them: signed by all, or with the payer's place still empty. */
export const realTransactions: Readonly<Record<string, VersionedTransaction>> = {
  'a transfer of SOL': legacy([transfer], payer),
  'a transfer of tokens that another is to pay for': legacy(tokenTransfer, owner),
  'a durable nonce': legacy(nonced, payer, owner),
  'a transfer of tokens with two lookup tables': withTables(tokenTransfer, payer, owner),
};

function draft(instructions: TransactionInstruction[]): TransactionMessage {
  return new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash.publicKey.toBase58(),
    instructions,
  });
}

function legacy(instructions: TransactionInstruction[], ...signers: Keypair[]): VersionedTransaction {
  const transaction = new VersionedTransaction(draft(instructions).compileToLegacyMessage());
  transaction.sign(signers);
  return transaction;
}

function withTables(instructions: TransactionInstruction[], ...signers: Keypair[]): VersionedTransaction {
  const tables = [
    table(3, [keypair(16).publicKey, recipient.publicKey]),
    table(4, [keypair(19).publicKey, mint.publicKey, keypair(17).publicKey]),
  ];
  const transaction = new VersionedTransaction(draft(instructions).compileToV0Message(tables));
  transaction.sign(signers);
  return transaction;
}
