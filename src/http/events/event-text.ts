import type { Wire } from '../../domain/json/json.ts';
import { writeJson } from '../../domain/json/json-text.ts';
import type { TransactionEvent } from '../../domain/transaction/transaction-event.ts';
import { wireTime } from '../../domain/wire-time.ts';
import { callView, type EndedCall } from '../../plugin-host/call-log.ts';

/** The kinds of events: the stream has begun; read anew what you show; a transaction; a plugin call that has ended. */
export type EventName = 'open' | 'reset' | 'transaction' | 'plugin_call';

/** How soon a client comes back after a connection that ended. */
export const RETRY = 'retry: 1000\n\n';

/**
 * One event in the form of server-sent events (HTML standard, section 9.2). Without an id it leaves that of the event
 * before: whoever resumes there gets it again, and is not past what comes with it.
 */
export function eventText(event: EventName, data: Wire, id?: string): string {
  // JSON on one line: no text in it can begin another field.
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${writeJson(data)}\n\n`;
}

/** How a transaction stood right after something became of it. */
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

/** What a plugin call came to, with what it wrote. */
export function callEventView(call: EndedCall) {
  return { plugin_id: call.pluginId, ...callView(call) };
}

/** Each is told to every stream that may see it. */
const written = new WeakMap<EndedCall, string>();

/** The events of plugin calls. The last has the id: who goes on from before it gets all of them again. */
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
