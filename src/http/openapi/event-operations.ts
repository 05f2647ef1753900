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
  .meta({ description: 'The data of an event `transaction`: how it stood right after that' });

/** The data of an event about a plugin call. */
export const pluginCallEventSchema = loggedCallSchema
  .extend({ plugin_id: z.string() })
  .meta({ description: 'The data of an event `plugin_call`' });

/** The operation that streams events. */
export const eventOperations: Record<string, Operation> = {
  'GET /api/v1/events': {
    id: 'followEvents',
    tag: 'Operations',
    summary: 'What happens, as it happens',
    description:
      'Server-sent events, for as long as the client stays. `transaction` (data: `TransactionEvent`) comes when one was ' +
      'accepted or has another status, hash or end in sight; `plugin_call` (data: `PluginCallEvent`) when a call has ended ' +
      'on this instance, for who may change its plugin. `open` begins a stream. `reset` says that what came in between is ' +
      'not known any more: read anew what you show. With the last id in the header `Last-Event-ID` a stream goes on where ' +
      'another ended, on any instance, within an hour; no transaction’s event is left out or comes twice. What the key may ' +
      'not see is not there.',
    answer: {
      ...found('Events, each for who may see what it is about', z.string()),
      contentType: 'text/event-stream',
      events: {
        transaction: { name: 'TransactionEvent', data: transactionEventSchema },
        plugin_call: { name: 'PluginCallEvent', data: pluginCallEventSchema },
      },
    },
    headers: { 'Last-Event-ID': 'The id of the last event that was read' },
    errors: ['INVALID_REQUEST'],
  },
};
