import { smallestAmount } from '../../../domain/amount.ts';
import type { ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import type { Timestamp } from '../../../features/transactions/records/transaction.ts';
import { blockTime, getFullBlock } from '../rpc-calls.ts';
import { type LostNonce, type NonceUse, nonceUseInBlock } from './nonce-use.ts';
import { undefinedIfRefused } from './receipts.ts';

/** A used nonce, and the earliest time at which an attempt of ours can have used it. */
export interface SearchedNonce extends LostNonce {
  signedAt: Timestamp;
}

/** Looks for uses of an account's nonces in the content of blocks. This is the last way where states are pruned. */
export interface BlockBodySearch {
  /**
   * Reads some more blocks, none above `last`, and returns the uses that they show. All sought nonces are of one
   * account. Undefined if the node shows none of these blocks.
   */
  readOn<T extends SearchedNonce>(
    read: ReadFromEndpoint,
    nonces: readonly T[],
    last: bigint,
  ): Promise<Map<T, NonceUse> | undefined>;
}

/** Where the search for an account's nonces stands. Which endpoint read a block does not matter: only finds count. */
interface Place {
  nonces: string;
  low: bigint;
  high: bigint;
  next: bigint;
}

/** How many blocks are read in one look. Each has up to a few hundred kilobytes. */
const BLOCKS_AT_ONCE = 64;
const CALLS_AT_ONCE = 16;
/** How far a node's clock and ours may be apart. */
const SLACK_MS = 300_000;

/**
 * Makes a search that keeps its place for each account. A search begins at the block of the time at which the first
 * transaction was signed, and goes up: most transactions are in a block soon after. From the chain's end it goes on
 * below its beginning, in stretches that double, because the clock may have been wrong. After the chain's first block
 * it begins anew.
 */
export function createBlockBodySearch(): BlockBodySearch {
  const places = new Map<string, Place>();

  async function placeFor(read: ReadFromEndpoint, nonces: readonly SearchedNonce[], last: bigint): Promise<Place> {
    const account = nonces[0]?.account ?? '';
    const names = nonces.map(({ sequence }) => sequence).join();
    const known = places.get(account);
    if (known?.nonces === names) return known;
    const since = Math.min(...nonces.map(({ signedAt }) => signedAt)) - SLACK_MS;
    const low = await firstBlockSince(read, since, last);
    const place = { nonces: names, low, high: last, next: low };
    places.set(account, place);
    return place;
  }

  function goOn(account: string, { nonces, low, high }: Place): void {
    if (low === 0n) {
      places.delete(account);
      return;
    }
    const below = low - 2n * (high - low + 1n);
    const next = below > 0n ? below : 0n;
    places.set(account, { nonces, low: next, high: low - 1n, next });
  }

  return {
    async readOn(read, nonces, last) {
      const place = await placeFor(read, nonces, last);
      const found = new Map<(typeof nonces)[number], NonceUse>();
      const end = smallestAmount(place.high, place.next + BigInt(BLOCKS_AT_ONCE) - 1n);
      let shown = 0;
      while (place.next <= end && found.size < nonces.length) {
        const numbers = upTo(place.next, smallestAmount(end, place.next + BigInt(CALLS_AT_ONCE) - 1n));
        const blocks = await Promise.all(numbers.map((number) => getFullBlock(read, number).catch(undefinedIfRefused)));
        for (const [index, block] of blocks.entries()) {
          if (block == null) continue;
          shown += 1;
          for (const one of nonces) {
            const use = nonceUseInBlock(block, numbers[index] ?? 0n, one);
            if (use !== undefined) found.set(one, use);
          }
        }
        place.next += BigInt(numbers.length);
      }
      if (place.next > place.high) goOn(nonces[0]?.account ?? '', place);
      return shown === 0 ? undefined : found;
    },
  };
}

/** The first block that was made at `since` or later. Blocks that the node does not show count as older. */
async function firstBlockSince(read: ReadFromEndpoint, since: Timestamp, last: bigint): Promise<bigint> {
  let low = 0n;
  let high = last;
  while (low < high) {
    const middle = (low + high) / 2n;
    const madeAt = await blockTime(read, middle).catch(undefinedIfRefused);
    if (madeAt == null || madeAt < since) low = middle + 1n;
    else high = middle;
  }
  return low;
}

function upTo(first: bigint, last: bigint): bigint[] {
  return Array.from({ length: Number(last - first) + 1 }, (_, index) => first + BigInt(index));
}
