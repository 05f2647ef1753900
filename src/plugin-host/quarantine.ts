import type { Clock } from '../domain/clock.ts';

/** When a plugin is backed off, and for how long. */
export interface QuarantineRules {
  /** Killed processes within `windowMs` that start a back-off. */
  kills: number;
  windowMs: number;
  /** The first back-off; each further one is twice as long, up to `longestMs`. */
  firstMs: number;
  longestMs: number;
}

const QUARANTINE_RULES: QuarantineRules = { kills: 3, windowMs: 60_000, firstMs: 1000, longestMs: 120_000 };

interface Case {
  /** When processes were killed, latest last. */
  kills: number[];
  /** Back-offs in a row without a call that ended well between them. */
  rounds: number;
  until: number;
  reason: string;
}

/**
 * Backs off plugins that kill their process again and again: refused for seconds, then minutes. After each back-off
 * comes probation: all calls are let in, one that ends well clears the plugin, one more kill doubles the back-off. No
 * plugin is ever refused for good, so that one caller cannot switch it off for the others.
 */
export class Quarantine {
  private readonly cases = new Map<string, Case>();
  private readonly clock: Clock;
  private readonly rules: QuarantineRules;

  constructor(clock: Clock, rules: QuarantineRules = QUARANTINE_RULES) {
    this.clock = clock;
    this.rules = rules;
  }

  /** Notes that a plugin's process was killed. Returns the back-off that this starts, in ms, or 0. */
  killed(pluginId: string, reason: string): number {
    const now = this.clock.elapsed();
    const known = this.cases.get(pluginId) ?? { kills: [], rounds: 0, until: 0, reason };
    known.kills = [...known.kills.filter((at) => at > now - this.rules.windowMs), now];
    known.reason = reason;
    this.cases.set(pluginId, known);
    // Calls that were in flight when a back-off began may still die; they do not lengthen it.
    if (now < known.until) return 0;
    if (known.rounds === 0 && known.kills.length < this.rules.kills) return 0;
    const backOff = Math.min(this.rules.firstMs * 2 ** known.rounds, this.rules.longestMs);
    known.rounds++;
    known.until = now + backOff;
    return backOff;
  }

  /** A call ended as its author meant it to; during a back-off it belongs to the time before. */
  endedWell(pluginId: string): void {
    const known = this.cases.get(pluginId);
    if (known !== undefined && known.rounds > 0 && this.clock.elapsed() >= known.until) this.cases.delete(pluginId);
  }

  /** Why and for how many more ms the plugin is refused; `undefined` when it may run. */
  backOff(pluginId: string): { reason: string; leftMs: number } | undefined {
    const known = this.cases.get(pluginId);
    if (known === undefined) return undefined;
    const leftMs = known.until - this.clock.elapsed();
    return leftMs > 0 ? { reason: known.reason, leftMs } : undefined;
  }
}
