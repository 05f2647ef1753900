import { type Json, listIn, objectIn } from '../../domain/json/json.ts';
import { isNodeError, type ReadFromEndpoint, type RpcClient } from '../../egress/rpc/rpc-client.ts';
import { askOptionalFigure, parseOrNull } from '../optional-figure.ts';
import { onlyEndpointsServing } from '../served-chain.ts';
import { isAddress } from './address.ts';
import type { TransactionError } from './errors.ts';

/** How sure a block is, in the nodes' words. */
export type Commitment = 'processed' | 'confirmed' | 'finalized';

const CONFIRMED = { commitment: 'confirmed' };

/** The most signatures and accounts that one call takes (`getSignatureStatuses`, `getMultipleAccounts`). */
const MAX_SIGNATURES = 256;
const MAX_ACCOUNTS = 100;

/** The most accounts that `getRecentPrioritizationFees` takes. */
const MAX_PRICED = 128;

/** How a node is asked which chain it serves: by the hash of the first block. */
export const GENESIS = { method: 'getGenesisHash', served: address } as const;

/** The same endpoints. Only endpoints that serve this chain are believed. */
export function onlyOnChain(genesis: string, rpc: RpcClient): RpcClient {
  return onlyEndpointsServing(rpc, { ...GENESIS, chain: genesis });
}

/** In lamports. */
export function getBalance(read: ReadFromEndpoint, address: string): Promise<bigint> {
  return read('getBalance', [address, CONFIRMED], (answer) => integer(objectIn(answer)['value']));
}

export interface LatestBlockhash {
  blockhash: string;
  lastValidBlockHeight: bigint;
  slot: bigint;
}

export function latestBlockhash(read: ReadFromEndpoint): Promise<LatestBlockhash> {
  return read('getLatestBlockhash', [CONFIRMED], (answer) => {
    const { context, value } = objectIn(answer);
    const { blockhash, lastValidBlockHeight } = objectIn(value);
    return {
      blockhash: address(blockhash),
      lastValidBlockHeight: integer(lastValidBlockHeight),
      slot: integer(objectIn(context)['slot']),
    };
  });
}

/**
 * Whether the chain still takes transactions under a blockhash. False also for a blockhash that the node has not seen
 * yet.
 */
export async function isBlockhashValid(
  read: ReadFromEndpoint,
  blockhash: string,
  commitment: Commitment,
): Promise<boolean> {
  return (await blockhashValidity(read, blockhash, commitment)).isValid;
}

/** {@link isBlockhashValid}, with the slot that the answer is for. */
export function blockhashValidity(
  read: ReadFromEndpoint,
  blockhash: string,
  commitment: Commitment,
): Promise<{ isValid: boolean; slot: bigint }> {
  return read('isBlockhashValid', [blockhash, { commitment }], (answer) => {
    const { context, value } = objectIn(answer);
    return { isValid: boolean(value), slot: integer(objectIn(context)['slot']) };
  });
}

/** How far a node's chain goes. The height counts blocks. The slot also counts slots without a block. */
export interface ChainTip {
  slot: bigint;
  height: bigint;
}

export function chainTip(read: ReadFromEndpoint, commitment: Commitment): Promise<ChainTip> {
  return read('getEpochInfo', [{ commitment }], (answer) => {
    const { absoluteSlot, blockHeight } = objectIn(answer);
    return { slot: integer(absoluteSlot), height: integer(blockHeight) };
  });
}

/** When the block of a slot was made, in milliseconds since the epoch; null where the node cannot tell. */
export function blockTime(read: ReadFromEndpoint, slot: bigint): Promise<number | null> {
  return read('getBlockTime', [Number(slot)], (answer) => (answer === null ? null : Number(integer(answer)) * 1_000));
}

const NO_DEPTH = 'A transaction that was dropped is not proved to be in no block, so it does not end';

/**
 * The earliest slot whose block the node still has; undefined where it does not tell. Nodes that lack the usual method
 * may tell where their own ledger begins, which is no earlier.
 */
