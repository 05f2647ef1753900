import { TransactionInstruction } from '@solana/web3.js';
import { publicKeyOf } from '../message/compiled-message.ts';
import { TOKEN_PROGRAM } from '../programs.ts';
import { createAssociatedAccountInstruction, wrappedSolAccount } from '../tokens/associated.ts';
import type { Mint } from '../tokens/mint.ts';
import type { TokenAccount } from '../tokens/token-account.ts';
import { lamportsTransfer } from '../tokens/transfer.ts';
import type { OwnTokenAccounts } from './guard.ts';

/*
 * The transaction itself checks what has to hold at the end of a swap. A transfer of an amount from an account to that
 * same account proves that the amount is there, or the whole transaction fails. So nothing depends on a market's word
 * or on a trial.
 */

const TRANSFER = 3;
const REVOKE = 5;
const CLOSE = 9;

/** Makes sure that the account of wrapped SOL is there and empty. What it held before becomes SOL. */
export function emptyWrappedSolInstructions(relayer: string, wrapped: Mint): TransactionInstruction[] {
  const made = createAssociatedAccountInstruction(relayer, relayer, wrapped);
  return [made, unwrapping(relayer), made];
}

/** Closes the account of wrapped SOL: all of it becomes SOL. */
function unwrapping(relayer: string): TransactionInstruction {
  return new TransactionInstruction({
    programId: publicKeyOf(TOKEN_PROGRAM),
    keys: [
      { pubkey: publicKeyOf(wrappedSolAccount(relayer)), isSigner: false, isWritable: true },
      { pubkey: publicKeyOf(relayer), isSigner: false, isWritable: true },
      { pubkey: publicKeyOf(relayer), isSigner: true, isWritable: false },
    ],
    data: Buffer.from([CLOSE]),
  });
}

/** What has to be left when a swap is over. */
export interface SwapRemainder {
  relayer: string;
  /** On the relayer's account, in lamports; zero asserts nothing. */
  lamports: bigint;
  /** The wrapped SOL that has to arrive, in lamports. */
  brought: bigint;
  /** The relayer's other accounts that the swap may write, and what has to be in each. */
  tokens: OwnTokenAccounts;
}

/** Instructions that fail unless all of this is left. They also revoke delegates, so that nobody can take it later. */
export function swapAssertions({ relayer, lamports, brought, tokens }: SwapRemainder): TransactionInstruction[] {
  return [
    ...[...tokens].flatMap(([account, held]) => [
      ...(held.amount > 0n ? [amountAssertion(account, held, relayer)] : []),
      revocation(account, held, relayer),
    ]),
    amountAssertion(wrappedSolAccount(relayer), { program: TOKEN_PROGRAM, amount: brought }, relayer),
    ...(lamports > 0n ? [lamportsTransfer(relayer, relayer, lamports)] : []),
    unwrapping(relayer),
  ];
}

type Holding = Pick<TokenAccount, 'program' | 'amount'>;

/** A transfer from an account to itself, which proves the amount. No transfer fee is taken. */
function amountAssertion(account: string, { program, amount }: Holding, relayer: string): TransactionInstruction {
  const data = Buffer.alloc(9);
  data.writeUInt8(TRANSFER);
  data.writeBigUInt64LE(amount, 1);
  return new TransactionInstruction({
    programId: publicKeyOf(program),
    keys: [
      { pubkey: publicKeyOf(account), isSigner: false, isWritable: true },
      { pubkey: publicKeyOf(account), isSigner: false, isWritable: true },
      { pubkey: publicKeyOf(relayer), isSigner: true, isWritable: false },
    ],
    data,
  });
}

/** Revokes the account's delegate. Only the owner can do so, which proves that the relayer still owns the account. */
function revocation(account: string, { program }: Holding, relayer: string): TransactionInstruction {
  return new TransactionInstruction({
    programId: publicKeyOf(program),
    keys: [
      { pubkey: publicKeyOf(account), isSigner: false, isWritable: true },
      { pubkey: publicKeyOf(relayer), isSigner: true, isWritable: false },
    ],
    data: Buffer.from([REVOKE]),
  });
}
