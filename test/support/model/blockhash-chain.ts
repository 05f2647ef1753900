import type { BroadcastOutcome } from '../../../src/chains/chain-client.ts';
import { hashOf } from '../fake-chain.ts';
import type { FaultSource } from '../fake-wire.ts';

/** What a signed transaction says; its raw form is the JSON of this, and its hash names the content. */
export interface BlockhashTransaction {
  readonly from: string;
  /** What it does, which may be the same in several. */
  readonly pays: string;
  readonly reverts: boolean;
  /** It can be in a block up to this height; or as long as the nonce account has this value, `account:value`. */
  readonly until?: number;
  readonly nonce?: string;
  /** Only makes the bytes others. */
  readonly variation?: number;
}

interface Landed {
  readonly transaction: BlockhashTransaction;
  readonly hash: string;
}

/** A block is final when so many are upon it. */
const DEPTH = 2;

/** For how many blocks a blockhash can be used, as a network is in trouble and as it is quiet. */
const SHORT = 4;
const LONG = 400;

/**
 * A chain in memory on which transactions have no order: the same bytes execute at most once, and only up to a height.
 * Blocks can be taken back until they are final.
 */
export class BlockhashChain {
  /** Asked before each call of a client; told the bytes that are offered. */
  fault: FaultSource = () => undefined;
  /** Effects that no node takes. */
  readonly unacceptable = new Set<string>();
  /** All bytes that ever reached a node. */
  readonly received = new Set<string>();
  /** The effects for which bytes were sent, by their hash: of one payment each, or two would be one. */
  readonly purposes = new Map<string, Set<string>>();
  /** For how many blocks the blockhashes given from now on last. */
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

  /** Whether something could still be put into a block. */
  get isBusy(): boolean {
    return [...this.#pool.values()].some((transaction) => this.#isValid(transaction, this.height + 1));
  }

  /** The height up to which a transaction can be in a block that is signed now. */
  get lastHeight(): number {
    return this.finalHeight + this.lasting;
  }

  /** Nothing is in a hurry any more. */
  calmDown(): void {
    this.lasting = LONG;
  }

  /** @param effect what it is sent for */
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

  /** A leader puts some of what it has into a block. */
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

  /** A fork loses: its blocks are gone. Leaders still have what was in them, or have not. */
  reorganise(depth: number, isKept: boolean): void {
    const gone = this.#blocks.splice(this.height - Math.min(depth, DEPTH, this.height)).flat();
    if (isKept) for (const { hash, transaction } of gone) this.#pool.set(hash, transaction);
  }

  /** Leaders forget what they were sent. */
  forgetPool(): void {
    this.#pool.clear();
  }

  /** Where a transaction is, by its hash. */
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

  /** Somebody else's transaction advances a nonce account. */
  advance(account: string): void {
    this.#foreign += 1;
    const pays = `${FOREIGN} ${this.#foreign}`;
    const transaction = { from: 'somebody', pays, reverts: false, nonce: `${account}:${this.nonceOf(account)}` };
    this.#pool.set(hashOf(JSON.stringify(transaction)), transaction);
  }

  /** Whether the bytes can never be in a block that stays, though they are in none. */
  isDead({ until, nonce = '' }: BlockhashTransaction): boolean {
    if (until !== undefined) return this.finalHeight >= until;
    const [account = '', value] = nonce.split(':');
    return this.nonceOf(account, this.finalHeight) > Number(value);
  }

  /** When bytes that last up to a height were dead for certain, in milliseconds since the epoch; never: null. */
  diedAt(until: number): number | null {
    return this.#finalSince[until] ?? null;
  }

  #isValid({ until, nonce }: BlockhashTransaction, height: number): boolean {
    if (until !== undefined) return height <= until;
    const [account = '', value] = (nonce ?? '').split(':');
    return this.nonceOf(account) === Number(value);
  }
}

/** What somebody else pays. */
export const FOREIGN = 'foreign';
