import { amountOf } from '../../domain/amount.ts';
import type { PluginEntry } from '../plugins/records/plugin.ts';
import type { TransactionOrigin } from '../transactions/records/transaction.ts';
import type { EventPlace, TransactionEvent } from '../transactions/records/transaction-event.ts';
import { FINAL_STATUSES } from '../transactions/records/transaction-state.ts';
import { everyMs, nextMoment, rateOf, type Trigger } from './records/trigger.ts';

/** What the loop decides, as pure functions over plain data. All times are in milliseconds by the database's clock. */

/** A plugin with one of its triggers. */
export interface DeclaredTrigger {
  plugin: PluginEntry;
  trigger: Trigger;
}

/** A chain of calls, each of which was made by a trigger for what the one before did, ends here. */
export const MAX_DEPTH = 4;
/** The most calls of one trigger for events that run at a time, and that are open at all; events beyond them wait. */
export const MAX_RUNNING = 32;
export const MAX_OPEN = 500;
/** The most events that wait, each behind a call for its own transaction, while later ones are decided. */
const MAX_HELD = 1_000;
/** After so many calls in a row that threw, a trigger is paused. */
export const MAX_THROWS = 5;

const DAY_MS = 86_400_000;
/** `"missed": "all"` calls for at most so many moments, all within a day. */
const MAX_MISSED = 100;
/** A moment that is older than this has passed while no instance ran. */
const LATE_MS = 60_000;

export interface MomentDecision {
  /** The moment to call for. */
  fire?: number;
  /** Up to where moments are decided from now on. */
  at: number;
  /** How many moments nobody is called for. */
  skipped: number;
}

/**
 * Decides about the moments of a time trigger that have come.
 * @param from up to where they were decided before
 * @param isHeld whether its last call is still running, or its rate is used up
 */
export function decideMoments(trigger: Trigger, from: number, now: number, isHeld: boolean): MomentDecision {
  // The clock was set back. What was called for has its key, so no moment is called for twice.
  if (from > now) return { at: now, skipped: 0 };
  const { missed = 'latest' } = trigger;
  if (missed === 'all') {
    if (isHeld) return { at: from, skipped: 0 };
    const due = momentsWithin(trigger, Math.max(from, now - DAY_MS), now).slice(-MAX_MISSED);
    const [first] = due;
    if (first === undefined) return { at: from, skipped: 0 };
    return { fire: first, at: first, skipped: newestWithin(trigger, from, now).count - due.length };
  }
  const { newest, count } = newestWithin(trigger, from, now);
  if (newest === undefined) return { at: from, skipped: 0 };
  const isLeftOut = isHeld || (missed === 'skip' && now - newest > LATE_MS);
  return { ...(!isLeftOut && { fire: newest }), at: newest, skipped: count - (isLeftOut ? 0 : 1) };
}

/** The moments after `from`, up to and with `to`. */
function momentsWithin(trigger: Trigger, from: number, to: number): number[] {
  const found: number[] = [];
  const pause = everyMs(trigger);
  const begin = pause === undefined ? from : Math.max(from, to - (MAX_MISSED + 1) * pause);
  for (let at = nextMoment(trigger, begin); at !== undefined && at <= to; at = nextMoment(trigger, at)) found.push(at);
  return found;
}

/** The newest of these moments, and how many there are; of a schedule only those of the last day with some are counted. */
function newestWithin(trigger: Trigger, from: number, to: number): { newest?: number; count: number } {
  const pause = everyMs(trigger);
  if (pause !== undefined) {
    const count = Math.floor(to / pause) - Math.floor(from / pause);
    return count > 0 ? { newest: Math.floor(to / pause) * pause, count } : { count: 0 };
  }
  // Looks back further and further, so that a schedule of each minute is not walked through for a whole year.
  for (let back = DAY_MS; ; back *= 8) {
    const found = momentsWithin(trigger, Math.max(from, to - back), to);
    const newest = found.at(-1);
    if (newest !== undefined) return { newest, count: found.length };
    if (to - back <= from) return { count: 0 };
  }
}

/** Where a rate stands: when a whole burst is allowed again, by the generic cell rate algorithm. */
export interface RateDecision {
  isAllowed: boolean;
  rateAt: number;
  /** How long until one is allowed. */
  inMs: number;
}

export function decideRate({ at_most }: Trigger, rateAt: number, now: number): RateDecision {
  const rate = at_most === undefined ? undefined : rateOf(at_most);
  if (rate === undefined) return { isAllowed: true, rateAt, inMs: 0 };
  const each = rate.inMs / rate.firings;
  // A clock that was set back must not hold firings back for longer than the rate itself does.
  const full = Math.min(Math.max(rateAt, now), now + rate.inMs);
  const inMs = full + each - (now + rate.inMs);
  return inMs > 0.5 ? { isAllowed: false, rateAt, inMs } : { isAllowed: true, rateAt: Math.ceil(full + each), inMs: 0 };
}

