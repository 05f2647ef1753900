import type { Chain } from '../../chains/chain.ts';
import { nextOf } from '../../domain/cron-schedule.ts';
import { messageOf } from '../../domain/errors.ts';
import type { NetworkType } from '../../domain/network-type.ts';
import type { Relayer } from '../../domain/relayer/relayer.ts';
import type { Timestamp } from '../../domain/transaction/transaction.ts';
import type { Log } from '../../observability/log.ts';
import type { HeldLease, LeaseKeeper } from '../lease-keeper.ts';
import { Rounds } from '../rounds.ts';
import type { EngineTiming } from '../timing.ts';
import { type StartSwapsDeps, startSwaps } from './start-swaps.ts';

export interface SwapRoundsDeps extends StartSwapsDeps {
  leases: LeaseKeeper;
  chains: ReadonlyMap<NetworkType, Chain>;
  timing: EngineTiming;
  log: Log;
  /** Called with a lane that has a new swap. */
  onSwap(lane: string): void;
  /** In [0, 1), for jitter. */
  random(): number;
}

/** Who starts swaps. It is one lease for all relayers. */
const LEASE = 'swap-rounds';

/** Longer than a lease lasts. */
const OVERLAP_MS = 60_000;

/** While nobody swaps, policies are looked at so much more rarely. */
const IDLE_FACTOR = 10;

/** Where a relayer's swaps stand. */
interface Mark {
  /** Up to when its schedule has been looked at. */
  lookedAt: Timestamp;
  /** When its balance is looked at next. */
  balanceAt: Timestamp;
}

/**
 * Starts the swaps that are due: by a schedule, and while an account has little. One instance of those on a store does it;
 * what it starts is a transaction like any other, so that a schedule met by two instances is met once.
 */
export class SwapRounds {
  readonly #deps: SwapRoundsDeps;
  readonly #marks = new Map<string, Mark>();
  readonly #rounds: Rounds;

  constructor(deps: SwapRoundsDeps) {
    const { timing, log, random } = deps;
    this.#deps = deps;
    this.#rounds = new Rounds({ name: 'swap round', round: () => this.#round(), timing, log, random });
  }

  start(): void {
    this.#rounds.start();
  }

  /** Ends after the round under way. Safe to call twice. */
  close(): Promise<void> {
    return this.#rounds.close();
  }

  /** @returns how long the next round may wait, in milliseconds */
  async #round(): Promise<number> {
    const { store, leases, timing } = this.#deps;
    const swapping = (await store.read.allRelayers()).filter((relayer) => this.#scheduleOf(relayer) !== undefined);
    this.#forgetOthers(swapping);
    if (swapping.length === 0) return timing.swapMs * IDLE_FACTOR;
    const now = await store.now();
    const lease = await leases.hold(LEASE);
    for (const relayer of swapping) {
      const mark = this.#marks.get(relayer.id) ?? { lookedAt: now, balanceAt: now };
      this.#marks.set(relayer.id, mark);
      if (lease !== undefined && !this.#rounds.isClosed) await this.#look(relayer, mark, now, lease);
      // What was due just before the other instance was gone is met by this one.
      else mark.lookedAt = Math.max(mark.lookedAt, now - OVERLAP_MS);
    }
    return timing.swapMs;
  }

  #scheduleOf({ networkType, policies }: Relayer) {
    return this.#deps.chains.get(networkType)?.swapSchedule?.(policies);
  }

  #forgetOthers(swapping: readonly Relayer[]): void {
    const ids = new Set(swapping.map(({ id }) => id));
    for (const id of this.#marks.keys()) if (!ids.has(id)) this.#marks.delete(id);
  }

  /** What one relayer's endpoints do not tell holds up no other's swaps. */
  async #look(relayer: Relayer, mark: Mark, now: Timestamp, lease: HeldLease): Promise<void> {
    const run = await this.#dueOf(relayer, mark, now);
    if (run === undefined || relayer.paused) return;
    const { log, onSwap } = this.#deps;
    try {
      const lane = await startSwaps(this.#deps, relayer, run, lease);
      if (lane === undefined) return;
      log.info({ relayer: relayer.id, run }, 'swaps started');
      onSwap(lane);
    } catch (error) {
      log.warn({ relayer: relayer.id, run, cause: messageOf(error) }, 'swaps not started');
    }
  }

  /** What tells this run from others; undefined where none is due. */
  async #dueOf(relayer: Relayer, mark: Mark, now: Timestamp): Promise<string | undefined> {
    const { cron = null, below = null } = this.#scheduleOf(relayer) ?? {};
    const at = cron === null ? undefined : nextOf(cron, mark.lookedAt);
    mark.lookedAt = now;
    if (at !== undefined && at <= now) return `at ${at}`;
    if (below === null || mark.balanceAt > now) return undefined;
    mark.balanceAt = now + this.#deps.timing.swapBalanceMs;
    return (await this.#isBelow(relayer, below)) ? `low ${now}` : undefined;
  }

  async #isBelow(relayer: Relayer, below: bigint): Promise<boolean> {
    const { store, connections, log } = this.#deps;
    try {
      const identity = await store.read.chainIdentity(relayer.networkType, relayer.network);
      return (await connections.clientOf(relayer).balance(relayer.address, { identity })) < below;
    } catch (error) {
      log.debug({ relayer: relayer.id, cause: messageOf(error) }, 'balance not known, nothing is swapped');
      return false;
    }
  }
}
