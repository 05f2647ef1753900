import { toBase58 } from './base58.ts';
import type { NativeAccount } from './native.ts';

export const TOKEN_PROGRAMS = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
] as const;

/** The contents of a token account. */
export interface TokenAccount {
  program: string;
  mint: string;
  owner: string;
  amount: bigint;
  frozen: boolean;
}

export interface TokenAmount {
  amount: string;
  decimals: number;
  uiAmount: number | null;
  uiAmountString: string;
}

export interface TokenBalance {
  accountIndex: number;
  mint: string;
  owner: string;
  programId: string;
  uiTokenAmount: TokenAmount;
}

const ACCOUNT_SIZE = 165;
const MINT_SIZE = 82;

type Read = (key: string) => NativeAccount | null;

/** Parses a token account; undefined for other accounts. */
export function tokenAccount(account: NativeAccount | null): TokenAccount | undefined {
  const program = tokenProgram(account);
  if (account === null || program === undefined) return undefined;
  const data = Buffer.from(account.data());
  const isOne = data.length === ACCOUNT_SIZE || (data.length > ACCOUNT_SIZE && data[ACCOUNT_SIZE] === 2);
  if (!isOne || data[108] === 0) return undefined;
  return {
    program,
    mint: toBase58(data.subarray(0, 32)),
    owner: toBase58(data.subarray(32, 64)),
    amount: data.readBigUInt64LE(64),
    frozen: data[108] === 2,
  };
}

/** Parses a mint; undefined for other accounts. */
export function mintOf(account: NativeAccount | null): { supply: bigint; decimals: number } | undefined {
  if (account === null || tokenProgram(account) === undefined) return undefined;
  const data = Buffer.from(account.data());
  const isOne = data.length === MINT_SIZE || (data.length > ACCOUNT_SIZE && data[ACCOUNT_SIZE] === 1);
  return isOne ? { supply: data.readBigUInt64LE(36), decimals: data[44] ?? 0 } : undefined;
}

function tokenProgram(account: NativeAccount | null): string | undefined {
  if (account === null) return undefined;
  const owner = toBase58(account.owner());
  return TOKEN_PROGRAMS.find((program) => program === owner);
}

/** An amount of raw units as the node words it. */
export function tokenAmount(amount: bigint, decimals: number): TokenAmount {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  const uiAmountString = `${digits.slice(0, point)}.${digits.slice(point)}`.replace(/\.?0*$/, '');
  const text = decimals === 0 ? digits : uiAmountString;
  return { amount: amount.toString(), decimals, uiAmount: Number(text), uiAmountString: text };
}

/** The balances of all token accounts among the keys of a transaction. */
export function tokenBalances(keys: readonly string[], read: Read): TokenBalance[] {
  return keys.flatMap((key, accountIndex) => {
    const token = tokenAccount(read(key));
    if (token === undefined) return [];
    const { mint, owner, program: programId, amount } = token;
    const decimals = mintOf(read(mint))?.decimals ?? 0;
    return { accountIndex, mint, owner, programId, uiTokenAmount: tokenAmount(amount, decimals) };
  });
}
