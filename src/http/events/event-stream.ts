import type { Access } from '../../domain/settings/access.ts';
import type { TransactionEvent } from '../../domain/transaction/transaction-event.ts';
import type { EndedCall } from '../../plugin-host/call-log.ts';
import type { Cursor, CursorIds } from './cursor.ts';
import type { EventSource, Found } from './event-source.ts';
import { callEventView, eventText, RETRY, transactionEventView } from './event-text.ts';

/** How long nothing may come: half of what a connection may be silent. */
const SILENCE_MS = 15_000;

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
    yield RETRY + eventText(begun.isWhole ? 'open' : 'reset', {}, ids.idOf(cursor));
    while (!signal.aborted) {
      const { beats } = source;
      const found = await source.after(cursor);
      const access = parts.access();
      if (access === undefined || signal.aborted) return;
      const text = textOf(found, cursor, visibleTo(access, parts.filter), ids);
      cursor = found.cursor;
      if (text !== '' || elapsed() - toldAt >= SILENCE_MS) {
        toldAt = elapsed();
        yield text === '' ? quietText(ids.idOf(cursor)) : text;
      }
      if (!found.isFull) await Promise.race([source.next(beats), left]);
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

/** Each event with the id of all that was told up to it: first transactions, then calls. */
function textOf({ transactions, calls, cursor }: Found, before: Cursor, visible: Visible, ids: CursorIds): string {
  const pieces: string[] = [];
  for (const event of transactions) {
    if (!visible.transaction(event)) continue;
    const at = ids.idOf({ transactions: event.place, calls: before.calls });
    pieces.push(eventText('transaction', transactionEventView(event), at));
  }
  if (calls.missed > 0 && visible.anyCall) pieces.push(eventText('reset', {}));
  const firstPlace = calls.place - calls.calls.length + 1;
  for (const [index, call] of calls.calls.entries()) {
    if (!visible.call(call)) continue;
    const at = ids.idOf({ ...cursor, calls: { ...cursor.calls, place: firstPlace + index } });
    pieces.push(eventText('plugin_call', callEventView(call), at));
  }
  return pieces.join('');
}
