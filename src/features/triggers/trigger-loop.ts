import { isDeepStrictEqual } from 'node:util';
import { EndablePause } from '../../domain/endable-pause.ts';
import { messageOf } from '../../domain/errors.ts';
import { wireTime } from '../../domain/wire-time.ts';
import { type HeldLease, LeaseRegistry } from '../../engine/lease-registry.ts';
import type { Outbox } from '../../engine/webhooks/outbox.ts';
import type { Log } from '../../observability/log.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Store, StoreWriter } from '../../store/store.ts';
import type { PluginEntry } from '../plugins/records/plugin.ts';
import type { Timestamp } from '../transactions/records/transaction.ts';
import { type DeclaredTrigger, decideBalances, decideEvents, decideMoments, decideRate, MAX_THROWS } from './decide.ts';
import { declaredTriggers, type Firing, insertFiring, keyIdOf, stateOf } from './firing.ts';
import { kindOf, nextMoment } from './records/trigger.ts';
import { type TriggerCall, type TriggerCursor, type TriggerState, triggerKeyId } from './records/trigger-state.ts';

/** The pace of the triggers, in milliseconds. */
export interface TriggerTiming {
  /** The longest pause between two rounds. */
  roundMs: number;
  /** The shortest time from one round to the next, and the pause while something waits to be called for. */
  floorMs: number;
  heldMs: number;
  /** From one look at the balances to the next. */
  balanceMs: number;
  /** How often it is stored that a trigger was looked at, and where it stands when it did not fire. */
  noteMs: number;
}

const defaultTriggerTiming: TriggerTiming = {
  roundMs: 1_000,
  floorMs: 50,
  heldMs: 200,
  balanceMs: 5_000,
  noteMs: 60_000,
};

export interface TriggerLoopDeps {
  store: Store;
  /** The plugins as they are declared now. */
  declared(): readonly PluginEntry[];
  /** Takes up new calls. */
  calls: { wake(): void };
  outbox: Pick<Outbox, 'triggerPaused' | 'committed'>;
  /** Calls back when there may be new events of transactions. Returns a function that stops that. */
  onNews(listener: () => void): () => void;
  /** On a clock that never goes back, in milliseconds. */
  elapsed(): number;
  newId(): string;
  log: Log;
  metrics: Metrics;
  timing?: TriggerTiming | undefined;
}

/** The lease of the instance that fires the triggers. It is one for all of them. */
const LEASE = 'triggers';
/** Triggers, or events of one trigger, that one commit decides about: other writers wait for it. */
const BATCH = 50;
/** Events of transactions that are read at once. */
const MAX_EVENTS = 500;
/** How long after news events may still appear: they are told when every earlier write has ended. */
const NEWS_MS = 1_000;

/** A trigger in a round. */
interface Entry extends DeclaredTrigger {
  keyId: string;
  state: TriggerState;
}

/** What was committed of one trigger. */
interface Done {
  entry: Entry;
  state: TriggerState;
  skipped: number;
}

/**
 * Makes the calls of triggers: one for each moment of a schedule, event of a transaction and low balance. One of the
 * instances on a store does it. A call is inserted in the commit that moves its trigger's cursor, and has the moment or
 * the event as its key, so that there is one call for each, whichever instance dies when.
 */
export class TriggerLoop {
  readonly #deps: TriggerLoopDeps;
  readonly #timing: TriggerTiming;
  readonly #leases: LeaseRegistry;
  readonly #pause = new EndablePause();
  /** By key id: the open calls and the last call of each trigger when its throws were last counted. */
  readonly #counted = new Map<string, string>();
  /** By key id: up to where events were looked at without a firing. */
  readonly #places = new Map<string, TriggerCursor & { kind: 'place' }>();
  /** Triggers whose missing events were already reported. */
  readonly #checked = new Set<string>();
  #balancesAt = 0;
  #newsAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | null = null;
  #stopListening: () => void = () => {};
  #closed = false;

  constructor(deps: TriggerLoopDeps) {
    this.#deps = deps;
    this.#timing = deps.timing ?? defaultTriggerTiming;
    this.#leases = new LeaseRegistry(deps);
  }

