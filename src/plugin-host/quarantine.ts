import { hash } from 'node:crypto';
import type { Clock } from '../domain/clock.ts';
import type { PluginRequest } from './plugin-host.ts';

/** When a plugin, an API key's calls of it, or calls alike are backed off, and for how long. */
export interface QuarantineRules {
  /**
   * Processes killed within `windowMs` that start a back-off: of an API key, by calls of it unlike each other; of the
   * whole plugin, by calls of as many keys.
   */
  kills: number;
  windowMs: number;
  /** The first back-off; each further one is twice as long, up to `longestMs`. */
  firstMs: number;
  longestMs: number;
  /** The longest for a plugin that answered somebody within `workingMs`, or a key that it answered: it is not all broken. */
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

/** Likes, calls and keys that are remembered of one plugin; beyond that the oldest are forgotten. */
const MOST_LIKES = 256;
const MOST_CALLS = 4096;
const MOST_KEYS = 256;

/** Why a call is refused, and for how many more ms. */
export interface BackOff {
  reason: string;
  leftMs: number;
}

/** What the end of a process starts: back-offs, in ms, or 0. */
export interface StartedBackOffs {
  pluginMs: number;
  keyMs: number;
  /** Whose call it was, when that is known. */
  keyId: string | undefined;
}

/** How it stands with a plugin as a whole, or with one key's calls of it. */
interface Standing {
  /** Back-offs in a row without a call that ended well between them. */
  rounds: number;
  until: number;
  reason: string;
  /** When the last call was let in on probation. */
  probedAt: number;
  /** When a call last ended well. */
  endedWellAt: number;
}

/** Which call it was, as far as that is known. */
interface Origin {
  like: string | undefined;
  keyId: string | undefined;
}

interface Case {
  /** When processes were killed, latest last, and by which call. */
  kills: (Origin & { at: number })[];
  readonly whole: Standing;
  /** Of the API keys whose calls have killed. */
  readonly keys: Map<string, Standing>;
  /** Keys that ask for the plugin on probation, in the order of their turns, and until when each is waited for. */
  readonly turns: Map<string, number>;
  /** Calls like these have killed a process before. */
  readonly likes: Map<string, { kills: number; until: number }>;
  /** The calls of the last time, by their numbers. */
  readonly calls: Map<number, Origin>;
}

/**
 * Backs off what kills processes again and again, for seconds, then minutes; nothing is ever refused for good.
 *
 * Calls alike are judged together: whoever repeats a call that kills is refused, and nobody else. Who finds other calls
 * that kill is refused by the API key, for this plugin. Only when calls of several keys kill, the plugin as a whole is
 * backed off. Then comes probation: one call is let in at a time, the keys taking turns, until one ends well, which
 * clears the plugin or the key; one that kills doubles the back-off. That of a plugin which answers others stays short,
 * so that callers who know many ways to kill it cannot keep it from everybody else.
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
  refusal(pluginId: string, keyId: string, like: () => string): BackOff | undefined {
    const known = this.cases.get(pluginId);
    if (known === undefined) return undefined;
    const now = this.clock.elapsed();
    if (this.isOver(known, now)) {
      this.cases.delete(pluginId);
      return undefined;
    }
    const { whole, keys, turns } = known;
    const alike = this.refusalOfLike(known, like(), now);
    if (alike !== undefined) return alike;
    const own = keys.get(keyId);
    const ownBackOff = own && this.backOffOf(own, now);
    if (ownBackOff !== undefined) {
      return { ...ownBackOff, reason: `calls of the same API key were the end of it (${ownBackOff.reason})` };
    }
    const backOff = this.backOffOf(whole, now) ?? this.othersTurn(known, keyId, now);
    if (backOff !== undefined) {
      if (turns.has(keyId) || turns.size < MOST_KEYS) turns.set(keyId, now + backOff.leftMs + this.rules.probeMs);
      return backOff;
    }
    turns.delete(keyId);
    whole.probedAt = now;
    if (own !== undefined) own.probedAt = now;
    return undefined;
  }

  /** The same for a call that was let go on and has waited since: a call like it may have killed a process meanwhile. */
  refusalAfterWait(pluginId: string, like: () => string): BackOff | undefined {
    const known = this.cases.get(pluginId);
    return known && this.refusalOfLike(known, like(), this.clock.elapsed());
  }

