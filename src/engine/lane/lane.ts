import type { Chain } from '../../chains/chain.ts';
import type { AnchorKind } from '../../features/transactions/records/anchor.ts';
import { chainOfLane, familyOfLane, isDueAt, laneKey } from '../../features/transactions/records/lane.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import { LeaseLost } from '../../store/lease.ts';
import type { Store } from '../../store/store.ts';
import type { HeldLease, LeaseRegistry } from '../lease-registry.ts';
import { backOff, type EngineTiming } from '../timing.ts';
import { broadcastDueTransactions, markMissing } from './broadcast.ts';
import type { ParkedTransaction } from './broadcast-history.ts';
import { carryOut, lookFor } from './carry-out.ts';
import { compareRestored, withoutUnchecked } from './compare-restored.ts';
import { decide, type Facts, isAnyMissing, isCounted } from './decide.ts';
import { expired, gaps, prospects } from './facts.ts';
import { carryOutIntents } from './intents.ts';
import { ChainClock, LaneMemory } from './lane-memory.ts';
import { applyToOpen, type CrashPoint, type LaneStep, momentOf, unminedTransactions } from './lane-step.ts';
import type { LaneChange, TransactionLedger } from './ledger.ts';
import { OpenTransactions } from './open-transactions.ts';
import { type LaneOrigin, RestoredLane } from './restored-lane.ts';
import { type SenderSources, Senders } from './sender.ts';
import { signPending } from './sign-pending.ts';

export interface LaneDeps extends Pick<LaneStep, 'timing' | 'log' | 'newId'> {
  /** In [0, 1), for jitter. */
  random(): number;
  /** On a clock that never goes back, in milliseconds. */
  elapsed(): number;
  /** Called at each moment of a transaction's life. */
  onCheckpoint(moment: CrashPoint): void;
  store: Store;
  /**
   * What a restored store may hold in the lane that begins with this lease.
   * @param isDoubted the lane has begun already, and a commit's outcome is unknown. Undefined: the store is still the same
   */
  origin(lease: HeldLease, isDoubted: boolean): Promise<LaneOrigin | undefined>;
  leases: Pick<LeaseRegistry, 'hold'>;
  /** A ledger whose commits are under the lane's lease; `onDoubt` is {@link StepLife.distrust}. */
  ledgerUnder(lease: HeldLease, onDoubt: () => void): TransactionLedger;
  sources: SenderSources;
  /** Called with the network type when a step ended unexpectedly. */
  onFault(networkType: string): void;
}

/** The result of a wake-up. `elsewhere`: another instance has the lane. `rests`: the lane has to be woken once more. */
export type LaneWake = 'ran' | 'rests' | 'not now' | 'elsewhere';

/**
 * The only owner of the order of an account's transactions on one chain, for as long as it has the lane's lease. Runs
 * one step at a time while the store has something due for it. Everything that must last is in the store.
 */
export class Lane {
  readonly #key: string;
  readonly #deps: LaneDeps;
  readonly #chain: Chain;
  #timing: EngineTiming;
  #memory: LaneMemory;
  readonly #chainClock = new ChainClock();
  /** Kept from step to step: while the lease lasts, nothing else changes the lane's open transactions. */
  #open: OpenTransactions | null = null;
  /** The lease with which the store was looked at for what is old, and whether the store may be another one since. */
  #begunWith: HeldLease | null = null;
  #isDoubted = false;
  #running: Promise<LaneWake> | null = null;
  #lease: HeldLease | null = null;
  #again = false;
  #closed = false;
  #faults = 0;
  #restUntil = 0;
  /** When something of the lane is due next, as far as it knows. */
  #nextAt = Number.POSITIVE_INFINITY;
  #endedAt: number;

  constructor(key: string, deps: LaneDeps) {
    this.#key = key;
    this.#deps = deps;
    this.#chain = chainOf(key, deps);
    this.#timing = { ...deps.timing, ...this.#chain.pace };
    this.#memory = new LaneMemory(deps.timing.driftMs);
    this.#endedAt = deps.elapsed();
  }

