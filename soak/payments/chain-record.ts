import type { Anvil } from '../../test/support/anvil.ts';
import { COUNTER, type Intention } from './plan.ts';

/** A transaction in a block, as the node itself tells it. All texts in lower case. */
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
  /** Transactions of the account in blocks. */
  mined: number;
  /** With those in the pool. */
  pending: number;
}

/** What the chain itself says of a run, past everything under test. */
export interface ChainRecord {
  readonly entries: readonly ChainEntry[];
  readonly accounts: ReadonlyMap<string, AccountRecord>;
  /** Transactions that wait in the pool, of anybody. */
  readonly pool: number;
  /** By index: how often the effect is there, by the receiver's balance or the contract's count. */
  readonly effects: ReadonlyMap<number, bigint>;
}

interface Block {
  transactions: { hash: string; from: string; nonce: string; to: string | null; input: string; value: string }[];
}

const AT_ONCE = 16;

/** Reads every block, and for each request how often its effect is in the state. */
export async function readChain(
  anvil: Anvil,
  addresses: readonly string[],
  intentions: readonly Intention[],
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

async function entriesOf(anvil: Anvil, number: string): Promise<ChainEntry[]> {
  const { transactions } = (await anvil.rpc('eth_getBlockByNumber', [number, true])) as Block;
  if (transactions.length === 0) return [];
  const receipts = (await anvil.rpc('eth_getBlockReceipts', [number])) as { transactionHash: string; status: string }[];
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

async function effectsOf(anvil: Anvil, { kind, to, data }: Intention): Promise<bigint> {
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

async function eachOf<In, Out>(items: readonly In[], ask: (item: In) => Promise<Out>): Promise<Out[]> {
  const out: Out[] = [];
  for (let start = 0; start < items.length; start += AT_ONCE) {
    out.push(...(await Promise.all(items.slice(start, start + AT_ONCE).map(ask))));
  }
  return out;
}