export async function firstAvailableBlock(read: ReadFromEndpoint): Promise<bigint | undefined> {
  const advice = { params: [], parse: integer, cost: NO_DEPTH };
  const first = await askOptionalFigure(read, { ...advice, method: 'getFirstAvailableBlock' });
  return first ?? (await askOptionalFigure(read, { ...advice, method: 'minimumLedgerSlot' }));
}

/** What a node knows of one signature. */
export interface SignatureStatus {
  slot: bigint;
  commitment: Commitment;
  /** Null where it succeeded. */
  error: TransactionError | null;
}

/**
 * Error codes of a node that keeps no transactions (agave, rpc-client-api/src/custom_error.rs), or lacks the method.
 */
const NO_HISTORY = new Set([-32_011, -32_601]);

/** Whether an error says that the node keeps no history. */
export function isWithoutHistory(error: unknown): boolean {
  return isNodeError(error) && NO_HISTORY.has(error.code ?? 0);
}

/**
 * As {@link signatureStatuses}. A node without history looks only in its latest blocks. Then `isWhole` is false, and a
 * missing status proves nothing.
 */
export async function knownStatuses(
  read: ReadFromEndpoint,
  signatures: readonly string[],
): Promise<{ slot: bigint; statuses: (SignatureStatus | null)[]; isWhole: boolean }> {
  try {
    return { ...(await signatureStatuses(read, signatures)), isWhole: true };
  } catch (error) {
    if (!isWithoutHistory(error)) throw error;
    return { ...(await signatureStatuses(read, signatures, { searches: false })), isWhole: false };
  }
}

/** The statuses in the order of the signatures; null where the node's history has none. */
export async function signatureStatuses(
  read: ReadFromEndpoint,
  signatures: readonly string[],
  { searches = true }: { searches?: boolean } = {},
): Promise<{ slot: bigint; statuses: (SignatureStatus | null)[] }> {
  const parts: string[][] = [];
  for (let at = 0; at < signatures.length; at += MAX_SIGNATURES) parts.push(signatures.slice(at, at + MAX_SIGNATURES));
  const answers = await Promise.all(
    parts.map((part) =>
      read('getSignatureStatuses', [part, { searchTransactionHistory: searches }], (answer) => {
        const { context, value } = objectIn(answer);
        const statuses = listIn(value).map(statusOf);
        if (statuses.length !== part.length) throw new TypeError('not as many statuses as signatures');
        return { slot: integer(objectIn(context)['slot']), statuses };
      }),
    ),
  );
  const slots = answers.map(({ slot }) => slot);
  return {
    slot: slots.reduce((least, slot) => (slot < least ? slot : least), slots[0] ?? 0n),
    statuses: answers.flatMap(({ statuses }) => statuses),
  };
}

function statusOf(value: Json): SignatureStatus | null {
  if (value === null) return null;
  const { slot, confirmationStatus, confirmations, err } = objectIn(value);
  return {
    slot: integer(slot),
    // Nodes before 1.5 do not name the commitment. Their null `confirmations` mean that the block is rooted.
    commitment:
      confirmationStatus == null
        ? confirmations === null
          ? 'finalized'
          : 'processed'
        : commitment(confirmationStatus),
    error: transactionError(err),
  };
}

/** What a message costs in lamports; undefined where the node does not tell, or does not know its blockhash. */
export async function getMessageFee(read: ReadFromEndpoint, message: string): Promise<bigint | undefined> {
  const fee = await askOptionalFigure(read, {
    method: 'getFeeForMessage',
    params: [message, CONFIRMED],
    parse: (answer) => {
      const { value } = objectIn(answer);
      return value === null ? null : integer(value);
    },
    cost: 'Fees are computed by the rules of the public networks',
  });
  return fee ?? undefined;
}

/**
 * Priority prices of the latest slots in which these accounts were written to, in micro-lamports per compute unit; none
 * where the node does not tell.
 */
export async function recentPrices(read: ReadFromEndpoint, accounts: readonly string[]): Promise<bigint[]> {
  const prices = await askOptionalFigure(read, {
    method: 'getRecentPrioritizationFees',
    params: [accounts.slice(0, MAX_PRICED)],
    parse: (answer) => listIn(answer).map((entry) => integer(objectIn(entry)['prioritizationFee'])),
    cost: 'A first attempt offers no price for priority; further ones do',
  });
  return prices ?? [];
}

