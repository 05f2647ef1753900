import type { WireValue } from '../../domain/json/json.ts';
import { writeJson } from '../../domain/json/json-text.ts';
import { wireTime } from '../../domain/wire-time.ts';
import type { Access } from '../../features/api-keys/records/access.ts';
import { callView, type EndedCall } from '../../features/plugins/host/call-log.ts';
import type { TransactionEvent } from '../../features/transactions/records/transaction-event.ts';
import type { Cursor, CursorIds } from '../cursors.ts';
import type { EventSource } from './event-source.ts';

/** The longest silence on a stream. It is half of the time that a connection may be silent. */
const SILENCE_MS = 15_000;

/**
 * The most plugin calls that a stream sends each second, and at once after a pause. This is more than anybody can read.
 */
const CALLS = { perSecond: 200, atOnce: 200 };

/** The shortest time between two `reset` events for omitted calls. A client reads everything again after each. */
const RESET_EVERY_MS = 1_000;

/**
 * The events that a client wants. Naming a relayer or plugin excludes all others. Without a name, all events are
 * wanted.
 */
interface EventFilter {
  relayerId?: string | undefined;
  pluginId?: string | undefined;
}

export interface StreamParts {
  source: EventSource;
  ids: CursorIds;
  /** Where the client continues. Undefined: with new events only. Null: the client sent a cursor that is not valid. */
  from: Cursor | null | undefined;
  filter: EventFilter;
  /** The current access of the client's key; undefined when the key is no longer accepted. */
  access: () => Access | undefined;
  /** Aborts when the client disconnects or the service stops. */
  signal: AbortSignal;
  /** A monotonic clock, in milliseconds. */
  elapsed: () => number;
}

/**
 * Yields the text of an event stream in pieces. It reads the next events only after the last piece was taken. So a slow
 * client has one piece in memory, and later events stay in the store.
 */
export async function* eventStream(parts: StreamParts): AsyncGenerator<string, void, undefined> {
  const { source, ids, from, signal, elapsed } = parts;
  const close = source.open();
  const left = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  try {
    const begun =
      from === undefined ? { cursor: await source.now(), isComplete: true } : await source.resume(from ?? undefined);
    let { cursor } = begun;
    let sentAt = elapsed();
    const pace = new CallPace(sentAt);
    yield RETRY + eventText(begun.isComplete ? 'open' : 'reset', {}, ids.idOf(cursor));
    while (!signal.aborted) {
      const { beats } = source;
      const { transactions, isFull } = await source.transactionsAfter(cursor.transactions);
      const access = parts.access();
      if (access === undefined || signal.aborted) return;
      const visible = visibleTo(access, parts.filter);
      const calls = source.callsAfter(cursor.calls.place, pace.allowed(elapsed()), visible.call);
      const isReset = pace.sent(calls.calls.length, calls.isCut && visible.anyCall, elapsed());
      const visibleTransactions = transactions.filter(visible.transaction);
      const before = cursor;
      cursor = {
        transactions: transactions.at(-1) ?? before.transactions,
        calls: { of: before.calls.of, place: calls.place },
      };
      const text = [
        isReset ? eventText('reset', {}) : '',
        ...visibleTransactions.map((event) =>
          eventText('transaction', transactionEventView(event), ids.idOf({ ...before, transactions: event })),
        ),
        callsText(calls.calls, ids.idOf(cursor)),
      ].join('');
      if (text !== '' || elapsed() - sentAt >= SILENCE_MS) {
        sentAt = elapsed();
        yield text === '' ? quietText(ids.idOf(cursor)) : text;
      }
      if (!isFull) await Promise.race([source.next(beats), left]);
    }
  } finally {
    close();
  }
}

/**
 * Returns a message that keeps proxies from closing a silent connection. Its id moves the client past events that its
 * key may not see. The message always has an id, so that its presence does not reveal such events.
 */
