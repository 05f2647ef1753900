import { z } from 'zod';
import { transactionStatusSchema } from '../../domain/transaction/transaction-state.ts';
import { moment } from './answers.ts';
import { found, type Operation } from './operation.ts';
import { loggedCallSchema } from './plugin-operations.ts';

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

/** The operation that streams events. */
export const eventOperations: Record<string, Operation> = {
  'GET /api/v1/events': {
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
      ...found('Events that the key may see', z.string()),
      contentType: 'text/event-stream',
      events: {
        transaction: { name: 'TransactionEvent', data: transactionEventSchema },
        plugin_call: { name: 'PluginCallEvent', data: pluginCallEventSchema },
      },
    },
    headers: { 'Last-Event-ID': 'Id of the last event that the client received' },
    errors: ['INVALID_REQUEST'],
  },
};