/** The result of a trial: a node simulated the transaction. */
export interface Simulation {
  error: TransactionError | null;
  logs: string[];
  /** In compute units. */
  used: bigint | null;
  /** Every program that was called, by an instruction or by another program; null where the logs were cut off. */
  programs: string[] | null;
  /** The requested accounts, in their order, as they would be afterwards; empty where the node did not tell. */
  accounts: (OnChainAccount | null)[];
}

/** The line that replaces all further log lines after 10,000 bytes (agave, `LogCollector`). */
const CUT_OFF = 'Log truncated';

function calledIn(line: string): string[] {
  const [, program] = /^Program (\S+) invoke \[\d+\]$/.exec(line) ?? [];
  return program === undefined ? [] : [program];
}

/** Simulates a transaction, under its own blockhash or the node's latest. Its signatures may be missing. */
export function simulateTransaction(
  read: ReadFromEndpoint,
  transaction: string,
  { replacesBlockhash, after = [] }: { replacesBlockhash: boolean; after?: string[] },
): Promise<Simulation> {
  const options = {
    encoding: 'base64',
    sigVerify: false,
    replaceRecentBlockhash: replacesBlockhash,
    ...(after.length === 0 ? {} : { accounts: { encoding: 'base64', addresses: after } }),
    ...CONFIRMED,
  };
  return read('simulateTransaction', [transaction, options], (answer) => {
    const { err, logs, unitsConsumed, accounts } = objectIn(objectIn(answer)['value']);
    const lines = logs == null ? [] : listIn(logs).filter((line) => typeof line === 'string');
    return {
      error: transactionError(err),
      logs: lines,
      used: unitsConsumed == null ? null : integer(unitsConsumed),
      programs: lines.includes(CUT_OFF) ? null : [...new Set(lines.flatMap(calledIn))],
      accounts: after.length === 0 || accounts == null ? [] : listIn(accounts).map(accountOf),
    };
  });
}

/** One account's content. */
export interface OnChainAccount {
  lamports: bigint;
  owner: string;
  isExecutable: boolean;
  data: Buffer;
}

/** The accounts in the order of the addresses; null for an address without an account. */
export async function getAccounts(
  read: ReadFromEndpoint,
  addresses: readonly string[],
  commitment: Commitment = 'confirmed',
): Promise<(OnChainAccount | null)[]> {
  const parts: string[][] = [];
  for (let at = 0; at < addresses.length; at += MAX_ACCOUNTS) parts.push(addresses.slice(at, at + MAX_ACCOUNTS));
  const answers = await Promise.all(parts.map((part) => getAccountsWithSlot(read, part, commitment)));
  return answers.flatMap(({ accounts }) => accounts);
}

/** The same for as many addresses as one call takes, with the slot that the answer is for. */
export function getAccountsWithSlot(
  read: ReadFromEndpoint,
  addresses: string[],
  commitment: Commitment,
): Promise<{ slot: bigint; accounts: (OnChainAccount | null)[] }> {
  return read('getMultipleAccounts', [addresses, { encoding: 'base64', commitment }], (answer) => {
    const { context, value } = objectIn(answer);
    const accounts = listIn(value).map(accountOf);
    if (accounts.length !== addresses.length) throw new TypeError('not as many accounts as addresses');
    return { slot: integer(objectIn(context)['slot']), accounts };
  });
}

function accountOf(value: Json): OnChainAccount | null {
  if (value === null) return null;
  const { lamports, owner, executable, data } = objectIn(value);
  return {
    lamports: integer(lamports),
    owner: address(owner),
    isExecutable: boolean(executable),
    data: bytes(data),
  };
}

/** The least balance of an account of this size, in lamports (rent exemption). */
export function getRentExemption(read: ReadFromEndpoint, bytes: number): Promise<bigint> {
  return read('getMinimumBalanceForRentExemption', [bytes, CONFIRMED], integer);
}

