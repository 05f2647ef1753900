import { smallestAmount } from '../../../domain/amount.ts';
import type { ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import type { CompiledMessage } from '../message/compiled-message.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  MEMO_PROGRAMS,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../programs.ts';
import { getBalance, type Simulation, simulateTransaction } from '../rpc-calls.ts';

/**
 * Guards the fee payer against a transaction that takes more than the fee. The runtime hands every called program the
 * accounts that its instruction names, with the rights that the message gives them. The fee payer has all rights in
 * every message. So no instruction may name the fee payer, except in the places below, where the program is known to
 * take nothing from that account. A program that is not listed may do anything. An account from a lookup table is never
 * the fee payer: the runtime refuses a message that loads an account twice.
 */

/** The account places of an instruction in which the fee payer loses nothing. They depend on how the data begins. */
type Places = (data: Buffer) => readonly number[] | 'any';

const NOWHERE: readonly number[] = [];

/** By the first four bytes of the data (solana-system-interface, `SystemInstruction`). */
const ASSIGN = 1;
const ALLOCATE = 8;
const SYSTEM_PLACES: ReadonlyMap<number, readonly number[]> = new Map([
  // Transfer: the recipient.
  [2, [1]],
  // AdvanceNonceAccount: the authority, which only lets the nonce move on.
  [4, [2]],
  // TransferWithSeed: the recipient.
  [11, [2]],
]);

/** By the first byte of the data (spl-token, `TokenInstruction`; Token-2022 has the same). */
const TOKEN_PLACES: ReadonlyMap<number, readonly number[]> = new Map([
  // InitializeAccount: the owner of an account that others made.
  [1, [2]],
  // CloseAccount: who gets the lamports of an account that somebody else owns.
  [9, [1]],
]);

const tokenPlaces: Places = (data) => TOKEN_PLACES.get(data[0] ?? -1) ?? NOWHERE;

/** The places of a created account's owner and of the payer, who comes first. */
const ASSOCIATED_OWNER = 2;
const ASSOCIATED_PAYER = 0;

/** The place of the token program in the same instruction. Any other program could ask for an account of any size. */
const TOKENS_PLACE = 5;
const TOKEN_PROGRAMS: ReadonlySet<string> = new Set([TOKEN_PROGRAM, TOKEN_2022_PROGRAM]);

const HARMLESS: ReadonlyMap<string, Places> = new Map<string, Places>([
  [SYSTEM_PROGRAM, (data) => (data.length >= 4 ? (SYSTEM_PLACES.get(data.readUInt32LE()) ?? NOWHERE) : NOWHERE)],
  [TOKEN_PROGRAM, tokenPlaces],
  [TOKEN_2022_PROGRAM, tokenPlaces],
  [ASSOCIATED_TOKEN_PROGRAM, (data) => (createsAssociatedAccount(data) ? [ASSOCIATED_OWNER] : NOWHERE)],
  ...MEMO_PROGRAMS.map((program): [string, Places] => [program, () => 'any']),
]);

/**
 * Whether an instruction of the Associated Token program makes an account: Create or CreateIdempotent, not
 * RecoverNested.
 */
export function createsAssociatedAccount(data: Buffer): boolean {
  return data.length === 0 || (data.length === 1 && (data[0] === 0 || data[0] === 1));
}

/** In the reference's words. */
const NO_TRANSFERS = 'Lamports transfers are not allowed from the relayer account';

export interface FeePayerLossOptions {
  /** Whether the fee payer may pay for associated token accounts, as where users pay it back. */
  paysRent: boolean;
  /** Whether its lamports may leave by the System program's Transfer, which names the amount. */
  paysTransfers?: boolean;
  /** The accounts that the lookup tables name; undefined before the tables are read. */
  lookedUp?: readonly string[] | undefined;
}

/**
 * Why a transaction could take more than the fee from its fee payer, the first of its keys; undefined when it cannot.
 */
export function feePayerLoss(
  message: CompiledMessage,
  { paysRent, paysTransfers = false, lookedUp }: FeePayerLossOptions,
): string | undefined {
  const { keys } = message;
  // An account from a table that is not read yet passes. It is checked again once the table is read.
  const isTokens = (account = -1) =>
    (account >= keys.length && lookedUp === undefined) ||
    TOKEN_PROGRAMS.has(keys[account] ?? lookedUp?.[account - keys.length] ?? '');
  for (const [index, { program: place, accounts, data }] of message.instructions.entries()) {
    const program = keys[place] ?? '';
    const harmless = HARMLESS.get(program)?.(data) ?? NOWHERE;
    if (harmless === 'any') continue;
    for (const [position, account] of accounts.entries()) {
      if (account !== 0 || harmless.includes(position)) continue;
      if (paysRent && isRent(program, data, position) && isTokens(accounts[TOKENS_PLACE])) continue;
      if (program === SYSTEM_PROGRAM && position === 0 && isTransfer(data)) {
        if (paysTransfers) continue;
        return NO_TRANSFERS;
      }
      return (
        `Instruction ${index + 1} (program ${program}) names the relayer account as account ${position + 1}, ` +
        'where it could take more than the fee from it'
      );
    }
  }
  return undefined;
}

/**
 * Why a transaction that may spend what an account holds would cost it the account itself; undefined when it would not.
 * An account with another owner, or with data, pays no fees and moves no lamports any more.
 */
export function accountLoss({ keys, instructions }: CompiledMessage, account: string): string | undefined {
  const index = instructions.findIndex(({ program, accounts, data }) => {
    if (keys[program] !== SYSTEM_PROGRAM || keys[accounts[0] ?? -1] !== account || data.length < 4) return false;
    const kind = data.readUInt32LE();
    return kind === ASSIGN || kind === ALLOCATE;
  });
  return index < 0
    ? undefined
    : `Instruction ${index + 1} (program ${SYSTEM_PROGRAM}) would make the relayer account unusable`;
}

function isRent(program: string, data: Buffer, position: number): boolean {
  return program === ASSOCIATED_TOKEN_PROGRAM && position === ASSOCIATED_PAYER && createsAssociatedAccount(data);
}

function isTransfer(data: Buffer): boolean {
  return data.length >= 4 && data.readUInt32LE() === 2;
}

/** The most that a trial may take from its fee payer. */
export interface SimulatedLossBound {
  payer: string;
  /** The transaction to be signed, in base64. */
  trial: string;
  replacesBlockhash: boolean;
  /** The fee, and the rent that the transaction may pay, in lamports. */
  most: bigint;
}

/**
 * Why a transaction takes more from its fee payer than it may. A trial shows the whole loss, with all that programs do.
 * Undefined where the loss is within the bound, or the node does not tell. Other transactions move the balance too, so
 * an apparent loss is tried again, between two reads of the balance.
 * @param funds the account's balance at about the time of the trial
 */
export async function simulatedLossFault(
  read: ReadFromEndpoint,
  tried: Simulation,
  funds: bigint,
  { payer, trial, replacesBlockhash, most }: SimulatedLossBound,
): Promise<string | undefined> {
  const isWithin = (shown: Simulation, before: bigint) => {
    const left = simulatedBalance(shown);
    return left === undefined || left + most >= before;
  };
  if (isWithin(tried, funds)) return undefined;
  const before = await getBalance(read, payer);
  const again = await simulateTransaction(read, trial, { replacesBlockhash, after: [payer] });
  const after = await getBalance(read, payer);
  const least = smallestAmount(before, after);
  if (isWithin(again, least)) return undefined;
  return `Policy violation: It takes ${least - (simulatedBalance(again) ?? 0n)} lamports from the relayer account, of which its fee and rent are ${most}`;
}

/** The fee payer's balance after the trial; undefined where the node does not tell, zero where the account is gone. */
export function simulatedBalance({ error, accounts: [account] }: Simulation): bigint | undefined {
  if (error !== null || account === undefined) return undefined;
  return account?.lamports ?? 0n;
}
