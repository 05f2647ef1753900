import { isDeepStrictEqual } from 'node:util';
import type { Chain } from '../chains/chain.ts';
import type { ChainConnections } from '../chains/rpc-connections.ts';
import { nextCronTime } from '../domain/cron-schedule.ts';
import { messageOf } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json/json.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { Relayer } from '../features/relayers/records/relayer.ts';
import type { AnchorKind } from '../features/transactions/records/anchor.ts';
import { laneKey } from '../features/transactions/records/lane.ts';
import type { Timestamp, Transaction } from '../features/transactions/records/transaction.ts';
import { newTransaction } from '../features/transactions/records/transaction.ts';
import type { Log } from '../observability/log.ts';
import type { Store, StoreWriter } from '../store/store.ts';
import type { HeldLease, LeaseRegistry } from './lease-registry.ts';
import { RepeatingTask } from './repeating-task.ts';
import type { EngineTiming } from './timing.ts';

export interface SwapRoundsDeps extends StartSwapsDeps {
  leases: LeaseRegistry;
  chains: ReadonlyMap<NetworkType, Chain>;
  timing: EngineTiming;
  log: Log;
  /** Called with a lane that has a new swap. */
  onSwap(lane: string): void;
  /** In [0, 1), for jitter. */
  random(): number;
}

/** The lease of the instance that starts swaps. It is one lease for all relayers. */
const LEASE = 'swap-rounds';

/** Longer than a lease lasts. */
const OVERLAP_MS = 60_000;

/** How many times less often policies are looked at while no relayer swaps. */
const IDLE_FACTOR = 10;

/** The state of a relayer's swaps. */
interface Mark {
  /** Up to when its schedule has been looked at. */
  lookedAt: Timestamp;
  /** When its balance is looked at next. */
  balanceAt: Timestamp;
  /** Until when it rests, because a swap could not be started. */
  restsUntil: Timestamp;
}

/**
 * Starts swaps that are due: by a schedule, or because an account has little. One of the instances on a store does it.
 * A swap is a transaction like any other. If two instances meet the same moment of a schedule, only one swap starts.
 */
export class SwapRounds {
  readonly #deps: SwapRoundsDeps;
  readonly #marks = new Map<string, Mark>();
  readonly #rounds: RepeatingTask;

  constructor(deps: SwapRoundsDeps) {
    const { timing, log, random } = deps;
    this.#deps = deps;
    this.#rounds = new RepeatingTask({ name: 'swap round', once: () => this.#round(), timing, log, random });
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
      const mark = this.#marks.get(relayer.id) ?? { lookedAt: now, balanceAt: now, restsUntil: now };
      this.#marks.set(relayer.id, mark);
      if (lease !== undefined && !this.#rounds.isClosed) await this.#look(relayer, mark, now, lease);
      // If the other instance ends, this one starts what became due just before that.
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

  /** Starts the swaps of one relayer, if due. A failure does not hold up other relayers' swaps. */
  async #look(relayer: Relayer, mark: Mark, now: Timestamp, lease: HeldLease): Promise<void> {
    if (mark.restsUntil > now) return;
    const { lookedAt } = mark;
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
      // The moment is still due. It has one key, so it starts nothing twice.
      mark.lookedAt = lookedAt;
      mark.restsUntil = now + this.#deps.timing.swapBalanceMs;
    }
  }

  /** A text that tells this run from others; undefined when no run is due. */
  async #dueOf(relayer: Relayer, mark: Mark, now: Timestamp): Promise<string | undefined> {
    const { cron = null, below = null } = this.#scheduleOf(relayer) ?? {};
    const at = cron === null ? undefined : nextCronTime(cron, mark.lookedAt);
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

export interface StartSwapsDeps {
  store: Store;
  connections: ChainConnections;
  /** A new id (`domain/id.ts`). */
  newId(): string;
}

/** Later than any transaction waits for. */
const EVER = Number.MAX_SAFE_INTEGER;
const MAX_WAITING = 100_000;

/**
 * Accepts a swap of each token that a relayer has enough of, unless a swap of that token is under way. The next swap
 * takes what that one leaves.
 * @returns the lane; undefined where nothing was started
 */
export async function startSwaps(
  { store, connections, newId }: StartSwapsDeps,
  relayer: Relayer,
  run: string,
  lease: HeldLease,
): Promise<string | undefined> {
  const { id: relayerId, networkType, network, address, policies } = relayer;
  const identity = await store.read.chainIdentity(networkType, network);
  if (identity === undefined) return undefined;
  const wanted = await connections.clientOf(relayer).swaps?.({ address, policies, identity });
  if (wanted === undefined || wanted.length === 0) return undefined;
  const lane = laneKey(networkType, identity, address);
  const now = await store.now();
  const started = await lease.write(async (writer) => {
    if (!(await writer.holdRelayer(relayerId))) return 0;
    const open = await openRequests(writer, lane, new Set(wanted.map(({ anchorKind }) => anchorKind)));
    const fresh = wanted.filter(({ request }) => !open.some((one) => isDeepStrictEqual(one, request)));
    let count = 0;
    for (const parsed of fresh) {
      const contentKey = `${parsed.contentKey ?? ''} ${run}`;
      // Another instance has started this run already.
      if ((await writer.transactionByContent(lane, contentKey)) !== undefined) continue;
      await writer.insertTransaction(
        newTransaction({ ...parsed, contentKey, id: newId(), relayerId, networkType, lane, createdAt: now }),
      );
      count += 1;
    }
    return count;
  });
  return started === 0 ? undefined : lane;
}

/** The requests of all transactions of the lane that have not ended, whoever asked for them. */
async function openRequests(writer: StoreWriter, lane: string, kinds: ReadonlySet<AnchorKind>): Promise<JsonObject[]> {
  const pending: Transaction[] = [];
  for (const kind of kinds) pending.push(...(await writer.duePending(lane, kind, EVER, MAX_WAITING)));
  const signed = await writer.openTransactions(lane);
  return [...pending, ...signed.map(({ transaction }) => transaction)].map(({ request }) => request);
}
