import { setTimeout as delay } from 'node:timers/promises';
import type { Json } from '../../../../sandbox/contract.ts';
import type { CallEvent } from '../../calls/record.ts';

/** How long an event may take to be noticed that came by another instance, in ms. */
const LOOK_MS = 500;

/** The events that a durable call is sent. Of one name, each is heard once, in the order in which they came. */
export class CallInbox {
  readonly #read: () => Promise<CallEvent[]>;
  readonly #taken = new Map<string, number>();
  #events: readonly CallEvent[];
  #news = Promise.withResolvers<void>();

  constructor(events: readonly CallEvent[], read: () => Promise<CallEvent[]>) {
    this.#events = events;
    this.#read = read;
  }

  /** How many events the run knows of. */
  get size(): number {
    return this.#events.length;
  }

  /** Counts an event that an earlier run heard. */
  heard(name: string): void {
    this.#taken.set(name, (this.#taken.get(name) ?? 0) + 1);
  }

  /** A hint that an event has come. */
  wake(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers<void>();
  }

  /** Resolves with the next event of this name, or with undefined after `ms`. */
  async take(name: string, ms: number, signal: AbortSignal, now: () => number): Promise<{ value: Json } | undefined> {
    const until = now() + ms;
    for (;;) {
      this.#events = await this.#read();
      const taken = this.#taken.get(name) ?? 0;
      const next = this.#events.filter((event) => event.name === name)[taken];
      signal.throwIfAborted();
      if (next !== undefined) {
        this.heard(name);
        return { value: next.value };
      }
      const left = until - now();
      if (left <= 0) return undefined;
      await Promise.race([delay(Math.min(left, LOOK_MS), undefined, { signal }), this.#news.promise]);
    }
  }
}
