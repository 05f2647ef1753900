import { PublicKey, TransactionInstruction } from '@solana/web3.js';
import type { ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import { addressBytes } from '../address.ts';
import { createsAssociatedAccount } from '../guard/fee-payer.ts';
import { type CompiledMessage, publicKeyOf } from '../message/compiled-message.ts';
import { ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM, TOKEN_PROGRAM, WRAPPED_SOL } from '../programs.ts';
import { getAccounts, getRentExemption } from '../rpc-calls.ts';
import { MAX_TOKEN_ACCOUNT_SIZE, MINT_EXTENSIONS, type Mint, readMint } from './mint.ts';
import { TOKEN_ACCOUNT_SIZE } from './token-account.ts';

/** CreateIdempotent: does nothing where the account is there already. */
const CREATE_IDEMPOTENT = 1;

/** A wallet's account of a token. */
export function associatedAccount(owner: string, { address, program }: Pick<Mint, 'address' | 'program'>): string {
  return programAddress([addressBytes(owner), addressBytes(program), addressBytes(address)], ASSOCIATED_TOKEN_PROGRAM);
}

/** An address that only the program can sign for. */
export function programAddress(seeds: Buffer[], program: string): string {
  const [address] = PublicKey.findProgramAddressSync(seeds, publicKeyOf(program));
  return address.toBase58();
}

/** Makes the account, unless it is there. */
export function createAssociatedAccountInstruction(payer: string, owner: string, mint: Mint): TransactionInstruction {
  return new TransactionInstruction({
    programId: publicKeyOf(ASSOCIATED_TOKEN_PROGRAM),
    keys: [
      { pubkey: publicKeyOf(payer), isSigner: true, isWritable: true },
      { pubkey: publicKeyOf(associatedAccount(owner, mint)), isSigner: false, isWritable: true },
      { pubkey: publicKeyOf(owner), isSigner: false, isWritable: false },
      { pubkey: publicKeyOf(mint.address), isSigner: false, isWritable: false },
      { pubkey: publicKeyOf(SYSTEM_PROGRAM), isSigner: false, isWritable: false },
      { pubkey: publicKeyOf(mint.program), isSigner: false, isWritable: false },
    ],
    data: Buffer.from([CREATE_IDEMPOTENT]),
  });
}

interface Creation {
  account: string;
  owner: string;
  mint: string;
  /** Token, or Token-2022. */
  program: string;
}

/** The place of the token program among an instruction's accounts. */
const TOKEN_PROGRAM_PLACE = 5;

/**
 * What the fee payer may have to pay for accounts that a message makes, in lamports. An account that is there already
 * counts as well: its owner can close it first, and later keep the rent of the new one. Only the payer's own existing
 * account does not count.
 * @param keys all accounts of the message; accounts from lookup tables come last
 */
export async function rentOfNewAccounts(
  read: ReadFromEndpoint,
  message: CompiledMessage,
  keys: readonly string[],
): Promise<bigint> {
  const creations = creationsOf(message, keys);
  if (creations.length === 0) return 0n;
  const found = await getAccounts(read, [
    ...creations.map(({ mint }) => mint),
    ...creations.map(({ account }) => account),
  ]);
  const sizes = creations.flatMap(({ owner, mint, program }, index) => {
    const isOwn = owner === keys[0] && found[creations.length + index] !== null;
    return isOwn ? [] : [sizeOf(program, readMint(mint, found[index]))];
  });
  const rents = await Promise.all(sizes.map((size) => getRentExemption(read, size)));
  return rents.reduce((sum, rent) => sum + rent, 0n);
}

/**
 * The largest size that the account can have. A mint that is not there yet, or can be closed, may have any extension
 * when the message is executed.
 */
function sizeOf(program: string, mint: Mint | undefined): number {
  if (program === TOKEN_PROGRAM) return TOKEN_ACCOUNT_SIZE;
  return mint === undefined || mint.extensions.has(MINT_EXTENSIONS.mintCloseAuthority)
    ? MAX_TOKEN_ACCOUNT_SIZE
    : mint.accountSize;
}

/** The creations that the fee payer pays for. An account can occur twice: a closed account can be made again. */
function creationsOf({ keys: own, instructions }: CompiledMessage, keys: readonly string[]): Creation[] {
  const creations: Creation[] = [];
  for (const { program, accounts, data } of instructions) {
    if (own[program] !== ASSOCIATED_TOKEN_PROGRAM || accounts[0] !== 0 || !createsAssociatedAccount(data)) continue;
    const [, account = '', owner = '', mint = ''] = accounts.map((place) => keys[place] ?? '');
    creations.push({ account, owner, mint, program: keys[accounts[TOKEN_PROGRAM_PLACE] ?? -1] ?? '' });
  }
  return creations;
}

/** The relayer's account of wrapped SOL. The proceeds of a swap arrive there. */
export function wrappedSolAccount(relayer: string): string {
  return associatedAccount(relayer, { address: WRAPPED_SOL, program: TOKEN_PROGRAM });
}
