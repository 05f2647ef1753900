import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import { isCreation } from '../guard/fee-payer.ts';
import { isWritable, type Message } from '../message/compiled-message.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../programs.ts';
import { accountsAt, type OnChainAccount } from '../provider.ts';
import { readTokenAccount, type TokenAccount } from '../tokens/token-account.ts';
import { AGGREGATOR, termsOf } from './aggregator.ts';
import { wrappedAccount } from './wrapped.ts';

/**
 * The relayer signs what a market builds, which could take anything that the relayer has. So it may be made of these
 * parts only: budgets, the relayer's own token accounts, transfers of the token up to the amount, and Jupiter's program
 * with amounts that are in its instruction.
 */

/** What a swap may take. */
export interface Allowance {
  relayer: string;
  /** The relayer's account of the token, and how much of it is given. */
  source: string;
  given: bigint;
  /** What Jupiter's program has to insist on, in lamports. */
  least: bigint;
  /**
   * Nothing of the relayer's own stands at the end of the message: no program may be called that could do one thing in a
   * trial and another in a block.
   */
  isAsIs: boolean;
}

/** The relayer's token accounts that a message may write, by address. */
export type OwnAccounts = ReadonlyMap<string, TokenAccount>;

const TRANSFER = 3;
const CLOSE = 9;
const TRANSFER_CHECKED = 12;
const SYNC_NATIVE = 17;

interface Part {
  program: string;
  named: readonly string[];
  data: Buffer;
}

/** Reads what a message may write; a fault where that is something that no swap has to do with. */
export async function writtenBy(
  read: ReadOne,
  message: Message,
  keys: readonly string[],
  relayer: string,
): Promise<OwnAccounts | string> {
  const written = keys.filter((_key, index) => isWritable(message, index));
  const found = await accountsAt(read, written);
  const strange = written.find((key, index) => key !== relayer && isSavings(found[index]));
  if (strange !== undefined) return `it may write ${strange}, which is no part of a swap`;
  const own = written.flatMap((key, index): [string, TokenAccount][] => {
    const account = readTokenAccount(found[index]);
    return account?.owner === relayer ? [[key, account]] : [];
  });
  return new Map(own);
}

const STAKE_PROGRAM = 'Stake11111111111111111111111111111111111111';

/** Stake, and the accounts of durable nonces. */
function isSavings(account: OnChainAccount | null | undefined): boolean {
  if (account == null) return false;
  return account.owner === STAKE_PROGRAM || (account.owner === SYSTEM_PROGRAM && account.data.length > 0);
}

/** Why a market's message is not signed; undefined where it takes no more than the allowance. */
export function swapFault(
  message: Message,
  keys: readonly string[],
  own: OwnAccounts,
  allowance: Allowance,
): string | undefined {
  const { relayer, given } = allowance;
  if (message.keys[0] !== relayer) return `${message.keys[0]} pays for it`;
  if (message.signers !== 1) return `${message.signers} have to sign it`;
  let taken = 0n;
  for (const { program, accounts, data } of message.instructions) {
    const part = { program: message.keys[program] ?? '', named: accounts.map((place) => keys[place] ?? ''), data };
    const verdict = takenBy(part, own, allowance);
    if (typeof verdict === 'string') return verdict;
    taken += verdict;
  }
  const made = accountsMade(message, keys, relayer);
  if (made > MOST_MADE) return `it makes ${made} accounts that stay`;
  return taken > given ? `it takes ${taken} of the token, not ${given}` : undefined;
}

/** On the way to SOL there may be other tokens. */
const MOST_MADE = 2;

/** For how many accounts the relayer would pay, besides the one that is closed again. */
function accountsMade({ instructions }: Message, keys: readonly string[], relayer: string): number {
  const wrapped = wrappedAccount(relayer);
  return instructions.filter(
    ({ program, accounts }) => keys[program] === ASSOCIATED_TOKEN_PROGRAM && keys[accounts[1] ?? -1] !== wrapped,
  ).length;
}

/** What a part takes of the token; why it is not signed, where that is not known. */
function takenBy(part: Part, own: OwnAccounts, allowance: Allowance): bigint | string {
  const { program, named, data } = part;
  const { relayer } = allowance;
  if (program === COMPUTE_BUDGET_PROGRAM) return 0n;
  if (program === AGGREGATOR) {
    return takenOfRoute(part, allowance);
  }
  if (program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM) return takenOfTokens(part, own, allowance);
  if (program === ASSOCIATED_TOKEN_PROGRAM && isCreation(data) && named[2] === relayer) return 0n;
  if (allowance.isAsIs) return `it calls ${program}, which is no part of a swap`;
  return named.some((key) => key === relayer || own.has(key)) ? `it gives ${program} the relayer’s accounts` : 0n;
}

function takenOfRoute({ named, data }: Part, { relayer, source, least, isAsIs }: Allowance): bigint | string {
  const terms = termsOf(data);
  if (terms === undefined) return 'it calls Jupiter’s program in a way that is not known';
  if (terms.least < least) return `it would be content with ${terms.least} lamports`;
  if (!isAsIs) return terms.given;
  const wrapped = wrappedAccount(relayer);
  const instead = terms.instead === undefined ? AGGREGATOR : named[terms.instead];
  const arrives = named[terms.destination] === wrapped && (instead === AGGREGATOR || instead === wrapped);
  if (named[terms.source] !== source || !arrives) return 'it swaps between other accounts than the relayer’s';
  return terms.given;
}

function takenOfTokens({ program, named, data }: Part, own: OwnAccounts, allowance: Allowance): bigint | string {
  const { relayer, source } = allowance;
  const [kind] = data;
  const [first = '', second] = named;
  if (kind === SYNC_NATIVE || (kind === CLOSE && second === relayer)) return 0n;
  if ((kind === TRANSFER || kind === TRANSFER_CHECKED) && data.length >= 9) {
    if (first === source) return data.readBigUInt64LE(1);
    // As a delegate it moves what is somebody else's.
    return own.has(first) ? `it takes from ${first}` : 0n;
  }
  return named.some((key) => key === relayer || own.has(key)) ? `it gives ${program} the relayer’s accounts` : 0n;
}