  /** Runs the lane until it has nothing more to do now. Does not start a lane that runs already, rests or is closed. */
  async wake(): Promise<LaneWake> {
    if (this.#running !== null) {
      this.#again = true;
      return 'not now';
    }
    const { elapsed } = this.#deps;
    if (this.#closed) return 'not now';
    if (elapsed() < this.#restUntil) {
      this.#nextAt = this.#restUntil;
      return 'rests';
    }
    this.#running = this.#run();
    const outcome = await this.#running;
    this.#endedAt = elapsed();
    this.#running = null;
    return outcome;
  }

  /**
   * When the lane has to be woken next, on the clock that never goes back; infinite while it runs, and when it waits for
   * nothing. What it cannot know is what others store for it.
   */
  get dueAt(): number {
    return this.#running === null ? Math.max(this.#restUntil, this.#nextAt) : Number.POSITIVE_INFINITY;
  }

  /** When the lane last ended its work, on the clock that never goes back; null while it runs. */
  get idleSince(): number | null {
    return this.#running === null ? this.#endedAt : null;
  }

  /** The lane's waiting transactions, as far as they are known; none when another instance has the lane. */
  get parked(): ParkedTransaction[] {
    return this.#lease?.isLive() === true ? this.#memory.offers.parked() : [];
  }

  /** Gives the lease back, if the lane has it. */
  async release(): Promise<void> {
    this.#forget();
    await this.#lease?.release();
    this.#lease = null;
  }

  /** Ends after the step under way. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<LaneWake> {
    try {
      const lease = await this.#deps.leases.hold(this.#key);
      this.#nextAt = Number.POSITIVE_INFINITY;
      if (lease === undefined) return 'elsewhere';
      if (lease !== this.#lease) this.#forget();
      this.#lease = lease;
      do {
        this.#again = false;
        while (this.#mayGoOn(lease) && (await this.#step(lease))) {
          this.#faults = 0;
        }
      } while (this.#again && this.#mayGoOn(lease));
      if (!lease.isLive()) this.#restFor(this.#timing.lookMs);
    } catch (error) {
      if (error instanceof LeaseLost) {
        this.#deps.log.info({ lane: this.#key }, 'another instance drives this lane now');
        await this.release();
      } else {
        this.#rest(error);
      }
    }
    return 'ran';
  }

  /** Drops what is known of the lane's transactions: they may have ended under another instance. */
  #forget(): void {
    this.#open = null;
    this.#memory = new LaneMemory(this.#timing.driftMs);
  }

