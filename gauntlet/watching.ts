import { setTimeout as sleep } from 'node:timers/promises';
import { collect, type Held } from '../soak/calls/collection.ts';
import { descendantsOf, type WatchedProcess } from '../test/support/processes.ts';
import type { RunningService } from '../test/support/service.ts';

/** What the main process says of itself. */
export interface Look {
  /** In milliseconds, on the clock of `performance`. */
  readonly at: number;
  /** Bytes. */
  readonly resident: number;
  /** The longest time for which its loop did nothing else since the look before, in milliseconds. */
  readonly stallMs: number;
}

/** What a full collection left. */
export interface Collection extends Held {
  /** In milliseconds, on the clock of `performance`. */
  readonly at: number;
}

/** When the server did nothing else than to collect, at our bidding; in milliseconds, on the clock of `performance`. */
export interface Pause {
  readonly from: number;
  readonly to: number;
}

/** Whether the gauntlet itself held up a request, by having the server collect. */
export function isHeldUp({ at, tookMs }: { at: number; tookMs: number }, pauses: readonly Pause[]): boolean {
  return pauses.some(({ from, to }) => at < to && at + tookMs > from);
}

const EVERY_MS = 1_000;
/** prom-client's histogram of the loop's delay counts its own timer of 10 ms. */
const TIMER_MS = 10;
const PATIENCE_MS = 10_000;

/**
 * Looks at a server each second: its memory, its loop, and every process that it has started. Now and then it has the
 * server collect its garbage: under an even load V8 collects the old objects once in minutes, and what lies about until
 * then looks like a leak, or hides one.
 */
export class Watching {
  readonly looks: Look[] = [];
  readonly collections: Collection[] = [];
  readonly pauses: Pause[] = [];
  readonly #service: RunningService;
  readonly #collectEveryMs: number;
  readonly #processes = new Map<string, WatchedProcess>();
  readonly #stopped = new AbortController();
  #watching: Promise<void> = Promise.resolve();

  constructor(service: RunningService, collectEveryMs: number) {
    this.#service = service;
    this.#collectEveryMs = collectEveryMs;
  }

  /** All processes that were seen below the server. */
  get processes(): WatchedProcess[] {
    return [...this.#processes.values()];
  }

  start(): void {
    this.#watching = this.#watch();
  }

  /** Looks for the last time. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#watching;
    await this.#look();
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stopped;
    let collectAt = performance.now() + this.#collectEveryMs;
    while (!signal.aborted) {
      await this.#look();
      if (performance.now() >= collectAt) {
        collectAt += this.#collectEveryMs;
        await this.#collect();
      }
      await sleep(EVERY_MS, undefined, { signal }).catch(() => {});
    }
  }

  async #look(): Promise<void> {
    for (const one of await descendantsOf(this.#service.pid)) {
      this.#processes.set(`${one.pid} ${one.startTime}`, one);
    }
    const text = await this.#scrape();
    if (text === null) return;
    this.looks.push({
      at: performance.now(),
      resident: figureOf(text, 'process_resident_memory_bytes'),
      stallMs: figureOf(text, 'nodejs_eventloop_lag_max_seconds') * 1_000 - TIMER_MS,
    });
  }

  /** A server that does not answer is one that was not looked into: the verdict counts how often it was. */
  async #collect(): Promise<void> {
    const from = performance.now();
    try {
      const held = await collect(this.#service);
      this.collections.push({ at: performance.now(), ...held });
    } catch {
      return;
    } finally {
      this.pauses.push({ from, to: performance.now() });
    }
    // The longest stall is told once: this one was ours.
    await this.#scrape();
  }

  /** Null where there is no answer: that is found out by those who ask the server for something. */
  async #scrape(): Promise<string | null> {
    try {
      const response = await fetch(`${this.#service.url}/api/v1/debug/metrics/scrape`, {
        headers: { authorization: `Bearer ${this.#service.apiKey}` },
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      return await response.text();
    } catch {
      return null;
    }
  }
}

function figureOf(exposition: string, name: string): number {
  const [, figure] = new RegExp(`^${name} (\\S+)$`, 'm').exec(exposition) ?? [];
  if (figure === undefined) throw new Error(`the server does not tell ${name}`);
  return Number(figure);
}
