import { randomBytes } from 'node:crypto';
import { toBase58 } from './base58.ts';

export type Commitment = 'processed' | 'confirmed' | 'finalized';

/** A finished block; the runtime speaks of a frozen bank. */
export interface Block {
  readonly slot: number;
  readonly height: number;
  readonly hash: string;
  readonly parent: { slot: number; hash: string };
  /** Unix seconds. */
  readonly time: number;
  /** In their order. */
  readonly signatures: string[];
}

/** How many blocks above a block make it confirmed and final, and for how many blocks its hash is valid. */
export interface Depths {
  confirmed: number;
  finalized: number;
  blockhash: number;
}

/** The distance between heights and slots, as large as on mainnet. It shows code that confuses the two. */
const SKIPPED_BEFORE = 21_000_000;

/** The blocks of the chain, without the accounts. Slots only grow. Heights fall in a fork. */
export class Blocks {
  readonly depths: Depths;
  readonly #list: Block[] = [];
  readonly #byHash = new Map<string, Block>();
  #slot: number;
  /** The highest height that was ever final. */
  #final = 0;

  /** Starts with enough empty blocks to make the first one final. */
  constructor(slot: number, depths: Depths) {
    this.depths = depths;
    this.#slot = slot;
    const first = { slot: slot - 1, hash: toBase58(randomBytes(32)) };
    this.#add({ ...first, height: slot - 1 - SKIPPED_BEFORE, parent: first, time: now(), signatures: [] });
    for (let index = 0; index < depths.finalized; index += 1) this.add([]);
  }

  get newest(): Block {
    return this.#list.at(-1) as Block;
  }

  get oldest(): Block {
    return this.#list[0] as Block;
  }

  /** The slot of the block that comes next. */
  get nextSlot(): number {
    return this.#slot;
  }

  /** The next block. */
  add(signatures: string[]): Block {
    const { slot, hash, height } = this.newest;
    const block = { height: height + 1, hash: toBase58(randomBytes(32)), parent: { slot, hash } };
    return this.#add({ ...block, slot: this.#slot, time: now(), signatures });
  }

  #add(block: Block): Block {
    this.#list.push(block);
    this.#byHash.set(block.hash, block);
    this.#slot = block.slot + 1;
    this.#final = Math.max(this.#final, block.height - this.depths.finalized, this.oldest.height);
    return block;
  }

  /** Skips slots without a block. */
  skip(slots: number): void {
    this.#slot += slots;
  }

  /** How many blocks are not final. */
  get removable(): number {
    return this.newest.height - this.#final;
  }

  /** Removes the newest blocks, as if they had never been on the chain. */
  removeNewest(count: number): Block[] {
    const removed = this.#list.splice(-count, count);
    for (const block of removed) this.#byHash.delete(block.hash);
    return removed;
  }

  /** The newest block of a commitment, as seen by a node that is some blocks behind. */
  at(commitment: Commitment, behind: number): Block {
    const depth = commitment === 'processed' ? 0 : this.depths[commitment];
    // Final blocks stay final when a fork has made the chain shorter.
    const height = Math.max(this.newest.height - depth, this.#final) - behind;
    return this.#list[Math.max(height - this.oldest.height, 0)] as Block;
  }

  /** Undefined for a slot without a block. */
  ofSlot(slot: number): Block | undefined {
    return this.#list.find((block) => block.slot === slot);
  }

  between(from: number, to: number): Block[] {
    return this.#list.filter(({ slot }) => slot >= from && slot <= to);
  }

  /** The newest ones, newest first. */
  latest(count: number): Block[] {
    return this.#list.slice(-count).reverse();
  }

  ofHash(hash: string): Block | undefined {
    return this.#byHash.get(hash);
  }

  /** Whether the child of a block may hold a transaction with this blockhash. */
  isAlive(hash: string, above: Block): boolean {
    const block = this.#byHash.get(hash);
    if (block === undefined || block.height > above.height) return false;
    return above.height - block.height <= this.depths.blockhash;
  }

  lastValidHeight(block: Block): number {
    return block.height + this.depths.blockhash;
  }
}

const now = () => Math.floor(Date.now() / 1000);
