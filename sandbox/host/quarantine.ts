import { hash } from 'node:crypto';
import type { Clock, Json } from '../contract.ts';

/** When a request, an API key or a plugin is backed off, and for how long. */
export interface QuarantineRules {
  /**
   * How many kills within `windowMs` start a back-off: by different requests for an API key, by different keys for a
   * plugin.
   */
  kills: number;
  windowMs: number;
  /** The first back-off. Each further back-off is twice as long, up to `longestMs`. */
  firstMs: number;
  longestMs: number;
  /**
   * The longest back-off of a plugin that answered any call within `workingMs`, or of a key that it answered: the
   * plugin is not wholly broken.
   */
  longestWorkingMs: number;
  workingMs: number;
  /** How long the next call of a key is refused while its call on probation has not ended. */
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

/** Requests and keys that are remembered of one plugin; beyond that the oldest are forgotten. */
const MAX_REMEMBERED = 256;

/** Why a call is refused, and for how many more ms. */
export interface BackOff {
  reason: string;
  leftMs: number;
}

/** The call that ended a process: its API key and its request. */
export interface CulpritCall {
  keyId: string;
  /** See {@link requestFingerprint}. */
  request: string;
}

/** The back-offs that the end of a process starts, in ms; 0 for none. */
export interface StartedBackOffs {
  pluginMs: number;
  keyMs: number;
}

/** The back-offs of a request, an API key or a plugin. */
interface Standing {
  /** Back-offs in a row without a call that ended well between them. */
  rounds: number;
  until: number;
}

interface KeyStanding extends Standing {
  /** When its last call was let in on probation. */
  probedAt: number;
  /** When a call of the key last ended well. */
  endedWellAt: number;
}

/** What is known of a plugin that has lost a process lately. */
interface Case {
  reason: string;
  /** When processes were killed, the latest last, and by which call if that is known. */
  kills: { at: number; by: CulpritCall | undefined }[];
  readonly whole: Standing;
  readonly keys: Map<string, KeyStanding>;
  readonly requests: Map<string, Standing>;
}

/**
 * Backs off requests, API keys and plugins that kill processes again and again. A back-off lasts seconds at first, then
 * minutes. None is permanent.
 *
 * A request that killed a process is refused when it is repeated. An API key is backed off for this plugin when several
 * different requests of it kill. The whole plugin is backed off when calls of several keys kill. After a back-off comes
 * probation: each key may try one call at a time. A call that ends well clears the plugin and the key. A call that
 * kills doubles the back-off. The back-off of a plugin that answers other callers stays short. So callers who know many
 * ways to kill it cannot keep it from everybody else.
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
   * Why a call is refused; undefined when it may run. On probation, a call that may run becomes the one call that its
   * key tries.
   * @param request called only for a plugin that has lost a process lately, see {@link requestFingerprint}
   */
  refusal(pluginId: string, keyId: string, request: () => string): BackOff | undefined {
    const known = this.cases.get(pluginId);
    if (known === undefined) return undefined;
    const now = this.clock.elapsed();
    if (this.isOver(known, now)) {
      this.cases.delete(pluginId);
      return undefined;
    }
    const { reason, whole } = known;
    const repeated = this.refusalOfRepeat(known, request(), now);
    if (repeated !== undefined) return repeated;
    const own = known.keys.get(keyId);
    if (own !== undefined && own.until > now) {
      return { reason: `calls with the same API key killed it (${reason})`, leftMs: own.until - now };
    }
    if (whole.until > now) return { reason, leftMs: whole.until - now };
    if (whole.rounds === 0 && (own?.rounds ?? 0) === 0) return undefined;

    const key = own ?? keyOf(known, keyId);
    const leftMs = key.probedAt + this.rules.probeMs - now;
    if (leftMs > 0) return { reason: `${reason}; another call is being tried`, leftMs };
    key.probedAt = now;
    return undefined;
  }

  /** Checks a call again after it has waited for a place. In the meantime an equal call may have killed a process. */
  refusalAfterWait(pluginId: string, request: () => string): BackOff | undefined {
    const known = this.cases.get(pluginId);
    return known && this.refusalOfRepeat(known, request(), this.clock.elapsed());
  }

  /**
   * Notes that a plugin's process was killed.
   * @param by the call that ended the process, when it is known
   */
  killed(pluginId: string, reason: string, by?: CulpritCall): StartedBackOffs {
    const now = this.clock.elapsed();
    const known = this.cases.get(pluginId) ?? newCase();
    this.cases.set(pluginId, known);
    known.reason = reason;
    known.kills = [...known.kills.filter(({ at }) => at > now - this.rules.windowMs), { at: now, by }];
    const endedWellAt = this.endedWellAt.get(pluginId) ?? Number.NEGATIVE_INFINITY;
    if (by === undefined)
      return { pluginMs: this.backOffAfter(known.whole, keysOf(known.kills), endedWellAt), keyMs: 0 };

    const before = known.requests.get(by.request);
    const request = before ?? remember(known.requests, by.request, newStanding());
    request.until = now + Math.min(this.rules.firstMs * 2 ** request.rounds++, this.rules.longestMs);
    // A repeated request has its own back-off. It starts none for the key or the plugin.
    if (before !== undefined) return { pluginMs: 0, keyMs: 0 };
    const own = keyOf(known, by.keyId);
    const ownKills = known.kills.flatMap((kill) => (kill.by?.keyId === by.keyId ? kill.by.request : []));
    return {
      pluginMs: this.backOffAfter(known.whole, keysOf(known.kills), endedWellAt),
      keyMs: this.backOffAfter(own, new Set(ownKills).size, own.endedWellAt),
    };
  }

