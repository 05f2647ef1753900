import type { BroadcastOutcome } from '../../../src/chains/chain-client.ts';
import { hashOf } from '../fake-chain.ts';
import type { FaultSource } from '../fake-wire.ts';

/** A signed transaction. Its raw form is this object as JSON. Its hash is the hash of the content. */
export interface BlockhashTransaction {
  readonly from: string;
  /** The payment that it makes. Several transactions may make the same one. */
  readonly pays: string;
  readonly reverts: boolean;
  /**
   * The height up to which it can be in a block. With `nonce` instead: it can be in a block while the nonce account has
   * this value, `account:value`.
   */
  readonly until?: number;
  readonly nonce?: string;
  /** Makes the bytes differ, and has no other effect. */
  readonly variation?: number;
}

interface Landed {
  readonly transaction: BlockhashTransaction;
  readonly hash: string;
}

/** The number of blocks above a final block. */
const DEPTH = 2;

/** For how many blocks a blockhash is valid: while the network is in trouble, and while it is quiet. */
const SHORT = 4;
const LONG = 400;

/**
 * A chain in memory whose transactions have no order. The same bytes execute at most once, and only up to a height.
 * Blocks can be undone until they are final.
 */
export class BlockhashChain {
  /** Called before each call of a client, with the bytes that are offered. */
  fault: FaultSource = () => undefined;
  /** Effects that no node takes. */
  readonly unacceptable = new Set<string>();
  /** All bytes that ever reached a node. */
  readonly received = new Set<string>();
  /**
   * The effects for which bytes were sent, by the bytes' hash. Each hash must have one effect only. Otherwise two
   * payments would be one.
   */
  readonly purposes = new Map<string, Set<string>>();
  /** For how many blocks new blockhashes are valid. */
  lasting = SHORT;
  readonly #pool = new Map<string, BlockhashTransaction>();
  #blocks: Landed[][] = [];
  /** When each height was final for the first time, in milliseconds since the epoch. */
  readonly #finalSince: number[] = [];
  #foreign = 0;

  get height(): number {
    return this.#blocks.length;
  }

  /** The highest block that can no longer be taken back. */
  get finalHeight(): number {
    return Math.max(this.height - DEPTH, 0);
  }

  /** What is in blocks, in order. */
  get landed(): Landed[] {
    return this.#blocks.flat();
  }

  /** Whether something waits that could still get into a block. */
  get isBusy(): boolean {
    return [...this.#pool.values()].some((transaction) => this.#isValid(transaction, this.height + 1));
  }

  /** The last height for a transaction that is signed now. */
  get lastHeight(): number {
    return this.finalHeight + this.lasting;
  }

  /** Makes later blockhashes valid for longer, for the end of a history. */
  calmDown(): void {
    this.lasting = LONG;
  }

  /**
   * Offers bytes.
   * @param effect what they are sent for
   */
  submit(raw: string, effect: string): BroadcastOutcome {
    this.received.add(raw);
    const hash = hashOf(raw);
    this.purposes.set(hash, (this.purposes.get(hash) ?? new Set()).add(effect));
    if (this.placeOf(hash) !== undefined) return { kind: 'accepted' };
    if (this.unacceptable.has(effect)) return { kind: 'refused', reason: 'invalid account for fee' };
    const transaction = JSON.parse(raw) as BlockhashTransaction;
    if (!this.#isValid(transaction, this.height + 1)) {
      const isNonce = transaction.nonce !== undefined;
      return isNonce ? { kind: 'anchor-used', reason: 'nonce' } : { kind: 'lapsed', reason: 'Blockhash not found' };
    }
    this.#pool.set(hash, transaction);
    return { kind: 'accepted' };
  }

  /** Puts some of the waiting transactions into a block. */
  mine(limit = Number.POSITIVE_INFINITY): void {
    const block: Landed[] = [];
    this.#blocks.push(block);
    for (const [hash, transaction] of this.#pool) {
      if (block.length >= limit) break;
      this.#pool.delete(hash);
      if (this.#isValid(transaction, this.height)) block.push({ hash, transaction });
    }
    for (let height = this.#finalSince.length; height <= this.finalHeight; height += 1) {
      this.#finalSince.push(Date.now());
    }
  }

  /** Removes the blocks of a losing fork. Their transactions wait again if `isKept`, and are forgotten otherwise. */
  reorganise(depth: number, isKept: boolean): void {
    const gone = this.#blocks.splice(this.height - Math.min(depth, DEPTH, this.height)).flat();
    if (isKept) for (const { hash, transaction } of gone) this.#pool.set(hash, transaction);
  }

  /** Forgets the waiting transactions. */
  forgetPool(): void {
    this.#pool.clear();
  }

  /** The place of a transaction, found by its hash. */
  placeOf(hash: string): { block: number; isFinal: boolean; reverts: boolean } | undefined {
    const index = this.#blocks.findIndex((block) => block.some((landed) => landed.hash === hash));
    const landed = this.#blocks[index]?.find((one) => one.hash === hash);
    if (landed === undefined) return undefined;
    return { block: index + 1, isFinal: index < this.finalHeight, reverts: landed.transaction.reverts };
  }

  /** How often a nonce account was advanced in blocks up to a height. */
  nonceOf(account: string, height = this.height): number {
    const landed = this.#blocks.slice(0, height).flat();
    return landed.filter(({ transaction }) => transaction.nonce?.startsWith(`${account}:`) === true).length;
  }

  /** Advances a nonce account by a foreign transaction. */
  advance(account: string): void {
    this.#foreign += 1;
    const pays = `${FOREIGN} ${this.#foreign}`;
    const transaction = { from: 'somebody', pays, reverts: false, nonce: `${account}:${this.nonceOf(account)}` };
    this.#pool.set(hashOf(JSON.stringify(transaction)), transaction);
  }

  /** Whether the bytes are in no block and can never be in one that stays. */
  isDead({ until, nonce = '' }: BlockhashTransaction): boolean {
    if (until !== undefined) return this.finalHeight >= until;
    const [account = '', value] = nonce.split(':');
    return this.nonceOf(account, this.finalHeight) > Number(value);
  }

  /** When bytes valid up to a height were certainly dead, in milliseconds since the epoch; null: never. */
  diedAt(until: number): number | null {
    return this.#finalSince[until] ?? null;
  }

  #isValid({ until, nonce }: BlockhashTransaction, height: number): boolean {
    if (until !== undefined) return height <= until;
    const [account = '', value] = (nonce ?? '').split(':');
    return this.nonceOf(account) === Number(value);
  }
}

/** The payment of foreign transactions. */
export const FOREIGN = 'foreign';
