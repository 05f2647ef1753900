import { hash } from 'node:crypto';
import type { Clock } from '../domain/clock.ts';
import type { PluginRequest } from './plugin-host.ts';

/** When a plugin, or a call like one that killed a process, is backed off, and for how long. */
export interface QuarantineRules {
  /** Processes killed within `windowMs`, by calls unlike each other, that start a back-off of the whole plugin. */
  kills: number;
  windowMs: number;
  /** The first back-off; each further one is twice as long, up to `longestMs`. */
  firstMs: number;
  longestMs: number;
  /** The longest for a plugin that answered somebody within `workingMs`: it is not the plugin that is broken. */
  longestWorkingMs: number;
  workingMs: number;
  /** How long the next call waits for the end of one that was let in on probation. */
  probeMs: number;
}

const QUARANTINE_RULES: QuarantineRules = {
  kills: 3,
  windowMs: 60_000,
  firstMs: 1000,
  longestMs: 120_000,
  longestWorkingMs: 8000,
  workingMs: 600_000,
  probeMs: 1000,
};

/** Likes and calls that are remembered of one plugin; beyond that the oldest are forgotten. */
const MOST_LIKES = 256;
const MOST_CALLS = 4096;

/** Why a call is refused, and for how many more ms. */
export interface BackOff {
  reason: string;
  leftMs: number;
}

interface Case {
  /** When processes were killed, latest last, and by a call like which. */
  kills: { at: number; like: string | undefined }[];
  /** Back-offs in a row without a call that ended well between them. */
  rounds: number;
  until: number;
  reason: string;
  /** When the last call was let in on probation. */
  probedAt: number;
  /** Calls like these have killed a process before. */
  readonly likes: Map<string, { kills: number; until: number }>;
  /** What the calls of the last time were like, by their numbers. */
  readonly calls: Map<number, string>;
}

/**
 * Backs off what kills processes again and again, for seconds, then minutes; nothing is ever refused for good.
 *
 * Calls alike are judged together: whoever repeats a call that kills is refused, and nobody else. Only when calls of
 * many kinds kill, the plugin as a whole is backed off. Then comes probation: one call is let in at a time, until one
 * ends well, which clears the plugin; one that kills doubles the back-off. That of a plugin which answers others stays
 * short, so that a caller who knows many ways to kill it cannot keep it from everybody else.
 */
export class Quarantine {
  private readonly cases = new Map<string, Case>();
  /** When a call of the plugin last ended well. */
  private readonly endedWellAt = new Map<string, number>();
  private readonly clock: Clock;
  private readonly rules: QuarantineRules;

  constructor(clock: Clock, rules: QuarantineRules = QUARANTINE_RULES) {
    this.clock = clock;
    this.rules = rules;
  }

  /**
   * Whether a call may go on to its place now; on probation that makes it the one that is tried.
   * @param like asked for a plugin that has lost a process lately, see {@link likeOf}
   */
  refusal(pluginId: string, like: () => string): BackOff | undefined {
    const known = this.cases.get(pluginId);
    if (known === undefined) return undefined;
    const now = this.clock.elapsed();
    if (this.isOver(known, now)) {
      this.cases.delete(pluginId);
      return undefined;
    }
    const alike = known.likes.get(like());
    if (alike !== undefined && alike.until > now) {
      return { reason: `a call like this one was the end of it (${known.reason})`, leftMs: alike.until - now };
    }
    const backOff = this.backOff(pluginId);
    if (backOff !== undefined || known.rounds === 0) return backOff;
    const leftMs = known.probedAt + this.rules.probeMs - now;
    if (leftMs > 0) return { reason: `${known.reason}; another call is being tried`, leftMs };
    known.probedAt = now;
    return undefined;
  }

  /** A call runs under this number; noted for a plugin that has lost a process lately. */
  began(pluginId: string, call: number, like: () => string): void {
    const known = this.cases.get(pluginId);
    if (known === undefined) return;
    known.calls.set(call, like());
    forgetOldest(known.calls, MOST_CALLS);
  }