  start(): void {
    if (this.#closed || this.#running !== null) return;
    this.#stopListening = this.#deps.onNews(() => {
      this.#newsAt = this.#deps.elapsed();
      if (this.#watchesTransactions()) this.#pause.end();
    });
    this.#running = this.#run();
  }

  /** A hint that something may be due, or that the declarations have changed. */
  wake(): void {
    this.#pause.end();
  }

  /** Ends after the round under way. Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopListening();
    this.#pause.end();
    await this.#running;
    await this.#leases.close();
  }

  async #run(): Promise<void> {
    const { log, elapsed } = this.#deps;
    const { floorMs, roundMs } = this.#timing;
    while (!this.#closed) {
      const began = elapsed();
      let wait = roundMs;
      try {
        wait = await this.#round();
      } catch (error) {
        log.error({ err: error }, 'trigger round failed');
      }
      const rest = began + floorMs - elapsed();
      if (rest > 0 && !this.#closed) await new Promise((resolve) => setTimeout(resolve, rest));
      if (!this.#closed) await this.#pause.last(Math.max(wait, 1));
    }
  }

  #watchesTransactions(): boolean {
    return this.#deps.declared().some(({ triggers = [] }) => triggers.some(({ on }) => on === 'transaction'));
  }

  /** @returns how long the next round may wait, in milliseconds */
  async #round(): Promise<number> {
    const { store, declared } = this.#deps;
    const { roundMs, heldMs } = this.#timing;
    const all = declaredTriggers(declared());
    // Nothing is asked for. A first trigger may be declared while the service runs.
    if (all.length === 0) return roundMs;
    const lease = await this.#leases.hold(LEASE);
    if (lease === undefined) {
      this.#checked.clear();
      this.#places.clear();
      return Math.min(roundMs, Math.max(this.#leases.freeAgainMs, heldMs));
    }
    const now = await store.now();
    const entries = await this.#entries(all, lease, now);
    const open = await this.#openCalls();
    await this.#pauseThrowing(entries, open, lease);
    const active = entries.filter(({ state }) => state.paused === null);
    const held = [
      await this.#moments(active, open, lease, now),
      await this.#events(active, open, lease, now),
      await this.#balances(active, lease, now),
    ];
    if (held.includes('more')) return 0;
    if (held.includes('held')) return heldMs;
    const isNews = this.#deps.elapsed() - this.#newsAt < NEWS_MS && this.#watchesTransactions();
    const next = active.map(({ trigger, state: { cursor } }) =>
      cursor.kind === 'moment'
        ? (nextMoment(trigger, cursor.at) ?? Number.POSITIVE_INFINITY)
        : Number.POSITIVE_INFINITY,
    );
    return Math.max(0, Math.min(isNews ? heldMs : roundMs, Math.min(...next) - now));
  }

  /** The triggers with where they stand. New ones, and those that fire at something else now, begin from now. */
  async #entries(all: readonly DeclaredTrigger[], lease: HeldLease, now: Timestamp): Promise<Entry[]> {
    const { store } = this.#deps;
    const stored = new Map(
      (await store.read.triggers()).map((state) => [triggerKeyId(state.pluginId, state.name), state]),
    );
    const fresh: TriggerState[] = [];
    const entries: Entry[] = [];
    for (const one of all) {
      const keyId = keyIdOf(one);
      const known = stored.get(keyId);
      const state = await stateOf(one, known, store.read, now);
      if (state !== known) fresh.push(state);
      entries.push({ ...one, state, keyId });
    }
    if (fresh.length > 0) {
      await lease.write(async (writer) => {
        for (const state of fresh) {
          const { digest, cursor, since, lookedAt } = state;
          // It may have been paused meanwhile.
          const latest = await writer.trigger(state.pluginId, state.name);
          await writer.putTrigger(latest === undefined ? state : { ...latest, digest, cursor, since, lookedAt });
        }
      });
    }
    return entries;
  }

