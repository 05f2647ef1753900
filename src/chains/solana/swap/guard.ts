import { createHash } from 'node:crypto';
import { StakeProgram } from '@solana/web3.js';
import type { ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import { createsAssociatedAccount } from '../guard/fee-payer.ts';
import { type CompiledMessage, isWritableAccount } from '../message/compiled-message.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../programs.ts';
import { getAccounts, type OnChainAccount } from '../rpc-calls.ts';
import { wrappedSolAccount } from '../tokens/associated.ts';
import { readTokenAccount, type TokenAccount } from '../tokens/token-account.ts';

/**
 * A market builds the message that the relayer signs, and could take anything that the relayer has. So the message may
 * consist of these parts only: compute budgets, the relayer's own token accounts, transfers of the token up to the
 * amount, and Jupiter's program with the amounts in its instruction.
 */

/** What a swap may take. */
export interface SwapAllowance {
  relayer: string;
  /** The relayer's account of the token, and how much of it is given. */
  source: string;
  given: bigint;
  /** The least that Jupiter's program has to demand in return, in lamports. */
  least: bigint;
  /**
   * Whether the message is signed unchanged, without the relayer's own checks at its end. Then it may call no program
   * that could do one thing in a trial and another in a block.
   */
  isAsIs: boolean;
}

/** The relayer's token accounts that a message may write, by address. */
export type OwnTokenAccounts = ReadonlyMap<string, TokenAccount>;

const TRANSFER = 3;
const CLOSE = 9;
const TRANSFER_CHECKED = 12;
const SYNC_NATIVE = 17;

interface Part {
  program: string;
  named: readonly string[];
  data: Buffer;
}

/**
 * Reads the relayer's token accounts that a message may write. Returns a fault where the message may write stake or a
 * nonce.
 */
export async function readWritableTokenAccounts(
  read: ReadFromEndpoint,
  message: CompiledMessage,
  keys: readonly string[],
  relayer: string,
): Promise<OwnTokenAccounts | string> {
  const written = keys.filter((_key, index) => isWritableAccount(message, index));
  const found = await getAccounts(read, written);
  const strange = written.find((key, index) => key !== relayer && isSavings(found[index]));
  if (strange !== undefined) return `it may write ${strange}, which is no part of a swap`;
  const own = written.flatMap((key, index): [string, TokenAccount][] => {
    const account = readTokenAccount(found[index]);
    return account?.owner === relayer ? [[key, account]] : [];
  });
  return new Map(own);
}

const STAKE_PROGRAM = StakeProgram.programId.toBase58();

/** Whether an account is stake, or holds a durable nonce. */
function isSavings(account: OnChainAccount | null | undefined): boolean {
  if (account == null) return false;
  return account.owner === STAKE_PROGRAM || (account.owner === SYSTEM_PROGRAM && account.data.length > 0);
}

/** Why a market's message is not signed; undefined where it takes no more than the allowance. */
export function swapFault(
  message: CompiledMessage,
  keys: readonly string[],
  own: OwnTokenAccounts,
  allowance: SwapAllowance,
): string | undefined {
  const { relayer, given } = allowance;
  if (message.keys[0] !== relayer) return `${message.keys[0]} pays for it`;
  if (message.signers !== 1) return `${message.signers} have to sign it`;
  let taken = 0n;
  for (const { program, accounts, data } of message.instructions) {
    const part = { program: message.keys[program] ?? '', named: accounts.map((place) => keys[place] ?? ''), data };
    const verdict = amountTaken(part, own, allowance);
    if (typeof verdict === 'string') return verdict;
    taken += verdict;
  }
  const made = accountsCreated(message, keys, relayer);
  if (made > MAX_MADE) return `it makes ${made} accounts that stay`;
  return taken > given ? `it takes ${taken} of the token, not ${given}` : undefined;
}

/** The most accounts that a swap may make and leave: its route to SOL may pass through other tokens. */
const MAX_MADE = 2;

/** How many accounts the relayer would pay for, besides the account of wrapped SOL, which is closed again. */
function accountsCreated({ instructions }: CompiledMessage, keys: readonly string[], relayer: string): number {
  const wrapped = wrappedSolAccount(relayer);
  return instructions.filter(
    ({ program, accounts }) => keys[program] === ASSOCIATED_TOKEN_PROGRAM && keys[accounts[1] ?? -1] !== wrapped,
  ).length;
}

/** How much of the token a part takes; where that is not known, a text that says why the part is not signed. */
function amountTaken(part: Part, own: OwnTokenAccounts, allowance: SwapAllowance): bigint | string {
  const { program, named, data } = part;
  const { relayer } = allowance;
  if (program === COMPUTE_BUDGET_PROGRAM) return 0n;
  if (program === JUPITER_PROGRAM) {
    return takenOfRoute(part, allowance);
  }
  if (program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM) return takenOfTokens(part, own, allowance);
  if (program === ASSOCIATED_TOKEN_PROGRAM && createsAssociatedAccount(data) && named[2] === relayer) return 0n;
  if (allowance.isAsIs) return `it calls ${program}, which is no part of a swap`;
  return named.some((key) => key === relayer || own.has(key)) ? `it gives ${program} the relayer’s accounts` : 0n;
}

function takenOfRoute({ named, data }: Part, { relayer, source, least, isAsIs }: SwapAllowance): bigint | string {
  const terms = swapTermsOf(data);
  if (terms === undefined) return 'it calls Jupiter’s program in a way that is not known';
  if (terms.least < least) return `it would be content with ${terms.least} lamports`;
  if (!isAsIs) return terms.given;
  const wrapped = wrappedSolAccount(relayer);
  const instead = terms.instead === undefined ? JUPITER_PROGRAM : named[terms.instead];
  const arrives = named[terms.destination] === wrapped && (instead === JUPITER_PROGRAM || instead === wrapped);
  if (named[terms.source] !== source || !arrives) return 'it swaps between other accounts than the relayer’s';
  return terms.given;
}

function takenOfTokens(
  { program, named, data }: Part,
  own: OwnTokenAccounts,
  allowance: SwapAllowance,
): bigint | string {
  const { relayer, source } = allowance;
  const [kind] = data;
  const [first = '', second] = named;
  if (kind === SYNC_NATIVE || (kind === CLOSE && second === relayer)) return 0n;
  if ((kind === TRANSFER || kind === TRANSFER_CHECKED) && data.length >= 9) {
    if (first === source) return data.readBigUInt64LE(1);
    // The relayer may be a delegate here: the tokens are not its own.
    return own.has(first) ? `it takes from ${first}` : 0n;
  }
  return named.some((key) => key === relayer || own.has(key)) ? `it gives ${program} the relayer’s accounts` : 0n;
}

/** Jupiter's program, the only one that is given a relayer's signature for a swap. */
export const JUPITER_PROGRAM = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4';

const SELECTOR = 8;

/** The amount that an instruction of Jupiter's program gives, and the least that it accepts for it. */
export interface SwapTerms {
  given: bigint;
  least: bigint;
  /** The places of the accounts that the instruction takes from and pays to. */
  source: number;
  destination: number;
  /** The place of an alternative account to pay to. Where there is none, the program's own key stands there. */
  instead?: number;
}

/** Bytes of the amount in, the amount out and the slippage, which takes two bytes. */
const TERMS = 18;

interface Form extends Pick<SwapTerms, 'source' | 'destination' | 'instead'> {
  name: string;
  /**
   * Where the amounts begin: before a fee of one byte at the end, or after the selector, or after an id of one byte
   * there.
   */
  at(length: number): number;
}

/** The known instructions of Jupiter's program, as its interface describes them. */
const FORMS: readonly Form[] = [
  { name: 'route', source: 2, destination: 3, instead: 4, at: (length) => length - TERMS - 1 },
  { name: 'shared_accounts_route', source: 3, destination: 6, at: (length) => length - TERMS - 1 },
  { name: 'route_v2', source: 1, destination: 2, instead: 7, at: () => SELECTOR },
  { name: 'shared_accounts_route_v2', source: 2, destination: 5, at: () => SELECTOR + 1 },
];

const BY_SELECTOR: ReadonlyMap<string, Form> = new Map(FORMS.map((form) => [selectorOf(form.name), form]));

/** The bytes by which Anchor tells methods apart. */
function selectorOf(name: string): string {
  return createHash('sha256').update(`global:${name}`).digest().subarray(0, SELECTOR).toString('hex');
}

/** Undefined for an instruction that swaps no fixed amount, or that is not known. */
export function swapTermsOf(data: Buffer): SwapTerms | undefined {
  const form = BY_SELECTOR.get(data.subarray(0, SELECTOR).toString('hex'));
  const at = form?.at(data.length) ?? 0;
  if (form === undefined || at < SELECTOR || at + TERMS > data.length) return undefined;
  const slippage = BigInt(Math.min(data.readUInt16LE(at + 16), Number(WHOLE)));
  const least = (data.readBigUInt64LE(at + 8) * (WHOLE - slippage)) / WHOLE;
  const { source, destination, instead } = form;
  return {
    given: data.readBigUInt64LE(at),
    least,
    source,
    destination,
    ...(instead === undefined ? {} : { instead }),
  };
}

const WHOLE = 10_000n;
