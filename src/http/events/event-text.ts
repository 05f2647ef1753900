import type { Wire } from '../../domain/json/json.ts';
import { writeJson } from '../../domain/json/json-text.ts';
import type { TransactionEvent } from '../../domain/transaction/transaction-event.ts';
import { wireTime } from '../../domain/wire-time.ts';
import { callView, type EndedCall } from '../../plugin-host/call-log.ts';

/**
 * The kinds of events. `open`: the stream has begun. `reset`: the client must read its data again. `transaction`: a
 * transaction changed. `plugin_call`: a plugin call has ended.
 */
export type EventName = 'open' | 'reset' | 'transaction' | 'plugin_call';

/** How soon a client reconnects, in milliseconds. */
export const RETRY = 'retry: 1000\n\n';

/**
 * Writes one server-sent event (HTML standard, section 9.2). An event without an id keeps the id of the event before
 * it. A client that resumes from that id gets this event again, and misses nothing that is sent with it.
 */
export function eventText(event: EventName, data: Wire, id?: string): string {
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