function quietText(id: string): string {
  return `id: ${id}\n\n`;
}

interface Visible {
  transaction(event: TransactionEvent): boolean;
  call(call: EndedCall): boolean;
  anyCall: boolean;
}

/**
 * Selects the events that the key may see. Events of plugin calls contain other callers' output, so they need `write`
 * on the plugin, as its logs do.
 */
function visibleTo(access: Access, { relayerId, pluginId }: EventFilter): Visible {
  const isAll = relayerId === undefined && pluginId === undefined;
  const wantsRelayer = (id: string) => isAll || id === relayerId;
  const wantsPlugin = (id: string) => isAll || id === pluginId;
  return {
    transaction: (event) =>
      wantsRelayer(event.relayerId) && access.may({ resource: 'relayers', action: 'read' }, event.relayerId),
    call: (call) => wantsPlugin(call.pluginId) && access.may({ resource: 'plugins', action: 'write' }, call.pluginId),
    anyCall: (isAll || pluginId !== undefined) && access.sees('plugins', pluginId),
  };
}

/** Limits the plugin calls that a stream sends, and decides when to tell the client of omitted ones. */
class CallPace {
  #left = CALLS.atOnce;
  #seenAt: number;
  #isCut = false;
  #resetAt = Number.NEGATIVE_INFINITY;

  constructor(now: number) {
    this.#seenAt = now;
  }

  allowed(now: number): number {
    const regained = ((now - this.#seenAt) / 1_000) * CALLS.perSecond;
    this.#seenAt = now;
    this.#left = Math.min(CALLS.atOnce, this.#left + regained);
    return Math.floor(this.#left);
  }

  /**
   * Records that `calls` calls were sent; `isCut` says that others were omitted. Returns whether to send a `reset` now.
   */
  sent(calls: number, isCut: boolean, now: number): boolean {
    this.#left -= calls;
    this.#isCut ||= isCut;
    if (!this.#isCut || now - this.#resetAt < RESET_EVERY_MS) return false;
    this.#isCut = false;
    this.#resetAt = now;
    return true;
  }
}

/**
 * The kinds of events. `open`: the stream has begun. `reset`: the client must read its data again. `transaction`: a
 * transaction changed. `plugin_call`: a plugin call has ended.
 */
type EventName = 'open' | 'reset' | 'transaction' | 'plugin_call';

/** How soon a client reconnects, in milliseconds. */
const RETRY = 'retry: 1000\n\n';

/**
 * Writes one server-sent event (HTML standard, section 9.2). An event without an id keeps the id of the event before
 * it. A client that resumes from that id gets this event again, and misses nothing that is sent with it.
 */
export function eventText(event: EventName, data: WireValue, id?: string): string {
  // JSON on one line: no text in it can begin another field.
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${writeJson(data)}\n\n`;
}

/** The state of a transaction right after the event. */
export function transactionEventView(event: TransactionEvent) {
  return {
    id: event.transactionId,
    relayer_id: event.relayerId,
    status: event.status,
    status_reason: event.statusReason,
    hash: event.hash,
    at: wireTime(event.at),
  };
}

/** The outcome of a plugin call, with its logs. */
export function callEventView(call: EndedCall) {
  return { plugin_id: call.pluginId, ...callView(call) };
}

/** The text of each call, which every stream that may see it sends. */
const written = new WeakMap<EndedCall, string>();

/**
 * Writes the events of plugin calls. Only the last has an id. A client that resumes from an earlier id gets all of them
 * again.
 */
export function callsText(calls: readonly EndedCall[], id: string): string {
  return calls.map((call, at) => (at === calls.length - 1 ? `id: ${id}\n` : '') + callText(call)).join('');
}

function callText(call: EndedCall): string {
  const known = written.get(call);
  if (known !== undefined) return known;
  const text = eventText('plugin_call', callEventView(call));
  written.set(call, text);
  return text;
}