export interface EventsDecision {
  fire: { event: TransactionEvent; depth: number }[];
  /** The last event up to which all are decided, or among those that wait; absent where none has been. */
  upTo?: EventPlace;
  /** The positions of the events that wait for a call of their own transaction, in order. */
  held: number[];
  /** How many events nobody is called for, because a chain of triggers ends there. */
  skipped: number;
  rateAt: number;
  /** Whether some event waits: for a call to end, or for the rate. */
  isHeld: boolean;
}

/**
 * Decides about events of transactions, in their order: those that waited, and those after the last one that was decided.
 * An event waits while a call for its transaction is open, and others go on.
 */
export function decideEvents(
  { plugin, trigger }: DeclaredTrigger,
  { waited, following }: { waited: readonly TransactionEvent[]; following: readonly TransactionEvent[] },
  known: {
    /** The transactions for which a call of this trigger is open. */
    busy: ReadonlySet<string>;
    /** How many of its calls are open, and how many of them do not wait for anything. */
    open: number;
    running: number;
    originOf: (transactionId: string) => TransactionOrigin | null | undefined;
    rateAt: number;
    now: number;
  },
): EventsDecision {
  const busy = new Set(known.busy);
  const decided: EventsDecision = { fire: [], held: [], skipped: 0, rateAt: known.rateAt, isHeld: false };
  const decide = (event: TransactionEvent): boolean => {
    if (!concerns(plugin, trigger, event)) return true;
    const { transactionId, position } = event;
    const origin = known.originOf(transactionId);
    const depth = (origin?.depth ?? 0) + 1;
    // Nothing is known of a transaction that is gone, so the plugin itself may have sent it.
    if (trigger.own !== true && (origin === undefined || origin?.pluginId === plugin.id)) return true;
    if (depth > MAX_DEPTH) {
      decided.skipped += 1;
      return true;
    }
    if (busy.has(transactionId)) {
      if (decided.held.length >= MAX_HELD) return false;
      decided.held.push(position);
      return true;
    }
    const made = decided.fire.length;
    const rate = decideRate(trigger, decided.rateAt, known.now);
    if (known.running + made >= MAX_RUNNING || known.open + made >= MAX_OPEN || !rate.isAllowed) return false;
    decided.rateAt = rate.rateAt;
    decided.fire.push({ event, depth });
    busy.add(transactionId);
    return true;
  };
  let isFull = false;
  for (const event of waited) {
    if (isFull || !decide(event)) {
      isFull = true;
      decided.held.push(event.position);
    }
  }
  for (const event of isFull ? [] : following) {
    isFull = !decide(event);
    if (isFull) break;
    decided.upTo = { written: event.written, position: event.position };
  }
  return { ...decided, isHeld: isFull || decided.held.length > 0 };
}

function concerns(plugin: PluginEntry, trigger: Trigger, { relayerId, status }: TransactionEvent): boolean {
  return isNamed(plugin, trigger, relayerId) && (trigger.status ?? FINAL_STATUSES).includes(status);
}

/** Whether a trigger watches a relayer. A plugin hears nothing of a relayer that it may not use. */
function isNamed({ permissions }: PluginEntry, { relayers }: Trigger, relayerId: string): boolean {
  if (relayers !== undefined && !relayers.includes('*') && !relayers.includes(relayerId)) return false;
  return permissions === undefined || Object.hasOwn(permissions.relayers, relayerId);
}

export interface BalanceDecision {
  fire: { relayerId: string; balance: bigint }[];
  /** The relayers whose balance is low now. */
  low: string[];
}

/** A balance that was low is so until it is a tenth above: endpoints that disagree must not call again and again. */
export function decideBalances(
  { plugin, trigger }: DeclaredTrigger,
  balances: readonly { relayerId: string; balance: bigint }[],
  wasLow: readonly string[],
): BalanceDecision {
  const below = amountOf(trigger.below ?? 0);
  const decided: BalanceDecision = { fire: [], low: [] };
  for (const { relayerId, balance } of balances) {
    if (!isNamed(plugin, trigger, relayerId)) continue;
    const was = wasLow.includes(relayerId);
    if (balance >= (was ? below + below / 10n : below)) continue;
    decided.low.push(relayerId);
    if (!was) decided.fire.push({ relayerId, balance });
  }
  return decided;
}