/** A transaction that is in a block. */
export interface IncludedTransaction {
  slot: bigint;
  /** In lamports; null where the node does not tell. */
  fee: bigint | null;
  logs: string[];
  /** Null where it succeeded. */
  error: TransactionError | null;
}

/** Asks for a transaction by its signature; null where the node does not have it. */
export function getTransaction(
  read: ReadFromEndpoint,
  signature: string,
  commitment: Exclude<Commitment, 'processed'> = 'confirmed',
): Promise<IncludedTransaction | null> {
  const options = { encoding: 'base64', maxSupportedTransactionVersion: 0, commitment };
  return read('getTransaction', [signature, options], (answer) => {
    if (answer === null) return null;
    const { slot, meta } = objectIn(answer);
    const { err, fee, logMessages } = objectIn(meta);
    const logs = (parseOrNull(logMessages, listIn) ?? []).filter((line) => typeof line === 'string');
    return { slot: integer(slot), fee: parseOrNull(fee, integer), logs, error: transactionError(err) };
  });
}

/** The most signatures of one page of `getSignaturesForAddress`. */
const MAX_LISTED = 1_000;

/** The signatures of transactions that name an account, the newest first, and when their blocks were made. */
export function signaturesFor(
  read: ReadFromEndpoint,
  account: string,
  before: string | undefined,
): Promise<{ signature: string; madeAt: number | null }[]> {
  const options = { ...CONFIRMED, limit: MAX_LISTED, ...(before === undefined ? {} : { before }) };
  return read(
    'getSignaturesForAddress',
    [account, options],
    (answer) =>
      listIn(answer).map((one) => {
        const { signature, blockTime: at } = objectIn(one);
        if (typeof signature !== 'string') throw new TypeError('not a signature');
        return { signature, madeAt: at == null ? null : Number(integer(at)) * 1_000 };
      }),
    { isLong: true },
  );
}

/** A transaction's bytes, in base64, its slot and its fee; null where the node does not have it. */
export function getTransactionBytes(
  read: ReadFromEndpoint,
  signature: string,
): Promise<{ bytes: string; slot: bigint; fee: bigint } | null> {
  const options = { encoding: 'base64', maxSupportedTransactionVersion: 0, ...CONFIRMED };
  return read('getTransaction', [signature, options], (answer) => {
    if (answer === null) return null;
    const { slot, meta, transaction } = objectIn(answer);
    const [bytes] = listIn(transaction);
    if (typeof bytes !== 'string') throw new TypeError('not a transaction');
    return { bytes, slot: integer(slot), fee: integer(objectIn(meta)['fee']) };
  });
}

/**
 * Null where the transaction succeeded. An answer without the field does not say how the transaction went, and is
 * refused.
 */
function transactionError(value: Json | undefined): TransactionError | null {
  return value === null || typeof value === 'string' ? value : objectIn(value);
}

const COMMITMENTS: readonly Json[] = ['processed', 'confirmed', 'finalized'] satisfies Commitment[];

function commitment(value: Json): Commitment {
  if (!COMMITMENTS.includes(value)) throw new TypeError('not a commitment');
  return value as Commitment;
}

/** A figure above 2^53 has lost its last digits in JSON. No account has that much. */
function integer(value: Json | undefined): bigint {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) throw new TypeError('not an amount');
  return BigInt(value);
}

function boolean(value: Json | undefined): boolean {
  if (typeof value !== 'boolean') throw new TypeError('not true or false');
  return value;
}

function address(value: Json | undefined): string {
  if (typeof value !== 'string' || !isAddress(value)) throw new TypeError('not 32 bytes in base58');
  return value;
}

/** Reads bytes that come with the name of their encoding. Every request asks for base64. */
function bytes(value: Json | undefined): Buffer {
  const [content, encoding] = listIn(value);
  const decoded = typeof content === 'string' && encoding === 'base64' ? Buffer.from(content, 'base64') : null;
  if (decoded === null || decoded.toString('base64') !== content) throw new TypeError('not bytes in base64');
  return decoded;
}
