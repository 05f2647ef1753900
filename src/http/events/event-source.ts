import type { EventPlace, TransactionEvent } from '../../domain/transaction/transaction-event.ts';
import type { FollowingCalls } from '../../plugin-host/call-feed.ts';
import type { EndedCall } from '../../plugin-host/call-log.ts';
import type { PluginHost } from '../../plugin-host/plugin-host.ts';
import type { TransactionEvents } from '../../services/events/transaction-events.ts';
import type { AcceptedKeys } from '../access/auth.ts';
import type { Cursor } from './cursor.ts';
import { WakeUp } from './wake-up.ts';

/** Events of transactions that one look finds at the most. */
const AT_ONCE = 200;

export interface EventSourceParts {
  events: TransactionEvents;
  pluginHost: Pick<PluginHost, 'ended'>;
  keys: Pick<AcceptedKeys, 'onChange'>;
}

/** Where the streams of one instance have their events from. */
export class EventSource {
  readonly #transactions: TransactionEvents;
  readonly #ended: PluginHost['ended'];
  readonly #keys: EventSourceParts['keys'];
  readonly #instance: string;
  readonly #wakeUp = new WakeUp();
  readonly #looks = new Map<string, Promise<TransactionEvent[]>>();
  #lookedAt = 0;
  #readers = 0;
  #stopListening: () => void = () => {};

  /** @param instance 8 hexadecimal digits that tell this start of this instance from others */
  constructor({ events, pluginHost, keys }: EventSourceParts, instance: string) {
    this.#transactions = events;
    this.#ended = pluginHost.ended;
    this.#keys = keys;
    this.#instance = instance;
  }

  /** Somebody reads; returns the way to say that this is over. */
  open(): () => void {
    this.#readers += 1;
    if (this.#readers === 1) {
      const stir = () => this.#wakeUp.stir();
      // Nobody has listened since the last look.
      stir();
      // A stream whose key has ended ends with the next beat.
      const stops = [this.#transactions.onNews(stir), this.#ended.onCall(stir), this.#keys.onChange(stir)];
      this.#stopListening = () => {
        for (const stop of stops) stop();
      };
    }
    return () => {
      this.#readers -= 1;
      if (this.#readers === 0) this.#stopListening();
    };
  }

  /** Where everything ends now. */
  async now(): Promise<Cursor> {
    const transactions = await this.#transactions.latest();
    return { transactions, calls: { of: this.#instance, place: this.#ended.latest } };
  }

  /** Goes on from a place, as far as what followed it is still known; `isWhole` false when something is not. */
  async resume(from: Cursor | undefined): Promise<{ cursor: Cursor; isWhole: boolean }> {
    const now = await this.now();
    if (from === undefined || !(await this.#transactions.isKept(from.transactions))) {
      return { cursor: now, isWhole: false };
    }
    const isOurs = from.calls.of === this.#instance && from.calls.place <= now.calls.place;
    return { cursor: { transactions: from.transactions, calls: isOurs ? from.calls : now.calls }, isWhole: isOurs };
  }

  /** What became of transactions after a place; with `isFull` there is more, to be had at once. */
  async transactionsAfter(place: EventPlace): Promise<{ transactions: readonly TransactionEvent[]; isFull: boolean }> {
    const transactions = await this.#lookAfter(place);
    return { transactions, isFull: transactions.length === AT_ONCE };
  }

  /** The latest calls after a place that are wanted, at most `most`. */
  callsAfter(place: number, most: number, isWanted: (call: EndedCall) => boolean): FollowingCalls {
    return this.#ended.after(place, most, isWanted);
  }

  /** The number of the last beat that was heard. */
  get beats(): number {
    return this.#wakeUp.beats;
  }

  /** Resolves when it is time to look again: soon after something may have happened, else within a second. */
  next(heard: number): Promise<void> {
    return this.#wakeUp.next(heard);
  }

  /** One look for all who ask for the same between two beats: what it misses makes another beat. */
  #lookAfter(from: EventPlace): Promise<TransactionEvent[]> {
    if (this.#lookedAt !== this.#wakeUp.beats) this.#looks.clear();
    this.#lookedAt = this.#wakeUp.beats;
    const key = `${from.written}-${from.position}`;
    const looking = this.#looks.get(key) ?? this.#transactions.after(from, AT_ONCE);
    this.#looks.set(key, looking);
    return looking;
  }
}
