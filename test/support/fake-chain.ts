import { createHash } from 'node:crypto';
import type { BroadcastOutcome } from '../../src/chains/chain-client.ts';
import type { FaultSource } from './fake-wire.ts';

/** What a signed transaction of the fake chain says; its raw form is the JSON of this. */
export interface FakeTransaction {
  from: string;
  nonce: string;
  /** What it does; the same text executed twice is a double effect. */
  effect: string;
  cost: string;
  reverts: boolean;
  /** A version takes another's place when it pays a tenth more. */
  price: string;
  /** Only makes the bytes others. */
  variation?: number;
}

interface Included {
  transaction: FakeTransaction;
  hash: string;
}

/**
 * A chain in memory with the rules that matter to a relayer: one nonce is used once and in order, a pool that can
 * forget, blocks that a reorganisation can take back, finality at a depth.
 */
export class FakeChain {
  readonly confirmations: number;
  /** Refuses what leaves a gap, instead of keeping it for later. */
  strict = false;
  balance = 10n ** 18n;
  /** When its latest block was made, in milliseconds since the epoch. */
  time: () => number = () => Date.now();
  /** Whether the pool has no room for what it says that it takes, by how many of the account it holds. */
  dropsSilently: (held: number) => boolean = () => false;
  /** Whether it has no room for more, and says so. As in reth, the next sequence is let through. */
  isFull: (held: number) => boolean = () => false;
  /** The least that a transaction pays. */
  floor = 1n;
  /** Effects that no node takes. */
  readonly unacceptable = new Set<string>();
  /** Asked before each call of a client; told the bytes that are offered. */
  fault: FaultSource = () => undefined;
  /** All bytes that ever reached a node, in order. */
  readonly received: string[] = [];
  #blocks: Included[][] = [];
  #pool = new Map<string, Map<bigint, Included>>();

  constructor(confirmations = 3) {
    this.confirmations = confirmations;
  }

  get height(): number {
    return this.#blocks.length;
  }

  /** What is in the chain's blocks, in order. */
  get executed(): Included[] {
    return this.#blocks.flat();
  }

  submit(raw: string): BroadcastOutcome {
    this.received.push(raw);
    const transaction = JSON.parse(raw) as FakeTransaction;
    const nonce = BigInt(transaction.nonce);
    const next = this.#minedCount(transaction.from, this.#blocks.length);
    const hash = hashOf(raw);
    const pool = this.#poolOf(transaction.from);
    if (nonce < next) return { kind: 'anchor-used', reason: 'nonce too low' };
    const held = pool.get(nonce);
    if (held !== undefined) {
      if (held.hash === hash) return { kind: 'accepted' };
      const asked = (BigInt(held.transaction.price) * 11n) / 10n;
      if (BigInt(transaction.price) < asked) return { kind: 'underpriced', reason: 'replacement underpriced' };
    }
    if (this.unacceptable.has(transaction.effect)) return { kind: 'refused', reason: 'transaction type not supported' };
    if (BigInt(transaction.price) < this.floor) return { kind: 'fee-too-low', reason: 'transaction underpriced' };
    if (this.strict && nonce > this.pendingCount(transaction.from)) {
      return { kind: 'anchor-ahead', reason: 'nonce too high' };
    }
    if (this.balance < BigInt(transaction.cost)) return { kind: 'unfunded', reason: 'insufficient funds' };
    if (held === undefined && nonce > next && this.isFull(pool.size))
      return { kind: 'busy', reason: 'account limit exceeded' };
    if (held === undefined && this.dropsSilently(pool.size)) return { kind: 'accepted' };
    pool.set(nonce, { transaction, hash });
    return { kind: 'accepted' };
  }

  /** Puts what the pool holds in order into a block, at most `limit` transactions of each account. */
  mine(limit = Number.POSITIVE_INFINITY): void {
    const block: Included[] = [];
    for (const [from, pool] of this.#pool) {
      const first = this.#minedCount(from, this.#blocks.length);
      for (let nonce = first; block.length < limit; nonce += 1n) {
        const entry = pool.get(nonce);
        if (entry === undefined) break;
        pool.delete(nonce);
        block.push(entry);
      }
    }
    this.#blocks.push(block);
  }

  /** Takes the latest blocks back; what was in them is forgotten. Never deeper than what is final. */
  reorganise(depth: number): void {
    this.#blocks.splice(this.#blocks.length - Math.min(depth, this.confirmations - 1, this.#blocks.length));
  }

  /** All is forgotten, as when a node for development is started anew. */
  restart(): void {
    this.#blocks = [];
    this.#pool = new Map();
  }

  /** The node restarts with an empty pool. */
  forgetPool(): void {
    this.#pool = new Map();
  }

  /** The count of mined transactions and of those that follow in the pool. */
  pendingCount(from: string): bigint {
    let count = this.#minedCount(from, this.#blocks.length);
    while (this.#poolOf(from).has(count)) count += 1n;
    return count;
  }

  /** The count of mined transactions. */
  minedCount(from: string): bigint {
    return this.#minedCount(from, this.#blocks.length);
  }

  /** The count of mined transactions at final depth. */
  finalCount(from: string): bigint {
    return this.#minedCount(from, Math.max(this.#blocks.length - this.confirmations + 1, 0));
  }

  find(hash: string): { reverts: boolean; block: number; final: boolean } | undefined {
    const block = this.#blocks.findIndex((entries) => entries.some((entry) => entry.hash === hash));
    const entry = this.#blocks[block]?.find((candidate) => candidate.hash === hash);
    if (entry === undefined) return undefined;
    const final = this.#blocks.length - block >= this.confirmations;
    return { reverts: entry.transaction.reverts, block, final };
  }

  #minedCount(from: string, blocks: number): bigint {
    const own = this.#blocks.slice(0, blocks).flat();
    return BigInt(own.filter(({ transaction }) => transaction.from === from).length);
  }

  #poolOf(from: string): Map<bigint, Included> {
    const pool = this.#pool.get(from) ?? new Map<bigint, Included>();
    this.#pool.set(from, pool);
    return pool;
  }
}

/** The hash of signed bytes of the fake chain. */
export function hashOf(raw: string): string {
  return createHash('sha256').update(raw).digest('hex');
}
