import { setTimeout as sleep } from 'node:timers/promises';
import type { Anvil } from '../../../../support/anvil.ts';
import type { Execution } from '../../../../support/model/judge.ts';
import type { AnswerBody } from '../../../../support/service.ts';
import type { ChainReading, Shown } from '../chain.ts';
import { eachOf } from '../each-of.ts';
import { COUNTER, type EvmIntention, markOf } from './plan.ts';

/** A transaction in a block, as the node reports it. All strings are in lower case. */
export interface ChainEntry {
  hash: string;
  from: string;
  nonce: number;
  to: string | null;
  data: string;
  value: bigint;
  succeeded: boolean;
}

export interface AccountRecord {
  /** The number of the account's transactions in blocks. */
  mined: number;
  /** The same number with those in the pool. */
  pending: number;
}

/** What a run did on the chain, read directly from the node. */
export interface ChainRecord {
  readonly entries: readonly ChainEntry[];
  readonly accounts: ReadonlyMap<string, AccountRecord>;
  /** The number of transactions in the pool, of all accounts. */
  readonly pool: number;
  /** By index: how often the effect is in the state, by the receiver's balance or the contract's count. */
  readonly effects: ReadonlyMap<number, bigint>;
}

interface Block {
  transactions: { hash: string; from: string; nonce: string; to: string | null; input: string; value: string }[];
}

/** Reads every block, and how often the effect of each request is in the state. */
export async function readChain(
  anvil: Anvil,
  addresses: readonly string[],
  intentions: readonly EvmIntention[],
): Promise<ChainRecord> {
  const height = Number(await anvil.rpc('eth_blockNumber'));
  const numbers = Array.from({ length: height + 1 }, (_, number) => number);
  const blocks = await eachOf(numbers, (number) => entriesOf(anvil, `0x${number.toString(16)}`));
  const effects = await eachOf(intentions, async (intention) => [intention.index, await effectsOf(anvil, intention)]);
  const accounts = await eachOf([...new Set(addresses)], async (address) => {
    const count = async (tag: string) => Number(await anvil.rpc('eth_getTransactionCount', [address, tag]));
    return [address, { mined: await count('latest'), pending: await count('pending') }] as const;
  });
  const pool = (await anvil.rpc('txpool_status')) as { pending: string; queued: string };
  return {
    entries: blocks.flat(),
    accounts: new Map(accounts),
    pool: Number(pool.pending) + Number(pool.queued),
    effects: new Map(effects as [number, bigint][]),
  };
}

/** {@link ChainReading} of a record. @param foreign hashes of transactions that were sent without the service */
export function readingOf(record: ChainRecord, foreign: ReadonlySet<string>): ChainReading {
  return {
    executions: record.entries.map((entry) => executionOf(entry, foreign)),
    effects: record.effects,
    diedAt: new Map(),
    // No request of the plan is refused for its content.
    isRefused: () => false,
    judgeAccounts: (shown) => {
      const { gaps, wrong } = judgeAccounts(shown, record);
      return { gaps, wrong: [...wrong, ...starved(record)] };
    },
  };
}

/** An EVM transaction as the API shows it. */
export function readShown(transaction: AnswerBody): Shown {
  const { id, status, status_reason: reason, hash, from, nonce } = transaction;
  return {
    id,
    status,
    reason,
    hash: hash?.toLowerCase() ?? null,
    effect: markOf(transaction),
    anchor: nonce === null ? null : anchorOf(from.toLowerCase(), nonce),
    bytes: null,
  };
}

function executionOf(entry: ChainEntry, foreign: ReadonlySet<string>): Execution {
  return {
    hash: entry.hash,
    effect: isNoop(entry) ? null : markOf(entry),
    anchor: anchorOf(entry.from, entry.nonce),
    succeeded: entry.succeeded,
    isForeign: foreign.has(entry.hash),
  };
}

/** Finds open nonces, and nonces that several transactions show. */
function judgeAccounts(shown: readonly Shown[], { accounts, pool }: ChainRecord): { gaps: string[]; wrong: string[] } {
  const gaps = pool > 0 ? [`${pool} transactions wait in the pool`] : [];
  const wrong: string[] = [];
  const anchors = shown.flatMap(({ anchor }) => anchor ?? []);
  for (const [address, { mined, pending }] of accounts) {
    const used = anchors.flatMap((anchor) => noncesIn(anchor, address));
    const next = Math.max(-1, ...used) + 1;
    // More may be mined than are shown, because the stranger also uses nonces.
    if (next > mined) gaps.push(`${address}: nonce ${next - 1} was signed, ${mined} are mined`);
    if (pending !== mined) gaps.push(`${address}: ${mined} are mined, the node counts ${pending}`);
    const twice = used.filter((nonce, index) => used.indexOf(nonce) !== index);
    if (twice.length > 0) wrong.push(`${address}: several transactions show nonces ${twice.join(', ')}`);
  }
  return { gaps, wrong };
}

/** Calls that had too little gas: nothing else makes the counter fail. */
function starved({ entries }: ChainRecord): string[] {
  const failed = entries.filter(({ to, succeeded }) => to === COUNTER.address && !succeeded);
  return failed.map(({ hash }) => `${hash} called the counter with too little gas`);
}

/** Whether a transaction only consumes its nonce. */
function isNoop({ from, to, value, data }: ChainEntry): boolean {
  return to === from && value === 0n && data === '0x';
}

function anchorOf(from: string, nonce: number): string {
  return `${from} ${nonce}`;
}

/** The nonce of an anchor if it belongs to this account, otherwise none. */
function noncesIn(anchor: string, address: string): number[] {
  const [from, nonce] = anchor.split(' ');
  return from === address ? [Number(nonce)] : [];
}

/** How often a node is asked for a block that it counts and does not show, and the pause between. */
const [TRIES, PAUSE_MS] = [50, 100];

/** Asks again while the node answers null: it counts its latest block for a moment before it shows it. */
async function shown(anvil: Anvil, method: string, params: readonly unknown[]): Promise<unknown> {
  for (let tries = 1; ; tries += 1) {
    const answer = await anvil.rpc(method, params);
    if (answer !== null) return answer;
    if (tries === TRIES) throw new Error(`the node answers null to ${method} ${JSON.stringify(params)}`);
    await sleep(PAUSE_MS);
  }
}

async function entriesOf(anvil: Anvil, number: string): Promise<ChainEntry[]> {
  const { transactions } = (await shown(anvil, 'eth_getBlockByNumber', [number, true])) as Block;
  if (transactions.length === 0) return [];
  const receipts = (await shown(anvil, 'eth_getBlockReceipts', [number])) as {
    transactionHash: string;
    status: string;
  }[];
  const statuses = new Map(receipts.map(({ transactionHash, status }) => [transactionHash, status]));
  return transactions.map(({ hash, from, nonce, to, input, value }) => ({
    hash: hash.toLowerCase(),
    from: from.toLowerCase(),
    nonce: Number(nonce),
    to: to?.toLowerCase() ?? null,
    data: input.toLowerCase(),
    value: BigInt(value),
    succeeded: statuses.get(hash) === '0x1',
  }));
}

async function effectsOf(anvil: Anvil, { kind, to, data }: EvmIntention): Promise<bigint> {
  switch (kind) {
    case 'payment':
      return BigInt(String(await anvil.rpc('eth_getBalance', [to, 'latest'])));
    case 'count':
      return BigInt(String(await anvil.rpc('eth_getStorageAt', [COUNTER.address, data, 'latest'])));
    case 'revert':
      return 0n;
    default:
      return kind satisfies never;
  }
}