  /**
   * Notes that a plugin's process was killed.
   * @param call the number of the call that was its end; 0 when nobody knows
   * @returns the back-off of the whole plugin that this starts, in ms, or 0
   */
  killed(pluginId: string, reason: string, call = 0): number {
    const now = this.clock.elapsed();
    const { windowMs, kills, firstMs } = this.rules;
    const known = this.cases.get(pluginId) ?? newCase();
    this.cases.set(pluginId, known);
    const like = known.calls.get(call);
    const isKnown = like !== undefined && known.likes.has(like);
    known.kills = [...known.kills.filter(({ at }) => at > now - windowMs), { at: now, like }];
    known.reason = reason;
    if (like !== undefined) this.blame(known, like, now);
    // Calls that were in flight when a back-off began may still die; they do not lengthen it.
    if (now < known.until) return 0;
    // The caller of that call has a back-off of its own.
    if (isKnown || (known.rounds === 0 && unlike(known.kills) < kills)) return 0;
    const backOff = Math.min(firstMs * 2 ** known.rounds, this.longest(pluginId, now));
    known.rounds++;
    known.until = now + backOff;
    return backOff;
  }

  /** A call ended as its author meant it to; during a back-off it belongs to the time before. */
  endedWell(pluginId: string): void {
    const now = this.clock.elapsed();
    this.endedWellAt.set(pluginId, now);
    const known = this.cases.get(pluginId);
    if (known === undefined || known.rounds === 0 || now < known.until) return;
    known.rounds = 0;
    known.kills = [];
    known.probedAt = Number.NEGATIVE_INFINITY;
  }

  /** Why and for how many more ms the plugin as a whole is refused; `undefined` when it may run. */
  backOff(pluginId: string): BackOff | undefined {
    const known = this.cases.get(pluginId);
    if (known === undefined) return undefined;
    const leftMs = known.until - this.clock.elapsed();
    return leftMs > 0 ? { reason: known.reason, leftMs } : undefined;
  }

  /** Forgets what is held against a plugin: it is another one now. */
  forget(pluginId: string): void {
    this.cases.delete(pluginId);
    this.endedWellAt.delete(pluginId);
  }

  private blame({ likes }: Case, like: string, now: number): void {
    const before = likes.get(like)?.kills ?? 0;
    const backOff = Math.min(this.rules.firstMs * 2 ** before, this.rules.longestMs);
    likes.delete(like);
    likes.set(like, { kills: before + 1, until: now + backOff });
    forgetOldest(likes, MOST_LIKES);
  }

  private longest(pluginId: string, now: number): number {
    const { longestMs, longestWorkingMs, workingMs } = this.rules;
    const endedWellAt = this.endedWellAt.get(pluginId) ?? Number.NEGATIVE_INFINITY;
    return now - endedWellAt <= workingMs ? Math.min(longestMs, longestWorkingMs) : longestMs;
  }

  /** Nothing has happened for so long that it counts no more. */
  private isOver(known: Case, now: number): boolean {
    const last = known.kills.at(-1)?.at ?? known.until;
    const latest = Math.max(last, known.until, ...[...known.likes.values()].map(({ until }) => until));
    return now > latest + this.rules.windowMs + this.rules.longestMs;
  }
}

/** Tells calls apart by who asks for what: not by headers, which differ each time. */
export function likeOf({ keyId, method, route, query, params }: PluginRequest): string {
  return hash('sha256', JSON.stringify([keyId, method, route, query, params]));
}

function newCase(): Case {
  return {
    kills: [],
    rounds: 0,
    until: Number.NEGATIVE_INFINITY,
    reason: '',
    probedAt: Number.NEGATIVE_INFINITY,
    likes: new Map(),
    calls: new Map(),
  };
}

/** How many kinds of calls there are among the kills; one that nobody knows is a kind of its own. */
function unlike(kills: Case['kills']): number {
  const known = kills.flatMap(({ like }) => like ?? []);
  return new Set(known).size + kills.length - known.length;
}

function forgetOldest<K>(map: Map<K, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}
