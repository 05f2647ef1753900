import { Readable } from 'node:stream';
import { z } from 'zod';
import { moment } from '../../domain/wire-time.ts';
import { loggedCallSchema } from '../../features/plugins/operations.ts';
import { transactionStatusSchema } from '../../features/transactions/records/transaction-state.ts';
import { eventStream } from '../events/event-stream.ts';
import { operation, raw } from '../operation.ts';

/** The data of an event about a transaction. */
export const transactionEventSchema = z
  .object({
    id: z.string(),
    relayer_id: z.string(),
    status: transactionStatusSchema,
    status_reason: z.string().nullable(),
    hash: z.string().nullable(),
    at: moment,
  })
  .meta({ description: 'Data of a `transaction` event: the state of the transaction right after the event' });

/** The data of an event about a plugin call. */
export const pluginCallEventSchema = loggedCallSchema
  .extend({ plugin_id: z.string() })
  .meta({ description: 'Data of a `plugin_call` event' });

const once = z.string('must be given once').optional();

const querystring = z.object({
  relayer_id: once.meta({
    description: 'Only transactions of this relayer; with `plugin_id` also calls of that plugin',
  }),
  plugin_id: once.meta({
    description: 'Only calls of this plugin; with `relayer_id` also transactions of that relayer',
  }),
});

/** Server-sent events, while the client stays connected. */
export const eventOperations = [
  operation({
    method: 'GET',
    path: '/api/v1/events',
    query: querystring,
    config: { ownDeadline: true, isStream: true },
    permission: 'relayers:read',
    isList: true,
    id: 'followEvents',
    tag: 'Operations',
    summary: 'Stream events as they happen',
    description:
      'Sends server-sent events until the client disconnects. The first event is `open` or `reset`. A `transaction` ' +
      'event (data: `TransactionEvent`) reports that a transaction was accepted, or that its status, hash or ' +
      'expected end has changed. A `plugin_call` event (data: `PluginCallEvent`) reports that a plugin call has ' +
      'ended on this instance; the key needs permission to change the plugin. A `reset` event reports that events ' +
      'may be missing: load again what you show. To continue an earlier stream, send the id of its last event in the ' +
      'header `Last-Event-ID`, to any instance. Within an hour no transaction event is lost or sent twice. Events ' +
      'that the key may not see are left out.',
    answer: {
      ...raw('Events that the key may see', z.string()),
      contentType: 'text/event-stream',
      events: {
        transaction: { name: 'TransactionEvent', data: transactionEventSchema },
        plugin_call: { name: 'PluginCallEvent', data: pluginCallEventSchema },
      },
    },
    readsHeaders: { 'Last-Event-ID': 'Id of the last event that the client received' },
    errors: ['INVALID_REQUEST'],
    handle({ request, reply, query, actor }, { source, cursorIds: ids, clock, drain }) {
      const close = source.streams.open(actor.keyId);
      const gone = new AbortController();
      reply.raw.once('close', () => {
        close();
        gone.abort();
      });
      const lastId = request.headers['last-event-id'];
      const text = eventStream({
        source,
        ids,
        from: lastId === undefined ? undefined : (ids.cursorOf(String(lastId)) ?? null),
        filter: { relayerId: query.relayer_id, pluginId: query.plugin_id },
        access: () => request.server.accessNow(request),
        signal: AbortSignal.any([gone.signal, drain.signal]),
        elapsed: () => clock.elapsed(),
      });
      return (
        reply
          .type('text/event-stream; charset=utf-8')
          // Stops proxies from buffering the stream.
          .headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
          .send(Readable.from(text, { objectMode: false, highWaterMark: 1 }))
      );
    },
  }),
];
