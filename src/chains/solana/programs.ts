import { AddressLookupTableProgram, ComputeBudgetProgram, SystemProgram } from '@solana/web3.js';

export const SYSTEM_PROGRAM = SystemProgram.programId.toBase58();
export const COMPUTE_BUDGET_PROGRAM = ComputeBudgetProgram.programId.toBase58();
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
export const ADDRESS_LOOKUP_TABLE_PROGRAM = AddressLookupTableProgram.programId.toBase58();

/** The Memo program in use, and the first version, which takes any bytes as a memo. */
export const MEMO_PROGRAMS: readonly string[] = [
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
];

/** The mint of native SOL as a token. */
export const WRAPPED_SOL = 'So11111111111111111111111111111111111111112';
