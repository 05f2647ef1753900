import { availableBalance } from '../ledger/account.ts';
import type { AccountId } from '../ledger/entry.ts';
import { accountIn } from '../ledger/state.ts';
import type { Frame } from '../transactions/frame.ts';
import { Outcome } from '../transactions/outcome.ts';
import { type Bench, judge } from '../transactions/validity.ts';
import { type Crowd, QueueLimiter } from './limiter.ts';

/** For how many ledgers a transaction waits, and for how many it is then refused. */
const MAX_AGE = 4;
const BANNED_FOR = 10;

/** By what factor a fee bump must outbid the transaction that it replaces. */
const REPLACEMENT = 10n;

export type Admission =
  | { status: 'PENDING' }
  | { status: 'DUPLICATE' }
  | { status: 'TRY_AGAIN_LATER' }
  | { status: 'ERROR'; outcome: Outcome };

/** An account whose sequence or balance a waiting transaction uses. */
interface AccountState {
  frame: Frame | undefined;
  age: number;
  totalFees: bigint;
}

export interface Capacity {
  /** The most operations. */
  readonly most: number;
  readonly crowd: Crowd;
}

/**
 * The transactions that wait at one node: at most one of each account, for a few ledgers, better bids first. This is
 * stellar-core's `TransactionQueue`. A node has one for classic transactions and one for contracts' transactions.
 */
export class TransactionQueue {
  readonly #accounts = new Map<AccountId, AccountState>();
  /** Banned transactions by the hash of the signed envelope, the newest first. */
  #banned: Set<string>[] = Array.from({ length: BANNED_FOR }, () => new Set());
  readonly #limiter = new QueueLimiter();

  get frames(): Frame[] {
    return [...this.#accounts.values()].flatMap(({ frame }) => frame ?? []);
  }

  /** Whether the account is the source, or the payer, of anything that waits here. */
  isPending(account: AccountId): boolean {
    return this.#accounts.has(account);
  }

  add(frame: Frame, bench: Bench, { most, crowd }: Capacity): Admission {
    if (this.#banned.some((hashes) => hashes.has(frame.fullHash))) return { status: 'TRY_AGAIN_LATER' };
    if (frame.fullFee < 0n || frame.inclusionFee < 0n) return refused(Outcome.refused(frame, 'txMalformed'));
    const replaced = this.#accounts.get(frame.source)?.frame;
    const rivalry = replaced && rivalryOf(frame, replaced);
    if (rivalry !== undefined && rivalry !== 'replaces') return rivalry;
    const room = this.#limiter.roomFor(frame, this.frames, replaced, most, crowd);
    if (room.kind === 'full') {
      this.ban([frame]);
      if (room.required === undefined) return { status: 'TRY_AGAIN_LATER' };
      return refused(Outcome.refused(frame, 'txInsufficientFee', room.required));
    }
    const outcome = judge(frame, bench);
    if (!outcome.isSuccess) return refused(outcome);
    if (!this.#canPay(frame, replaced, bench)) return refused(Outcome.refused(frame, 'txInsufficientBalance'));
    this.#put(frame, replaced);
    this.#limiter.take(room);
    this.ban(room.evicted);
    return { status: 'PENDING' };
  }

  /** Whether a payer can pay for all of its waiting transactions. */
  #canPay(frame: Frame, replaced: Frame | undefined, { state, header }: Bench): boolean {
    const payer = accountIn(state, frame.feeSource);
    if (payer === undefined) return false;
    const freed = replaced?.feeSource === frame.feeSource ? replaced.fullFee : 0n;
    const waiting = this.#accounts.get(frame.feeSource)?.totalFees ?? 0n;
    return availableBalance(header, payer) - (frame.fullFee - freed) >= waiting;
  }

  #put(frame: Frame, replaced: Frame | undefined): void {
    if (replaced !== undefined) this.#releaseFee(replaced);
    const own = this.#account(frame.source);
    own.frame = frame;
    this.#account(frame.feeSource).totalFees += frame.fullFee;
  }

  #account(id: AccountId): AccountState {
    const known = this.#accounts.get(id) ?? { frame: undefined, age: 0, totalFees: 0n };
    this.#accounts.set(id, known);
    return known;
  }

  #releaseFee(frame: Frame): void {
    const payer = this.#account(frame.feeSource);
    payer.totalFees -= frame.fullFee;
    if (payer.frame === undefined && payer.totalFees === 0n) this.#accounts.delete(frame.feeSource);
  }

  #drop(source: AccountId, state: AccountState): void {
    const { frame } = state;
    if (frame === undefined) return;
    state.frame = undefined;
    state.age = 0;
    this.#releaseFee(frame);
    if (state.totalFees === 0n) this.#accounts.delete(source);
  }

  /** Bans the transactions that a ledger has taken. Removes those whose sequence is now used. */
  removeApplied(applied: readonly Frame[]): void {
    for (const { source, sequence, fullHash } of applied) {
      const state = this.#accounts.get(source);
      if (state?.frame !== undefined && state.frame.sequence <= sequence) this.#drop(source, state);
      this.#banned[0]?.add(fullHash);
    }
  }

  /** Removes transactions that have waited too long. Called after each ledger. */
  age(): void {
    this.#banned = [new Set<string>(), ...this.#banned.slice(0, -1)];
    this.#limiter.reset();
    for (const [source, state] of [...this.#accounts]) {
      if (state.frame === undefined) continue;
      state.age += 1;
      if (state.age < MAX_AGE) continue;
      this.#banned[0]?.add(state.frame.fullHash);
      this.#drop(source, state);
    }
  }

  /** Removes waiting transactions that can no longer be applied. */
  dropInvalid(isValid: (frame: Frame) => boolean): void {
    this.ban(this.frames.filter((frame) => !isValid(frame)));
  }

  ban(frames: readonly Frame[]): void {
    for (const frame of frames) {
      this.#banned[0]?.add(frame.fullHash);
      const state = this.#accounts.get(frame.source);
      if (state?.frame?.fullHash === frame.fullHash) this.#drop(frame.source, state);
    }
  }
}

/**
 * Judges a transaction whose source has another one waiting. Only a fee bump can replace it, and only with the same
 * sequence.
 */
function rivalryOf(frame: Frame, waiting: Frame): Admission | 'replaces' {
  const isBumpOf = waiting.kind === 'fee-bump' && frame.kind === 'transaction';
  const isSame = isBumpOf ? waiting.inner.fullHash === frame.fullHash : waiting.fullHash === frame.fullHash;
  if (isSame) return { status: 'DUPLICATE' };
  if (frame.sequence < waiting.sequence) return refused(Outcome.refused(frame, 'txBadSeq'));
  if (frame.kind === 'transaction' || frame.sequence !== waiting.sequence) return { status: 'TRY_AGAIN_LATER' };
  const [size, waitingSize] = [BigInt(frame.size), BigInt(waiting.size)];
  const least = REPLACEMENT * waiting.inclusionFee * size;
  if (frame.inclusionFee * waitingSize >= least) return 'replaces';
  const flat = frame.fullFee - frame.inclusionFee;
  const required = (least + waitingSize - 1n) / waitingSize + flat;
  return refused(Outcome.refused(frame, 'txInsufficientFee', required));
}

const refused = (outcome: Outcome): Admission => ({ status: 'ERROR', outcome });
