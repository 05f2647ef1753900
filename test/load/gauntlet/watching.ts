import { setTimeout as sleep } from 'node:timers/promises';
import { descendantsOf, type WatchedProcess } from '../../support/processes.ts';
import type { RunningService } from '../../support/service.ts';
import { collect, type Held } from '../soak/calls/collection.ts';

/** Metrics of the main process at one moment. */
export interface Look {
  /** In milliseconds, on the clock of `performance`. */
  readonly at: number;
  /** Resident memory, in bytes. */
  readonly resident: number;
  /** The longest time for which its event loop was blocked since the previous look, in milliseconds. */
  readonly stallMs: number;
}

/** The memory that a full collection left. */
export interface Collection extends Held {
  /** In milliseconds, on the clock of `performance`. */
  readonly at: number;
}

/** A period with a collection that the gauntlet forced, in milliseconds on the clock of `performance`. */
export interface Pause {
  readonly from: number;
  readonly to: number;
}

/** Whether a request overlaps a collection that the gauntlet forced. */
export function isHeldUp({ at, tookMs }: { at: number; tookMs: number }, pauses: readonly Pause[]): boolean {
  return pauses.some(({ from, to }) => at < to && at + tookMs > from);
}

const EVERY_MS = 1_000;
/** prom-client measures the event loop's delay with a timer of 10 ms and includes these 10 ms in the delay. */
const TIMER_MS = 10;
const PATIENCE_MS = 10_000;

/**
 * Looks at a server each second: at its memory, its event loop, and every process that it has started. Regularly forces
 * a full garbage collection. Under an even load V8 collects old objects only once in minutes. Until then garbage looks
 * like a leak, or hides one.
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

  /** All processes that the server was seen to have, also those that have ended. */
  get processes(): WatchedProcess[] {
    return [...this.#processes.values()];
  }

  start(): void {
    this.#watching = this.#watch();
  }

  /** Stops after one last look. */
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

  /** Does nothing if the server does not answer. The verdict checks that there were enough collections. */
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
    // Reading the metrics resets the longest stall, so this forced stall is not counted.
    await this.#scrape();
  }

  /** Null if there is no answer. Failures of the server show in the honest requests instead. */
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
