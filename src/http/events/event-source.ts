import { AppError } from '../../domain/errors.ts';
import type { CallFeedPage } from '../../features/plugins/host/call-feed.ts';
import type { EndedCall } from '../../features/plugins/host/call-log.ts';
import type { PluginHost } from '../../features/plugins/host/plugin-host.ts';
import type { EventPlace, TransactionEvent } from '../../features/transactions/records/transaction-event.ts';
import type { TransactionEvents } from '../../features/transactions/transaction-events.ts';
import type { AcceptedKeys } from '../access/authenticate.ts';
import type { Cursor } from '../cursors.ts';

/** The most transaction events that one query returns. */
const AT_ONCE = 200;

interface EventSourceParts {
  events: TransactionEvents;
  pluginHost: Pick<PluginHost, 'ended'>;
  keys: Pick<AcceptedKeys, 'onChange'>;
}

/** Supplies the event streams of one instance. */
export class EventSource {
  readonly streams = new OpenStreams();
  readonly #transactions: TransactionEvents;
  readonly #ended: PluginHost['ended'];
  readonly #keys: EventSourceParts['keys'];
  readonly #instance: string;
  readonly #wakeUp = new WakeUp();
  readonly #queries = new Map<string, Promise<TransactionEvent[]>>();
  #queriedAt = 0;
  #readers = 0;
  #stopListening: () => void = () => {};

  /** @param id identifies this start of this instance; its last 8 hexadecimal digits are random */
  constructor({ events, pluginHost, keys }: EventSourceParts, id: string) {
    this.#transactions = events;
    this.#ended = pluginHost.ended;
    this.#keys = keys;
    this.#instance = id.slice(-8);
  }

  /** Adds a reader. Returns a function that removes it. */
  open(): () => void {
    this.#readers += 1;
    if (this.#readers === 1) {
      const wake = () => this.#wakeUp.notify();
      // Events may have been missed while there was no reader.
      wake();
      // A change of keys wakes the streams, so that a stream ends soon after its key does.
      const stops = [this.#transactions.onNews(wake), this.#ended.onCall(wake), this.#keys.onChange(wake)];
      this.#stopListening = () => {
        for (const stop of stops) stop();
      };
    }
    return () => {
      this.#readers -= 1;
      if (this.#readers === 0) this.#stopListening();
    };
  }

  /** Returns the cursor of the latest events. */
  async now(): Promise<Cursor> {
    const transactions = await this.#transactions.latest();
    return { transactions, calls: { of: this.#instance, place: this.#ended.latest } };
  }

  /** Continues from a cursor. `isComplete` is false when some events after it are no longer known. */
  async resume(from: Cursor | undefined): Promise<{ cursor: Cursor; isComplete: boolean }> {
    const now = await this.now();
    if (from === undefined || !(await this.#transactions.isKept(from.transactions))) {
      return { cursor: now, isComplete: false };
    }
    const isOurs = from.calls.of === this.#instance && from.calls.place <= now.calls.place;
    return { cursor: { transactions: from.transactions, calls: isOurs ? from.calls : now.calls }, isComplete: isOurs };
  }

  /** Returns transaction events after a position. With `isFull`, more can be read at once. */
  async transactionsAfter(place: EventPlace): Promise<{ transactions: readonly TransactionEvent[]; isFull: boolean }> {
    const transactions = await this.#queryAfter(place);
    return { transactions, isFull: transactions.length === AT_ONCE };
  }

  /** Returns the latest wanted calls after a position, at most `most`. */
  callsAfter(place: number, most: number, isWanted: (call: EndedCall) => boolean): CallFeedPage {
    return this.#ended.after(place, most, isWanted);
  }

  /** The number of the last beat. */
  get beats(): number {
    return this.#wakeUp.beats;
  }

  /** Resolves when it is time to read again: soon after something may have happened, otherwise within a second. */
  next(seen: number): Promise<void> {
    return this.#wakeUp.next(seen);
  }

  /**
   * Shares one query among all streams that ask for the same between two beats. An event that the query misses causes
   * another beat.
   */
  #queryAfter(from: EventPlace): Promise<TransactionEvent[]> {
    if (this.#queriedAt !== this.#wakeUp.beats) this.#queries.clear();
    this.#queriedAt = this.#wakeUp.beats;
    const key = `${from.written}-${from.position}`;
    const query = this.#queries.get(key) ?? this.#transactions.after(from, AT_ONCE);
    this.#queries.set(key, query);
    return query;
  }
}

/** News within this time is sent together. */
const GATHER_MS = 50;

/** The longest time between two beats while somebody waits. */
const EVERY_MS = 1_000;

/**
 * Wakes the streams soon after something may have happened, and at intervals otherwise. It beats only while somebody
 * waits. All who wait hear the same beat, so that they can share one query.
 */
export class WakeUp {
  #beats = 0;
  #next: PromiseWithResolvers<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isSoon = false;

  get beats(): number {
    return this.#beats;
  }

  /** Something may have happened. */
  notify(): void {
    if (this.#next === undefined) this.#beats += 1;
    else this.#beatSoon();
  }

  /** Resolves with the next beat. The beat comes soon when there were beats after the number `seen`. */
  async next(seen: number): Promise<void> {
    if (this.#next === undefined) {
      this.#next = Promise.withResolvers();
      this.#timer = setTimeout(() => this.#beat(), EVERY_MS);
    }
    if (seen !== this.#beats) this.#beatSoon();
    await this.#next.promise;
  }

  #beatSoon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#beat(), GATHER_MS);
  }

  #beat(): void {
    const waiting = this.#next;
    this.#next = undefined;
    this.#isSoon = false;
    this.#beats += 1;
    waiting?.resolve();
  }
}

/**
 * The most open streams of one key. Each stream holds a connection. A console page opens one. The limit stops a program
 * that leaks streams.
 */
const MAX_OF_A_KEY = 50;

const MAX = 500;

const RETRY_AFTER_SECONDS = 5;

/** Counts the streams that are open, by key. */
export class OpenStreams {
  readonly #ofKey = new Map<string, number>();
  #count = 0;

  /**
   * Counts one more stream. Returns a function that ends it; calling the function twice is safe.
   * @throws AppError `TOO_MANY_REQUESTS`
   */
  open(keyId: string): () => void {
    const ofKey = this.#ofKey.get(keyId) ?? 0;
    if (ofKey >= MAX_OF_A_KEY || this.#count >= MAX) {
      throw new AppError('TOO_MANY_REQUESTS', {}, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    this.#ofKey.set(keyId, ofKey + 1);
    this.#count += 1;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#count -= 1;
      const left = (this.#ofKey.get(keyId) ?? 1) - 1;
      if (left === 0) this.#ofKey.delete(keyId);
      else this.#ofKey.set(keyId, left);
    };
  }
}