  #mayGoOn(lease: HeldLease): boolean {
    return !this.#closed && lease.isLive();
  }

  #rest(error: unknown): void {
    this.#open = null;
    const { log, random, onFault } = this.#deps;
    log.error({ err: error, lane: this.#key }, 'lane step failed');
    onFault(familyOfLane(this.#key));
    this.#faults += 1;
    this.#restFor(backOff(this.#faults, this.#timing, random));
  }

  /** Takes a pause, and is due after it. */
  #restFor(milliseconds: number): void {
    this.#restUntil = this.#deps.elapsed() + milliseconds;
    this.#nextAt = this.#restUntil;
  }

  /** @returns false when nothing is due, or nothing that can be done now */
  async #step(lease: HeldLease): Promise<boolean> {
    const { store, elapsed } = this.#deps;
    const readIntents = () => store.read.intents(this.#key, this.#timing.inFlight);
    const [now, early] = await Promise.all([store.now(), readIntents()]);
    const step = await this.#begin(now, lease);
    const decided = (facts: Facts | undefined) => (facts === undefined ? [] : decide(step, facts, momentOf(step)));
    const open = [...step.open.entries.values()].map(({ transaction }) => transaction);
    if ((await leaveRestartedChain(step, open)) > 0) return true;

    const looked = decided({ kind: 'time' }).flatMap((command) => (command.do === 'observe' ? [command.entry] : []));
    await lookFor(step, looked);
    await compareRestored(step);
    // A node may have taken its time.
    const intents = looked.length === 0 ? early : await readIntents();
    const settled = await carryOutIntents(step, intents);

    // Read only now, so that what clients asked for until now counts.
    const [found, laterAt] = await Promise.all([this.#pending(step, now), store.read.nextPendingAt(this.#key, now)]);
    if (found.some(({ id }) => step.open.entries.has(id))) {
      step.log.error({ lane: step.key }, 'the database was rolled back: signed transactions are unsigned in it');
      step.life.distrust();
      return true;
    }
    const pending = await withoutUnchecked(step, found);
    if ((await leaveRestartedChain(step, pending)) > 0) return true;
    if (pending.length > 0) step.life.onCheckpoint('found');
    const waits = looked.length > 0 || isAnyMissing(step, momentOf(step));
    const mayHaveGaps = waits && (pending.length === 0 || this.#memory.planner.isContradicted);

    await carryOut(step, decided(await expired(step)));
    const replaced = await carryOut(step, decided(await prospects(step)));
    const filled = mayHaveGaps ? await carryOut(step, decided(await gaps(step))) : 0;
    await markMissing(step);
    // Offers one batch while the next is priced and signed. The next step offers what is signed here.
    const { offered, notTaken } = await bothDone(broadcastDueTransactions(step), signPending(step, pending));
    await lookFor(step, notTaken);

    const moved = looked.length + settled + pending.length + replaced + filled + offered > 0;
    const lookMs = step.senders.lookMs ?? this.#timing.lookMs;
    this.#timing = { ...this.#timing, lookMs };
    if (!moved) {
      this.#restUntil = elapsed() + lookMs;
      const at = found.length > 0 || intents.length > settled ? now : nextActionOf(step, now, laterAt);
      this.#nextAt = elapsed() + at - step.clock.now();
    }
    return moved;
  }

  /** The transactions that may be signed now: of each kind of anchor as many as nodes and the chain bear. */
  async #pending(step: LaneStep, now: number): Promise<Transaction[]> {
    const { inFlight, batch } = this.#timing;
    const pending: Transaction[] = [];
    for (const [kind, most] of Object.entries(this.#chain.pace.anchors)) {
      const open = unminedTransactions(step).filter(
        (entry) => entry.transaction.anchorKind === kind && isCounted(step, entry),
      );
      const room = Math.min(Math.min(most, inFlight) - open.length, batch - pending.length);
      if (room <= 0) continue;
      pending.push(...(await this.#deps.store.read.duePending(this.#key, kind as AnchorKind, now, room)));
    }
    return pending;
  }

  async #begin(now: number, lease: HeldLease): Promise<LaneStep> {
    const { store, sources, random, log, ledgerUnder, elapsed, newId, onCheckpoint } = this.#deps;
    const began = elapsed();
    if (this.#open === null) {
      const open = await OpenTransactions.read(store.read, this.#key);
      if (this.#begunWith !== lease || this.#isDoubted) {
        const origin = await this.#deps.origin(lease, this.#begunWith === lease);
        if (origin !== undefined) {
          this.#memory.restored = await RestoredLane.begin(store.read, this.#key, { ...origin, open });
        }
        this.#begunWith = lease;
        this.#isDoubted = false;
      }
      this.#open = open;
    }
    const known = this.#open;
    const { oldCalls } = this.#memory.restored;
    if (oldCalls?.gap === undefined) oldCalls?.note(null, known);
    const timing = this.#timing;
    let isDoubted = false;
    const distrust = () => {
      isDoubted = true;
      this.#isDoubted = true;
      this.#open = null;
    };
    return {
      key: this.#key,
      chain: this.#chain,
      ledger: ledgerUnder(lease, distrust),
      read: store.read,
      senders: new Senders(sources, this.#key),
      open: known,
      memory: this.#memory,
      clock: {
        now: () => now + Math.round(elapsed() - began),
        elapsed,
        chainTime: (ask) => this.#chainClock.at(ask, { elapsed, keepMs: timing.momentMs, log }),
        random,
      },
      life: { isEnding: () => isDoubted || !this.#mayGoOn(lease), distrust, onCheckpoint },
      newId,
      timing,
      log,
    };
  }
}

/** When the lane's next transaction is due, by the store's clock; infinite when there is none. */
function nextActionOf(step: LaneStep, now: number, pendingAt: number | null): number {
  let earliest = pendingAt ?? Number.POSITIVE_INFINITY;
  for (const { transaction } of step.open.entries.values()) {
    const { nextActionAt } = transaction;
    if (nextActionAt !== null) earliest = Math.min(earliest, isDueAt(nextActionAt, now) ? now : nextActionAt);
  }
  return earliest;
}

/** Returns the first result once both have ended. A failure of one must not leave the other running unattended. */
async function bothDone<T>(first: Promise<T>, second: Promise<unknown>): Promise<T> {
  await Promise.allSettled([first, second]);
  await second;
  return first;
}

/** @throws when the service knows no such family */
function chainOf(key: string, { sources }: LaneDeps): Chain {
  const chain = sources.chains.get(familyOfLane(key));
  if (chain === undefined) throw new Error(`No chain family of lane ${key}`);
  return chain;
}

const REASON = 'The chain was started anew: what was signed for the earlier one is not sent to it';

/**
 * Handles a development chain that was started anew. Ends transactions that were signed for the earlier chain, and
 * moves unsigned ones to the account's lane on the new one.
 * @param transactions of the lane
 * @returns how many were ended or moved
 */
export async function leaveRestartedChain(step: LaneStep, transactions: readonly Transaction[]): Promise<number> {
  const identity = chainOfLane(step.key);
  if (step.chain.restartable?.(identity) === undefined) return 0;
  const lanes = new Map<string, string | undefined>();
  for (const transaction of transactions) {
    const { relayerId } = transaction;
    if (!lanes.has(relayerId)) lanes.set(relayerId, await currentLane(step, transaction, identity));
  }
  const failed = { status: 'failed', statusReason: REASON, sequence: null, nextActionAt: null } as const;
  const changes = transactions.flatMap((transaction): LaneChange[] => {
    const lane = lanes.get(transaction.relayerId);
    if (lane === undefined) return [];
    return [{ transaction, set: transaction.status === 'pending' ? { lane } : failed }];
  });
  await applyToOpen(step, changes);
  return changes.length;
}

/**
 * The account's lane on the chain that the relayer's network serves now; undefined when it is still this lane, or not
 * known.
 */
async function currentLane(
  step: LaneStep,
  { relayerId, networkType }: Transaction,
  identity: string,
): Promise<string | undefined> {
  const sender = await step.senders.of(relayerId).catch(() => undefined);
  if (sender === undefined) return undefined;
  const pinned = await step.read.chainIdentity(networkType, sender.relayer.network);
  return pinned === undefined || pinned === identity ? undefined : laneKey(networkType, pinned, sender.account.address);
}
