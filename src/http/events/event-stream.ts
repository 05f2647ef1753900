import type { Access } from '../../domain/settings/access.ts';
import type { TransactionEvent } from '../../domain/transaction/transaction-event.ts';
import type { EndedCall } from '../../plugin-host/call-log.ts';
import type { Cursor, CursorIds } from './cursor.ts';
import type { EventSource } from './event-source.ts';
import { callsText, eventText, RETRY, transactionEventView } from './event-text.ts';

/** How long nothing may come: half of what a connection may be silent. */
const SILENCE_MS = 15_000;

/** How many plugin calls a stream tells of in a second, and at once after a pause: more than anybody can read. */
const CALLS = { perSecond: 200, atOnce: 200 };

/** How often it says at the most that it has left some out: who hears that reads everything anew. */
const RESET_EVERY_MS = 1_000;

/** Which events a client wants. Naming something leaves out all else. */
export interface EventFilter {
  relayerId?: string | undefined;
  pluginId?: string | undefined;
}

export interface StreamParts {
  source: EventSource;
  ids: CursorIds;
  /** Where the client goes on; undefined for what comes from now on, null where its word for it is not understood. */
  from: Cursor | null | undefined;
  filter: EventFilter;
  /** What the client's key may do at this moment; undefined when it is accepted no more. */
  access: () => Access | undefined;
  /** The client has left, or the service ends. */
  signal: AbortSignal;
  /** On a clock that never goes back, in milliseconds. */
  elapsed: () => number;
}

/**
 * The text of a stream of events, piece by piece. It looks for more only when the piece before was taken, so that a slow
 * client has one piece in memory; what comes meanwhile waits where it is stored.
 */
export async function* eventStream(parts: StreamParts): AsyncGenerator<string, void, undefined> {
  const { source, ids, from, signal, elapsed } = parts;
  const close = source.open();
  const left = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  try {
    const begun =
      from === undefined ? { cursor: await source.now(), isWhole: true } : await source.resume(from ?? undefined);
    let { cursor } = begun;
    let toldAt = elapsed();
    const pace = new CallPace(toldAt);
    yield RETRY + eventText(begun.isWhole ? 'open' : 'reset', {}, ids.idOf(cursor));
    while (!signal.aborted) {
      const { beats } = source;
      const { transactions, isFull } = await source.transactionsAfter(cursor.transactions);
      const access = parts.access();
      if (access === undefined || signal.aborted) return;
      const visible = visibleTo(access, parts.filter);
      const calls = source.callsAfter(cursor.calls.place, pace.allowed(elapsed()), visible.call);
      const isReset = pace.told(calls.calls.length, calls.isCut && visible.anyCall, elapsed());
      const told = transactions.filter(visible.transaction);
      const before = cursor;
      cursor = {
        transactions: transactions.at(-1)?.place ?? before.transactions,
        calls: { of: before.calls.of, place: calls.place },
      };
      const text = [
        isReset ? eventText('reset', {}) : '',
        ...told.map((event) =>
          eventText('transaction', transactionEventView(event), ids.idOf({ ...before, transactions: event.place })),
        ),
        callsText(calls.calls, ids.idOf(cursor)),
      ].join('');
      if (text !== '' || elapsed() - toldAt >= SILENCE_MS) {
        toldAt = elapsed();
        yield text === '' ? quietText(ids.idOf(cursor)) : text;
      }
      if (!isFull) await Promise.race([source.next(beats), left]);
    }
  } finally {
    close();
  }
}

/**
 * So that what stands between does not take the connection for dead. What a key may not see still moves it on; there is
 * an id also where nothing moved, so that it does not tell.
 */
function quietText(id: string): string {
  return `id: ${id}\n\n`;
}

interface Visible {
  transaction(event: TransactionEvent): boolean;
  call(call: EndedCall): boolean;
  anyCall: boolean;
}

/** What others' calls wrote is for who may change the plugin, as are its logs. */
function visibleTo(access: Access, { relayerId, pluginId }: EventFilter): Visible {
  const isAll = relayerId === undefined && pluginId === undefined;
  const wantsRelayer = (id: string) => isAll || id === relayerId;
  const wantsPlugin = (id: string) => isAll || id === pluginId;
  return {
    transaction: (event) =>
      wantsRelayer(event.relayerId) && access.may({ resource: 'relayers', deed: 'read' }, event.relayerId),
    call: (call) => wantsPlugin(call.pluginId) && access.may({ resource: 'plugins', deed: 'write' }, call.pluginId),
    anyCall: (isAll || pluginId !== undefined) && access.sees('plugins', pluginId),
  };
}

/** What a stream may tell of calls, and what it has to say of those that it left out. */
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

  /** So many were told, and perhaps not all; returns whether that is to be said now. */
  told(calls: number, isCut: boolean, now: number): boolean {
    this.#left -= calls;
    this.#isCut ||= isCut;
    if (!this.#isCut || now - this.#resetAt < RESET_EVERY_MS) return false;
    this.#isCut = false;
    this.#resetAt = now;
    return true;
  }
}