  /** The open calls, by the key id of their trigger. */
  async #openCalls(): Promise<Map<string, TriggerCall[]>> {
    return openCallsOf(await this.#deps.store.read.openTriggerCalls());
  }

  /** Pauses triggers whose last calls all threw. */
  async #pauseThrowing(entries: readonly Entry[], open: Map<string, TriggerCall[]>, lease: HeldLease): Promise<void> {
    const { store, log, outbox } = this.#deps;
    for (const entry of entries) {
      const { keyId, state, plugin, trigger } = entry;
      const marks = JSON.stringify([
        state.lastCall,
        state.since,
        (open.get(keyId) ?? []).map(({ key }) => key).toSorted(),
      ]);
      if (state.paused !== null || state.lastCall === null || this.#counted.get(keyId) === marks) continue;
      const ends = await store.read.lastTriggerEnds(keyId, state.since, MAX_THROWS);
      if (ends.length < MAX_THROWS || ends.some((end) => end !== 'threw')) {
        this.#counted.set(keyId, marks);
        continue;
      }
      const paused = await lease.write(async (writer) => {
        const latest = await writer.trigger(plugin.id, trigger.name);
        if (latest === undefined || latest.paused !== null) return false;
        await writer.putTrigger({ ...latest, paused: 'throws' });
        await outbox.triggerPaused(writer, {
          plugin,
          name: trigger.name,
          lastCall: latest.lastCall,
          throws: MAX_THROWS,
        });
        return true;
      });
      entry.state = { ...state, paused: 'throws' };
      if (!paused) continue;
      outbox.committed();
      log.error(
        { pluginId: plugin.id, trigger: trigger.name, throws: MAX_THROWS },
        'a trigger is paused: its calls throw',
      );
    }
  }