  /** A call runs under this number; noted for a plugin that has lost a process lately. */
  began(pluginId: string, call: number, keyId: string, like: () => string): void {
    const known = this.cases.get(pluginId);
    if (known === undefined) return;
    known.calls.set(call, { like: like(), keyId });
    forgetOldest(known.calls, MOST_CALLS);
  }

  /**
   * Notes that a plugin's process was killed.
   * @param call the number of the call that was its end; 0 when nobody knows
   * @param keyId whose call it was, if that is known otherwise
   */
  killed(pluginId: string, reason: string, call = 0, keyId?: string): StartedBackOffs {
    const now = this.clock.elapsed();
    const known = this.cases.get(pluginId) ?? newCase();
    this.cases.set(pluginId, known);
    const origin = known.calls.get(call) ?? { like: undefined, keyId };
    known.kills = [...known.kills.filter(({ at }) => at > now - this.rules.windowMs), { ...origin, at: now }];
    // The caller of such a call has a back-off of its own.
    const isKnown = origin.like !== undefined && known.likes.has(origin.like);
    if (origin.like !== undefined) this.blame(known, origin.like, now);
    const endedWellAt = this.endedWellAt.get(pluginId) ?? Number.NEGATIVE_INFINITY;
    const kinds = isKnown ? 0 : kindsOf(known.kills, ({ keyId: key, like }) => key ?? like);
    const pluginMs = this.backedOff(known.whole, { reason, kinds, endedWellAt, now });
    if (origin.keyId === undefined) return { pluginMs, keyMs: 0, keyId: undefined };

    const own = known.keys.get(origin.keyId) ?? newStanding();
    known.keys.delete(origin.keyId);
    known.keys.set(origin.keyId, own);
    forgetOldest(known.keys, MOST_KEYS);
    const kills = known.kills.filter((kill) => kill.keyId === origin.keyId);
    const ownKinds = isKnown ? 0 : kindsOf(kills, ({ like }) => like);
    const keyMs = this.backedOff(own, { reason, kinds: ownKinds, endedWellAt: own.endedWellAt, now });
    return { pluginMs, keyMs, keyId: origin.keyId };
  }

  /** A call ended as its author meant it to; during a back-off it belongs to the time before. */
  endedWell(pluginId: string, keyId: string): void {
    const now = this.clock.elapsed();
    this.endedWellAt.set(pluginId, now);
    const known = this.cases.get(pluginId);
    if (known === undefined) return;
    const own = known.keys.get(keyId);
    if (own !== undefined) own.endedWellAt = now;
    if (own !== undefined && clear(own, now)) known.kills = known.kills.filter((kill) => kill.keyId !== keyId);
    if (!clear(known.whole, now)) return;
    known.kills = [];
    known.turns.clear();
  }

  /** Why and for how many more ms the plugin as a whole is refused; `undefined` when it may run. */
  backOff(pluginId: string): BackOff | undefined {
    const known = this.cases.get(pluginId);
    if (known === undefined) return undefined;
    const leftMs = known.whole.until - this.clock.elapsed();
    return leftMs > 0 ? { reason: known.whole.reason, leftMs } : undefined;
  }

  /**
   * Whether callers are refused who may have done nothing: everybody, or all that one API key asks. Who repeats a call
   * that kills is not counted.
   */
  isRefusing(pluginId: string): boolean {
    const known = this.cases.get(pluginId);
    if (known === undefined) return false;
    const now = this.clock.elapsed();
    return [known.whole, ...known.keys.values()].some(({ until }) => until > now);
  }

  /** Forgets what is held against a plugin: it is another one now. */
  forget(pluginId: string): void {
    this.cases.delete(pluginId);
    this.endedWellAt.delete(pluginId);
  }

