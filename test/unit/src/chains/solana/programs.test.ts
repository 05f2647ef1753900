import { ASSOCIATED_TOKEN_PROGRAM_ID, NATIVE_MINT, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { AddressLookupTableProgram, ComputeBudgetProgram, SystemProgram } from '@solana/web3.js';
import t from 'tap';
import { isAddress } from '../../../../../src/chains/solana/address.ts';
import * as programs from '../../../../../src/chains/solana/programs.ts';

t.test('the programs are those that Solana’s public clients know', async (t) => {
  const { MEMO_PROGRAMS, ...others } = programs;
  t.same(others, {
    SYSTEM_PROGRAM: SystemProgram.programId.toBase58(),
    COMPUTE_BUDGET_PROGRAM: ComputeBudgetProgram.programId.toBase58(),
    TOKEN_PROGRAM: TOKEN_PROGRAM_ID.toBase58(),
    TOKEN_2022_PROGRAM: TOKEN_2022_PROGRAM_ID.toBase58(),
    ASSOCIATED_TOKEN_PROGRAM: ASSOCIATED_TOKEN_PROGRAM_ID.toBase58(),
    ADDRESS_LOOKUP_TABLE_PROGRAM: AddressLookupTableProgram.programId.toBase58(),
    WRAPPED_SOL: NATIVE_MINT.toBase58(),
  });
  t.ok(MEMO_PROGRAMS.every(isAddress));
});