  /**
   * Notes that a call ended as its author meant it to. A call that ends during a back-off began before it, and does not
   * end it.
   */
  endedWell(pluginId: string, keyId: string): void {
    const now = this.clock.elapsed();
    this.endedWellAt.set(pluginId, now);
    const known = this.cases.get(pluginId);
    if (known === undefined) return;
    const own = known.keys.get(keyId);
    if (own !== undefined) {
      own.endedWellAt = now;
      if (clear(own, now)) {
        own.probedAt = Number.NEGATIVE_INFINITY;
        known.kills = known.kills.filter(({ by }) => by?.keyId !== keyId);
      }
    }
    if (!clear(known.whole, now)) return;
    known.kills = [];
    for (const key of known.keys.values()) key.probedAt = Number.NEGATIVE_INFINITY;
  }

  /** Why and for how many more ms the plugin as a whole is refused; `undefined` when it may run. */
  backOff(pluginId: string): BackOff | undefined {
    const known = this.cases.get(pluginId);
    if (known === undefined) return undefined;
    const leftMs = known.whole.until - this.clock.elapsed();
    return leftMs > 0 ? { reason: known.reason, leftMs } : undefined;
  }

  /**
   * Whether all calls of the plugin, or all calls of one API key, are refused now. These callers may have done nothing
   * wrong. The refusal of a repeated request does not count.
   */
  isRefusing(pluginId: string): boolean {
    const known = this.cases.get(pluginId);
    if (known === undefined) return false;
    const now = this.clock.elapsed();
    return [known.whole, ...known.keys.values()].some(({ until }) => until > now);
  }

  /** Forgets the kills and back-offs of a plugin, because it has changed. */
  forget(pluginId: string): void {
    this.cases.delete(pluginId);
    this.endedWellAt.delete(pluginId);
  }

  private refusalOfRepeat({ reason, requests }: Case, request: string, now: number): BackOff | undefined {
    const leftMs = (requests.get(request)?.until ?? 0) - now;
    return leftMs > 0 ? { reason: `a call like this one killed it (${reason})`, leftMs } : undefined;
  }

  /**
   * Starts a back-off if there were enough culprits.
   * @param culprits how many different requests or keys killed lately
   * @returns for how long, in ms, or 0
   */
  private backOffAfter(standing: Standing, culprits: number, endedWellAt: number): number {
    const { firstMs, kills, longestMs, longestWorkingMs, workingMs } = this.rules;
    const now = this.clock.elapsed();
    // Calls that were in flight when a back-off began may still die; they do not lengthen it.
    if (now < standing.until || (standing.rounds === 0 && culprits < kills)) return 0;
    const longest = now - endedWellAt <= workingMs ? Math.min(longestMs, longestWorkingMs) : longestMs;
    const backOffMs = Math.min(firstMs * 2 ** standing.rounds, longest);
    standing.rounds++;
    standing.until = now + backOffMs;
    return backOffMs;
  }

  /** Whether the latest kill or back-off is so long ago that it no longer counts. */
  private isOver({ kills, whole, keys, requests }: Case, now: number): boolean {
    const untils = [whole, ...keys.values(), ...requests.values()].map(({ until }) => until);
    const latest = Math.max(kills.at(-1)?.at ?? Number.NEGATIVE_INFINITY, ...untils);
    return now > latest + this.rules.windowMs + this.rules.longestMs;
  }
}

/** The parts of a request that tell it from others. */
export interface FingerprintedRequest {
  keyId: string;
  method: string;
  route: string;
  query: object;
  params: Json;
}

/** A hash of who asks for what. Headers are not part of it, because they differ each time. */
export function requestFingerprint({ keyId, method, route, query, params }: FingerprintedRequest): string {
  return hash('sha256', JSON.stringify([keyId, method, route, query, params]));
}

function newStanding(): Standing {
  return { rounds: 0, until: Number.NEGATIVE_INFINITY };
}

function newCase(): Case {
  return { reason: '', kills: [], whole: newStanding(), keys: new Map(), requests: new Map() };
}

function keyOf({ keys }: Case, keyId: string): KeyStanding {
  const never = Number.NEGATIVE_INFINITY;
  const known = keys.get(keyId) ?? { ...newStanding(), probedAt: never, endedWellAt: never };
  return remember(keys, keyId, known);
}

/** Stores a value as the latest one, and drops the oldest one beyond the limit. */
function remember<V>(map: Map<string, V>, key: string, value: V): V {
  map.delete(key);
  map.set(key, value);
  if (map.size > MAX_REMEMBERED) map.delete(map.keys().next().value ?? key);
  return value;
}

/** Ends a probation. Returns whether there was one. */
function clear(standing: Standing, now: number): boolean {
  if (standing.rounds === 0 || now < standing.until) return false;
  standing.rounds = 0;
  return true;
}

/** How many different keys' calls killed. A kill by an unknown call counts as one of another key. */
function keysOf(kills: Case['kills']): number {
  const known = kills.flatMap(({ by }) => by?.keyId ?? []);
  return new Set(known).size + kills.length - known.length;
}