  private refusalOfLike({ likes, whole }: Case, like: string, now: number): BackOff | undefined {
    const alike = likes.get(like);
    if (alike === undefined || alike.until <= now) return undefined;
    return { reason: `a call like this one was the end of it (${whole.reason})`, leftMs: alike.until - now };
  }

  private blame({ likes }: Case, like: string, now: number): void {
    const before = likes.get(like)?.kills ?? 0;
    const backOff = Math.min(this.rules.firstMs * 2 ** before, this.rules.longestMs);
    likes.delete(like);
    likes.set(like, { kills: before + 1, until: now + backOff });
    forgetOldest(likes, MOST_LIKES);
  }

  private backOffOf({ rounds, until, reason, probedAt }: Standing, now: number): BackOff | undefined {
    if (until > now) return { reason, leftMs: until - now };
    const leftMs = probedAt + this.rules.probeMs - now;
    return rounds > 0 && leftMs > 0 ? { reason: `${reason}; another call is being tried`, leftMs } : undefined;
  }

  /** On probation, who was refused before is waited for first, for a while: whoever asks most often would always win. */
  private othersTurn({ whole, turns }: Case, keyId: string, now: number): BackOff | undefined {
    if (whole.rounds === 0) return undefined;
    for (const [key, until] of turns) {
      if (key === keyId) return undefined;
      if (until > now) return { reason: `${whole.reason}; another caller is tried first`, leftMs: this.rules.probeMs };
      turns.delete(key);
    }
    return undefined;
  }

  /** Backs off, or not yet. @returns for how long, in ms, or 0 */
  private backedOff(
    standing: Standing,
    end: { reason: string; kinds: number; endedWellAt: number; now: number },
  ): number {
    const { firstMs, kills, longestMs, longestWorkingMs, workingMs } = this.rules;
    const { reason, kinds, endedWellAt, now } = end;
    standing.reason = reason;
    // Calls that were in flight when a back-off began may still die; they do not lengthen it.
    if (now < standing.until || kinds === 0 || (standing.rounds === 0 && kinds < kills)) return 0;
    const longest = now - endedWellAt <= workingMs ? Math.min(longestMs, longestWorkingMs) : longestMs;
    const backOff = Math.min(firstMs * 2 ** standing.rounds, longest);
    standing.rounds++;
    standing.until = now + backOff;
    return backOff;
  }

  /** Nothing has happened for so long that it counts no more. */
  private isOver({ kills, whole, keys, likes }: Case, now: number): boolean {
    const untils = [whole, ...keys.values(), ...likes.values()].map(({ until }) => until);
    const latest = Math.max(kills.at(-1)?.at ?? Number.NEGATIVE_INFINITY, ...untils);
    return now > latest + this.rules.windowMs + this.rules.longestMs;
  }
}

/** Tells calls apart by who asks for what: not by headers, which differ each time. */
export function likeOf({ keyId, method, route, query, params }: PluginRequest): string {
  return hash('sha256', JSON.stringify([keyId, method, route, query, params]));
}

function newStanding(): Standing {
  const never = Number.NEGATIVE_INFINITY;
  return { rounds: 0, until: never, reason: '', probedAt: never, endedWellAt: never };
}

function newCase(): Case {
  const maps = { keys: new Map(), turns: new Map(), likes: new Map(), calls: new Map() };
  return { kills: [], whole: newStanding(), ...maps };
}

/** Ends a probation, if it is one. */
function clear(standing: Standing, now: number): boolean {
  if (standing.rounds === 0 || now < standing.until) return false;
  standing.rounds = 0;
  standing.probedAt = Number.NEGATIVE_INFINITY;
  return true;
}

/** How many kinds there are among the kills; one of which nothing is known is a kind of its own. */
function kindsOf(kills: Case['kills'], kindOf: (origin: Origin) => string | undefined): number {
  const known = kills.flatMap((kill) => kindOf(kill) ?? []);
  return new Set(known).size + kills.length - known.length;
}

function forgetOldest<K>(map: Map<K, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}
