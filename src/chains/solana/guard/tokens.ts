import type { ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import type { SolanaPolicy } from '../configuration/policy.ts';
import type { CompiledMessage } from '../message/compiled-message.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../programs.ts';
import { getAccounts } from '../rpc-calls.ts';
import { readTokenAccount } from '../tokens/token-account.ts';
import { policyFaultText } from './policies.ts';

/** A movement of tokens that an instruction asks for. */
export interface TokenTransfer {
  /** Token, or Token-2022. */
  program: string;
  /** Token accounts, not their owners. */
  source: string;
  destination: string;
  /** Null where the instruction does not name the mint. The source account tells it. */
  mint: string | null;
  authority: string;
  /** In the token's smallest unit, including a transfer fee. */
  amount: bigint;
}

const TRANSFER = 3;
const TRANSFER_CHECKED = 12;
/** TransferFeeExtension of Token-2022, and its TransferCheckedWithFee. */
const TRANSFER_FEE = 26;
const WITH_FEE = 1;
/** A batch of the Token program: several instructions in one (p-token, `process_batch`). */
const BATCH = 255;

/**
 * The transfers among a transaction's instructions, in their order.
 * @param keys all accounts of the message; accounts from lookup tables come last
 */
export function tokenTransfers(message: CompiledMessage, keys: readonly string[]): TokenTransfer[] {
  return tokenInstructions(message, keys).flatMap(({ program, named, data }) => {
    const transfer = readTransfer(named, data);
    return transfer === undefined ? [] : [{ program, ...transfer }];
  });
}

/** What an instruction destroys of an account's tokens. */
export interface TokenBurn {
  program: string;
  /** The token account, not its owner. */
  account: string;
  mint: string;
  /** In the token's smallest unit. */
  amount: bigint;
}

const BURNS = new Set([8, 15]);

/** The burns among a transaction's instructions. @param keys as for {@link tokenTransfers} */
export function tokenBurns(message: CompiledMessage, keys: readonly string[]): TokenBurn[] {
  return tokenInstructions(message, keys).flatMap(({ program, named: [account, mint], data }) => {
    if (!BURNS.has(data[0] ?? -1) || data.length < 9 || account === undefined || mint === undefined) return [];
    return [{ program, account, mint, amount: data.readBigUInt64LE(1) }];
  });
}

/** InitializeAccount, and its second and third form. */
const INITIALIZES = new Set([1, 16, 18]);

/** The token accounts that a message itself initializes, for any mint. Their earlier state proves nothing. */
function accountsCreated(message: CompiledMessage, keys: readonly string[]): ReadonlySet<string> {
  const made = tokenInstructions(message, keys).filter(({ data }) => INITIALIZES.has(data[0] ?? -1));
  return new Set(made.map(({ named: [account = ''] }) => account));
}

interface TokenInstruction {
  program: string;
  named: readonly string[];
  data: Buffer;
}

function tokenInstructions(message: CompiledMessage, keys: readonly string[]): TokenInstruction[] {
  return message.instructions.flatMap(({ program: place, accounts, data }) => {
    const program = message.keys[place] ?? '';
    if (program !== TOKEN_PROGRAM && program !== TOKEN_2022_PROGRAM) return [];
    const named = accounts.map((account) => keys[account] ?? '');
    return unpacked(named, data).map((part) => ({ program, ...part }));
  });
}

/**
 * The instructions of a batch. Each follows a byte for the number of its accounts and a byte for the length of its
 * data. Any other instruction is returned alone.
 */
function unpacked(named: readonly string[], data: Buffer): { named: readonly string[]; data: Buffer }[] {
  if (data[0] !== BATCH) return [{ named, data }];
  const parts = [];
  let [account, at] = [0, 1];
  while (at + 2 <= data.length) {
    const [count = 0, length = 0] = data.subarray(at, at + 2);
    at += 2;
    parts.push({ named: named.slice(account, account + count), data: data.subarray(at, at + length) });
    account += count;
    at += length;
  }
  return parts;
}

function readTransfer(named: readonly string[], data: Buffer): Omit<TokenTransfer, 'program'> | undefined {
  const isPlain = data[0] === TRANSFER;
  const amountAt = data[0] === TRANSFER_FEE && data[1] === WITH_FEE ? 2 : 1;
  if (!isPlain && data[0] !== TRANSFER_CHECKED && amountAt === 1) return undefined;
  if (data.length < amountAt + 8) return undefined;
  const amount = data.readBigUInt64LE(amountAt);
  const [source, second, third, fourth] = named;
  const [mint, destination, authority] = isPlain ? [null, second, third] : [second, third, fourth];
  if (source === undefined || mint === undefined || destination === undefined || authority === undefined) {
    return undefined;
  }
  return { source, destination, mint, authority, amount };
}

/**
 * Why the policies forbid the tokens that a transaction moves; undefined when they allow them. Where a transfer does
 * not name its token, its source account tells it.
 * @param keys all accounts of the message; accounts from lookup tables come last
 */
export async function tokenFault(
  read: ReadFromEndpoint,
  message: CompiledMessage,
  keys: readonly string[],
  policy: SolanaPolicy,
): Promise<string | undefined> {
  if (policy.allowedTokens.length === 0) return undefined;
  const transfers = tokenTransfers(message, keys);
  const unnamed = [...new Set(transfers.flatMap(({ mint, source }) => (mint === null ? [source] : [])))];
  const sources = unnamed.length === 0 ? [] : await getAccounts(read, unnamed);
  const mintOf = new Map(unnamed.map((source, index) => [source, readTokenAccount(sources[index])?.mint]));
  const made = accountsCreated(message, keys);
  for (const { mint, source } of transfers) {
    if (mint === null && made.has(source))
      return `Policy violation: ${source} is made in the transaction that moves its tokens`;
    const moved = mint ?? mintOf.get(source);
    if (moved === undefined) return `Policy violation: ${source} is not a token account`;
    const fault = policyFaultText(policy, { token: moved });
    if (fault !== undefined) return fault;
  }
  return undefined;
}
