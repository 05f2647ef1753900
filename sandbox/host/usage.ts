import type { CallUsage, Clock } from '../contract.ts';

/** The sums over some calls. */
export interface UsageTotals {
  calls: number;
  /** Guest code that ran, in milliseconds. */
  cpuMs: number;
  capabilityCalls: number;
  bytesIn: number;
  bytesOut: number;
}

/** The usage of a plugin's calls within the last hour, as far as it was counted. */
export interface HourUsage extends UsageTotals {
  /** When the count began, in milliseconds since the epoch. */
  since: number;
  /** Calls by the way they ended. */
  outcomes: ReadonlyMap<string, number>;
  /** The largest heap that an isolate had at the end of a call, in bytes. */
  heapPeakBytes: number;
}

interface Minute extends UsageTotals {
  minute: number;
  outcomes: Map<string, number>;
  heapPeakBytes: number;
}

interface Account {
  /** The last hour, oldest first; only minutes in which a call ended. */
  minutes: Minute[];
  /** Since the start, by outcome. */
  totals: Map<string, UsageTotals>;
}

const MINUTE_MS = 60_000;
/** How many full minutes count. With the current minute they make an hour. */
const FULL_MINUTES = 59;

/**
 * Counts the usage of each plugin's calls: since the start, and for the last hour by the minute. It is kept in memory,
 * so it begins again with the process. It takes at most sixty small rows for each plugin.
 */
export class UsageLedger {
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #accounts = new Map<string, Account>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.elapsed();
  }

  /** Notes a call that has ended; `outcome` is a label of the metrics, never a text of the plugin. */
  add(pluginId: string, outcome: string, usage: CallUsage): void {
    const account = this.#accountOf(pluginId);
    const minute = this.#minuteOf(account);
    const total = account.totals.get(outcome) ?? none();
    account.totals.set(outcome, total);
    for (const sum of [minute, total]) {
      sum.calls += 1;
      sum.cpuMs += usage.cpu_ms;
      sum.capabilityCalls += usage.calls;
      sum.bytesIn += usage.bytes_in;
      sum.bytesOut += usage.bytes_out;
    }
    minute.outcomes.set(outcome, (minute.outcomes.get(outcome) ?? 0) + 1);
    minute.heapPeakBytes = Math.max(minute.heapPeakBytes, usage.heap_bytes);
  }

  /** The usage within the current minute and the 59 before it. */
  lastHour(pluginId: string): HourUsage {
    const first = this.#firstMinute();
    const since = Math.max(this.#startedAt, first * MINUTE_MS);
    const outcomes = new Map<string, number>();
    const hour = { ...none(), since: this.#clock.now() - (this.#clock.elapsed() - since), outcomes, heapPeakBytes: 0 };
    for (const minute of this.#accounts.get(pluginId)?.minutes ?? []) {
      if (minute.minute < first) continue;
      hour.calls += minute.calls;
      hour.cpuMs += minute.cpuMs;
      hour.capabilityCalls += minute.capabilityCalls;
      hour.bytesIn += minute.bytesIn;
      hour.bytesOut += minute.bytesOut;
      hour.heapPeakBytes = Math.max(hour.heapPeakBytes, minute.heapPeakBytes);
      for (const [outcome, calls] of minute.outcomes) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + calls);
    }
    return hour;
  }

  /** The usage since the start, for every plugin that was ever called. */
  *totals(): Generator<{ pluginId: string; outcome: string } & UsageTotals> {
    for (const [pluginId, { totals }] of this.#accounts) {
      for (const [outcome, sum] of totals) yield { pluginId, outcome, ...sum };
    }
  }

  #accountOf(pluginId: string): Account {
    let account = this.#accounts.get(pluginId);
    if (account === undefined) {
      account = { minutes: [], totals: new Map() };
      this.#accounts.set(pluginId, account);
    }
    return account;
  }

  #minuteOf({ minutes }: Account): Minute {
    const now = Math.floor(this.#clock.elapsed() / MINUTE_MS);
    const last = minutes.at(-1);
    if (last?.minute === now) return last;
    const first = this.#firstMinute();
    minutes.splice(0, minutes.filter(({ minute }) => minute < first).length);
    const begun = { ...none(), minute: now, outcomes: new Map<string, number>(), heapPeakBytes: 0 };
    minutes.push(begun);
    return begun;
  }

  #firstMinute(): number {
    return Math.floor(this.#clock.elapsed() / MINUTE_MS) - FULL_MINUTES;
  }
}

function none(): UsageTotals {
  return { calls: 0, cpuMs: 0, capabilityCalls: 0, bytesIn: 0, bytesOut: 0 };
}
