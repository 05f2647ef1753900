import type { Message } from '../message/compiled-message.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  MEMO_PROGRAMS,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../programs.ts';

/**
 * What a transaction can take from its fee payer beyond the fee. The runtime hands every program that an instruction
 * calls the accounts that the instruction names, with the rights that the message gives them, and the fee payer has all
 * rights in every message. So no instruction may name it, except in the places below, where the program is known to
 * take nothing from the account that stands there. A program that is not listed may do anything. An account out of a
 * lookup table is never the fee payer: the runtime refuses a message that loads one twice.
 */

/** The places of an instruction's accounts in which the fee payer loses nothing; by what the data begin with. */
type Places = (data: Buffer) => readonly number[] | 'any';

const NOWHERE: readonly number[] = [];

/** By the first four bytes (solana-system-interface, `SystemInstruction`). */
const SYSTEM_PLACES: ReadonlyMap<number, readonly number[]> = new Map([
  // Transfer: the recipient.
  [2, [1]],
  // AdvanceNonceAccount: the authority, which only lets the nonce move on.
  [4, [2]],
  // TransferWithSeed: the recipient.
  [11, [2]],
]);

/** By the first byte (spl-token, `TokenInstruction`; Token-2022 has the same). */
const TOKEN_PLACES: ReadonlyMap<number, readonly number[]> = new Map([
  // InitializeAccount: the owner of an account that others made.
  [1, [2]],
  // CloseAccount: who gets the lamports of an account that somebody else owns.
  [9, [1]],
]);

const tokenPlaces: Places = (data) => TOKEN_PLACES.get(data[0] ?? -1) ?? NOWHERE;

/** The owner of the account that is made; who pays for it stands first. */
const ASSOCIATED_OWNER = 2;
const ASSOCIATED_PAYER = 0;

/** Where it names the program that keeps the tokens. Any other could ask for an account of any size. */
const TOKENS_PLACE = 5;
const TOKEN_PROGRAMS: ReadonlySet<string> = new Set([TOKEN_PROGRAM, TOKEN_2022_PROGRAM]);

const HARMLESS: ReadonlyMap<string, Places> = new Map<string, Places>([
  [SYSTEM_PROGRAM, (data) => (data.length >= 4 ? (SYSTEM_PLACES.get(data.readUInt32LE()) ?? NOWHERE) : NOWHERE)],
  [TOKEN_PROGRAM, tokenPlaces],
  [TOKEN_2022_PROGRAM, tokenPlaces],
  [ASSOCIATED_TOKEN_PROGRAM, (data) => (isCreation(data) ? [ASSOCIATED_OWNER] : NOWHERE)],
  ...MEMO_PROGRAMS.map((program): [string, Places] => [program, () => 'any']),
]);

/** Whether an instruction of the Associated Token program makes an account: Create, CreateIdempotent, not RecoverNested. */
export function isCreation(data: Buffer): boolean {
  return data.length === 0 || (data.length === 1 && (data[0] === 0 || data[0] === 1));
}

/** In the reference's words. */
const NO_TRANSFERS = 'Lamports transfers are not allowed from the relayer account';

/**
 * Why a transaction could take more than the fee from its fee payer, the first of its keys; undefined when it cannot.
 * @param lookedUp the accounts that its lookup tables name, once they were asked
 * @param paysRent whether the fee payer may pay for associated token accounts, as where users pay it back
 */
export function feePayerLoss(
  message: Message,
  { paysRent, lookedUp }: { paysRent: boolean; lookedUp?: readonly string[] | undefined },
): string | undefined {
  const { keys } = message;
  // What tables name that nobody has asked yet may be in order: it is looked at again.
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
      if (program === SYSTEM_PROGRAM && position === 0 && isTransfer(data)) return NO_TRANSFERS;
      return (
        `Instruction ${index + 1} (program ${program}) names the relayer account as account ${position + 1}, ` +
        'where it could take more than the fee from it'
      );
    }
  }
  return undefined;
}

function isRent(program: string, data: Buffer, position: number): boolean {
  return program === ASSOCIATED_TOKEN_PROGRAM && position === ASSOCIATED_PAYER && isCreation(data);
}

function isTransfer(data: Buffer): boolean {
  return data.length >= 4 && data.readUInt32LE() === 2;
}
