import { createHash } from 'node:crypto';
import type { BroadcastOutcome } from '../../src/chains/chain-client.ts';
import type { FaultSource } from './fake-wire.ts';

/** A signed transaction of the fake chain. Its raw form is this object as JSON. */
export interface FakeTransaction {
  from: string;
  nonce: string;
  /** What it does; the same text executed twice is a double effect. */
  effect: string;
  cost: string;
  reverts: boolean;
  /** The price. A version replaces another when it pays a tenth more. */
  price: string;
  /** Makes the bytes differ, and has no other effect. */
  variation?: number;
}

interface Included {
  transaction: FakeTransaction;
  hash: string;
}

/**
 * A chain in memory with the rules that matter to a relayer. Nonces are used once and in order. The pool can forget
 * transactions, a reorganisation can undo blocks, and blocks are final at a depth.
 */
export class FakeChain {
  readonly confirmations: number;
  /** Refuses transactions that leave a nonce gap, instead of keeping them for later. */
  strict = false;
  balance = 10n ** 18n;
  /** The time of the latest block, in milliseconds since the epoch. */
  time: () => number = () => Date.now();
  /**
   * Whether the pool drops a transaction that it said it took. `held` is the number of the account's transactions in
   * the pool.
   */
  dropsSilently: (held: number) => boolean = () => false;
  /** Whether the pool is full and says so. As in reth, the next sequence is still taken. */
  isFull: (held: number) => boolean = () => false;
  /** The lowest price that the chain takes. */
  floor = 1n;
  /** Effects that no node takes. */
  readonly unacceptable = new Set<string>();
  /** Called before each call of a client, with the bytes that are offered. */
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

  /** The transactions in the chain's blocks, in order. */
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

  /** Puts the pool's transactions into a block in order, at most `limit` of each account. */
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

  /** Removes the latest blocks and their transactions. Never removes final blocks. */
  reorganise(depth: number): void {
    this.#blocks.splice(this.#blocks.length - Math.min(depth, this.confirmations - 1, this.#blocks.length));
  }

  /** Forgets everything, as a development node does when it starts again. */
  restart(): void {
    this.#blocks = [];
    this.#pool = new Map();
  }

  /** The node restarts with an empty pool. */
  forgetPool(): void {
    this.#pool = new Map();
  }

  /** The number of mined transactions and of those that follow them in the pool. */
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