  async #moments(
    active: readonly Entry[],
    open: Map<string, TriggerCall[]>,
    lease: HeldLease,
    now: Timestamp,
  ): Promise<'held' | undefined> {
    const { log } = this.#deps;
    const due: Entry[] = [];
    let isHeld = false;
    for (const entry of active) {
      const { cursor } = entry.state;
      if (cursor.kind !== 'moment') continue;
      const isOpen = open.has(entry.keyId) || !decideRate(entry.trigger, entry.state.rateAt, now).isAllowed;
      if (cursor.at > now)
        log.warn({ pluginId: entry.plugin.id, trigger: entry.trigger.name }, 'the clock was set back');
      if (decideMoments(entry.trigger, cursor.at, now, isOpen).at !== cursor.at) due.push(entry);
      else if (isOpen && entry.trigger.missed === 'all') {
        isHeld ||= (nextMoment(entry.trigger, cursor.at) ?? Number.POSITIVE_INFINITY) <= now;
      }
    }
    for (let from = 0; from < due.length; from += BATCH) {
      const batch = due.slice(from, from + BATCH);
      await this.#commit(lease, batch, async (writer) => {
        const opened = openCallsOf(await writer.openTriggerCalls());
        return await inOrder(batch, (entry) => this.#decideMoment(writer, entry, opened.has(entry.keyId), now));
      });
    }
    return isHeld ? 'held' : undefined;
  }

  async #decideMoment(writer: StoreWriter, entry: Entry, isOpen: boolean, now: Timestamp): Promise<Done | undefined> {
    const { trigger } = entry;
    const state = await this.#current(writer, entry);
    if (state?.cursor.kind !== 'moment') return undefined;
    const rate = decideRate(trigger, state.rateAt, now);
    const decision = decideMoments(trigger, state.cursor.at, now, isOpen || !rate.isAllowed);
    if (decision.at === state.cursor.at) return undefined;
    const moved: TriggerState = {
      ...state,
      cursor: { kind: 'moment', at: decision.at },
      lookedAt: now,
      skipped: state.skipped + decision.skipped,
    };
    const { fire } = decision;
    const made =
      fire === undefined
        ? undefined
        : await insertFiring(writer, entry, moved, {
            id: this.#deps.newId(),
            key: momentKey(fire),
            at: fire,
            depth: 1,
          });
    const after = made === undefined ? moved : { ...made, rateAt: rate.rateAt };
    await writer.putTrigger(after);
    return { entry, state: after, skipped: decision.skipped };
  }

  async #events(
    active: readonly Entry[],
    open: Map<string, TriggerCall[]>,
    lease: HeldLease,
    now: Timestamp,
  ): Promise<'more' | 'held' | undefined> {
    let outcome: 'more' | 'held' | undefined;
    for (const entry of active) {
      if (kindOf(entry.trigger) !== 'transaction' || this.#closed) continue;
      const found = await this.#eventsOf(entry, open.get(entry.keyId) ?? [], lease, now);
      if (found === 'more' || outcome === undefined) outcome = found;
    }
    return outcome;
  }

  async #eventsOf(
    entry: Entry,
    open: readonly TriggerCall[],
    lease: HeldLease,
    now: Timestamp,
  ): Promise<'more' | 'held' | undefined> {
    const { store, log, newId } = this.#deps;
    const { keyId, plugin, trigger, state } = entry;
    if (state.cursor.kind !== 'place') return undefined;
    const stored = state.cursor;
    const known = this.#places.get(keyId);
    const from = known !== undefined && isAfter(known, stored) ? known : stored;
    if (!this.#checked.has(keyId)) {
      this.#checked.add(keyId);
      const { held = [] } = stored;
      const isKept = await store.read.isKeptTransactionEvent(from);
      if (!isKept || (await store.read.transactionEventsAt(held)).length < held.length) {
        log.warn(
          { pluginId: plugin.id, trigger: trigger.name },
          'events of transactions are gone before it was called',
        );
      }
    }
    const { held = [] } = stored;
    const waited = await store.read.transactionEventsAt(held);
    const following = await store.read.transactionEvents(from, MAX_EVENTS);
    const ids = new Set([...waited, ...following].map(({ transactionId }) => transactionId));
    const origins = await store.read.transactionOrigins([...ids]);
    const running = open.filter(({ isWaiting }) => !isWaiting).length;
    const decided = decideEvents(
      { plugin, trigger },
      { waited, following },
      {
        busy: new Set(open.flatMap(({ key }) => key.split('/', 1))),
        ...{ open: open.length, running, rateAt: state.rateAt, now },
        originOf: (id) => origins.get(id)?.origin,
      },
    );
    const { upTo = { written: from.written, position: from.position }, isHeld } = decided;
    const place = { kind: 'place', ...upTo, held: decided.held } as const;
    const isDue =
      decided.fire.length > 0 ||
      decided.skipped > 0 ||
      !isDeepStrictEqual(held, decided.held) ||
      now - state.lookedAt > this.#timing.noteMs;
    if (isDue) {
      const committed = await this.#commit(lease, [entry], async (writer) => {
        const latest = await this.#current(writer, entry);
        if (latest?.cursor.kind !== 'place' || isAfter(latest.cursor, stored)) return [];
        let after: TriggerState = {
          ...latest,
          cursor: place,
          lookedAt: now,
          skipped: latest.skipped + decided.skipped,
        };
        for (const { event, depth } of decided.fire) {
          const { transactionId, position, at, ...about } = event;
          const firing: Firing = {
            ...{ id: newId(), key: `${transactionId}/${position}`, at, depth },
            since: origins.get(transactionId)?.createdAt,
            event: {
              transaction_id: transactionId,
              relayer_id: about.relayerId,
              status: about.status,
              status_reason: about.statusReason,
              hash: about.hash,
              at: wireTime(at),
            },
          };
          after = { ...((await insertFiring(writer, entry, after, firing)) ?? after), rateAt: decided.rateAt };
        }
        await writer.putTrigger(after);
        return [{ entry, state: after, skipped: decided.skipped }];
      });
      // It is looked at again from where it is stored.
      if (committed.length === 0) return 'held';
    }
    this.#places.set(keyId, place);
    if (following.length === MAX_EVENTS && upTo.position === following.at(-1)?.position) return 'more';
    return isHeld ? 'held' : undefined;
  }

  async #balances(active: readonly Entry[], lease: HeldLease, now: Timestamp): Promise<'held' | undefined> {
    const { store, elapsed, newId } = this.#deps;
    const watching = active.filter(({ trigger }) => kindOf(trigger) === 'balance');
    if (watching.length === 0 || elapsed() - this.#balancesAt < this.#timing.balanceMs) return undefined;
    this.#balancesAt = elapsed();
    const balances = await store.read.relayerBalances();
    for (const entry of watching) {
      const { plugin, trigger, state } = entry;
      const wasLow = state.cursor.kind === 'low' ? state.cursor.relayers : [];
      const { low } = decideBalances({ plugin, trigger }, balances, wasLow);
      if (low.join('\n') === wasLow.join('\n')) continue;
      await this.#commit(lease, [entry], async (writer) => {
        const latest = await this.#current(writer, entry);
        if (latest?.cursor.kind !== 'low') return [];
        const decided = decideBalances({ plugin, trigger }, balances, latest.cursor.relayers);
        let relayers = decided.low;
        let after: TriggerState = latest;
        for (const { relayerId, balance } of decided.fire) {
          const rate = decideRate(trigger, after.rateAt, now);
          // It is called for when the rate allows it, if the balance is still low then.
          if (!rate.isAllowed) relayers = relayers.filter((id) => id !== relayerId);
          else {
            const event = { relayer_id: relayerId, balance: String(balance), below: String(trigger.below) };
            const firing = { id: newId(), key: `${relayerId}/${momentKey(now)}`, at: now, depth: 1, event };
            after = { ...((await insertFiring(writer, entry, after, firing)) ?? after), rateAt: rate.rateAt };
          }
        }
        after = { ...after, cursor: { kind: 'low', relayers }, lookedAt: now };
        await writer.putTrigger(after);
        return [{ entry, state: after, skipped: 0 }];
      });
    }
    return undefined;
  }

  /** The trigger's state as it is in this commit; undefined when it does not fire any more. */
  async #current(writer: StoreWriter, { plugin, trigger, state }: Entry): Promise<TriggerState | undefined> {
    const latest = await writer.trigger(plugin.id, trigger.name);
    return latest === undefined || latest.paused !== null || latest.digest !== state.digest ? undefined : latest;
  }

  /** Writes under the lease, and tells of what was committed. A failure does not hold up other triggers. */
  async #commit(
    lease: HeldLease,
    entries: readonly Entry[],
    body: (writer: StoreWriter) => Promise<(Done | undefined)[]>,
  ): Promise<Done[]> {
    const { log, metrics, calls } = this.#deps;
    let done: Done[];
    try {
      done = (await lease.write(body)).filter((one) => one !== undefined);
    } catch (error) {
      const triggers = entries.map(({ keyId }) => keyId);
      log.warn({ triggers, cause: messageOf(error) }, 'triggers not fired');
      return [];
    }
    for (const { entry, state, skipped } of done) {
      const labels = { plugin_id: entry.plugin.id, trigger: entry.trigger.name };
      const fired = state.fired - entry.state.fired;
      if (fired > 0) metrics.count('trigger_firings', labels, fired);
      if (skipped > 0) metrics.count('trigger_firings_skipped', labels, skipped);
      entry.state = state;
    }
    if (done.length > 0) calls.wake();
    return done;
  }
}

/** The key of a call for a moment: `2026-11-27T07:00:00Z`, with milliseconds where it has some. */
export function momentKey(at: Timestamp): string {
  return new Date(at).toISOString().replace('.000Z', 'Z');
}

function openCallsOf(calls: readonly TriggerCall[]): Map<string, TriggerCall[]> {
  return Map.groupBy(calls, ({ keyId }) => keyId);
}

function isAfter(one: { written: number; position: number }, other: { written: number; position: number }): boolean {
  return one.written > other.written || (one.written === other.written && one.position > other.position);
}

/** One after the other: a write body may have only one open request. */
async function inOrder<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await act(item));
  return results;
}
