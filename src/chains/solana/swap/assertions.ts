import type { Instruction } from '../message/compile.ts';
import { TOKEN_PROGRAM } from '../programs.ts';
import { createAssociated } from '../tokens/associated.ts';
import type { Mint } from '../tokens/mint.ts';
import type { TokenAccount } from '../tokens/token-account.ts';
import { lamportsTransfer } from '../tokens/transfer.ts';
import type { OwnAccounts } from './guard.ts';
import { wrappedAccount } from './wrapped.ts';

/*
 * What has to hold at the end of a swap is a part of the transaction itself: who moves an amount from an account to that
 * same account proves that it is there, or the whole transaction fails. So nothing hangs on a market's word, nor on a trial.
 */

const TRANSFER = 3;
const REVOKE = 5;
const CLOSE = 9;

/** The account is there and empty: what was in it before becomes SOL. */
export function emptied(relayer: string, wrapped: Mint): Instruction[] {
  const made = createAssociated(relayer, relayer, wrapped);
  return [made, unwrapping(relayer), made];
}

/** All of the wrapped SOL becomes SOL. */
function unwrapping(relayer: string): Instruction {
  return {
    program: TOKEN_PROGRAM,
    accounts: [
      { key: wrappedAccount(relayer), isSigner: false, isWritable: true },
      { key: relayer, isSigner: false, isWritable: true },
      { key: relayer, isSigner: true, isWritable: false },
    ],
    data: Buffer.from([CLOSE]),
  };
}

/** What is to be left when a swap is over. */
export interface Remainder {
  relayer: string;
  /** On the relayer's account, in lamports; below one nothing is asserted. */
  lamports: bigint;
  /** In wrapped SOL. */
  brought: bigint;
  /** The relayer's other accounts that the swap may write, and what has to be in each. */
  tokens: OwnAccounts;
}

/** Fails unless all of it is there. Nobody is left who could take it later. */
export function assertions({ relayer, lamports, brought, tokens }: Remainder): Instruction[] {
  return [
    ...[...tokens].flatMap(([account, held]) => [
      ...(held.amount > 0n ? [kept(account, held, relayer)] : []),
      revocation(account, held, relayer),
    ]),
    kept(wrappedAccount(relayer), { program: TOKEN_PROGRAM, amount: brought }, relayer),
    ...(lamports > 0n ? [lamportsTransfer(relayer, relayer, lamports)] : []),
    unwrapping(relayer),
  ];
}

type Holding = Pick<TokenAccount, 'program' | 'amount'>;

/** From an account to itself; no fee is taken of that. */
function kept(account: string, { program, amount }: Holding, relayer: string): Instruction {
  const data = Buffer.alloc(9);
  data.writeUInt8(TRANSFER);
  data.writeBigUInt64LE(amount, 1);
  return {
    program,
    accounts: [
      { key: account, isSigner: false, isWritable: true },
      { key: account, isSigner: false, isWritable: true },
      { key: relayer, isSigner: true, isWritable: false },
    ],
    data,
  };
}

/** Only the owner can: so it still is. */
function revocation(account: string, { program }: Holding, relayer: string): Instruction {
  return {
    program,
    accounts: [
      { key: account, isSigner: false, isWritable: true },
      { key: relayer, isSigner: true, isWritable: false },
    ],
    data: Buffer.from([REVOKE]),
  };
}
