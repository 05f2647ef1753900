import { z } from 'zod';
import { attemptPurposeSchema } from '../../domain/transaction/attempt.ts';
import { decisionKindSchema } from '../../domain/transaction/decision.ts';
import { transactionStatusSchema } from '../../domain/transaction/transaction-state.ts';
import { envelope } from './answers.ts';
import { ACTING, BODY, type ChainBodies, found, OF_RELAYER, type Operation } from './operation.ts';

const moment = z.string().meta({ description: 'RFC 3339' });
const version = z.int().min(1).meta({ description: 'Counts the signed versions of the transaction' });
const view = z.record(z.string(), z.unknown());

/** One event of a timeline. Its keys depend on `event`. */
export const timelineEventSchema = z.discriminatedUnion('event', [
  z.strictObject({ at: moment, event: z.literal('accepted') }),
  z.strictObject({ at: moment, event: z.enum(['cancel_requested', 'replace_requested']) }),
  z.strictObject({ at: moment, event: z.enum(['cancel_refused', 'replace_refused']), text: z.string() }),
  z.strictObject({
    at: moment,
    event: z.literal('signed'),
    version,
    purpose: attemptPurposeSchema,
    hash: z.string(),
    content: view.optional().meta({ description: 'What it does and offers, in the words of the network type' }),
  }),
  z
    .strictObject({
      at: moment,
      event: z.literal('submitted'),
      version,
      hash: z.string(),
      endpoint: z
        .string()
        .optional()
        .meta({ description: 'Scheme, host and port of who took it; absent where it was seen in a block first' }),
    })
    .meta({ description: 'A node was first known to have the version' }),
  z.strictObject({ at: moment, event: z.literal('decided'), decision: decisionKindSchema, text: z.string() }),
  z.strictObject({
    at: moment,
    event: z.literal('ended'),
    status: transactionStatusSchema,
    hash: z.string().nullable(),
    text: z.string().optional(),
    inclusion: view.optional().meta({ description: 'The block that it is in, where it is in one' }),
  }),
]);

/** The answer of the timeline endpoint. */
export const timelineSchema = z.strictObject({
  transaction_id: z.string(),
  status: transactionStatusSchema,
  inclusion: view.nullable().meta({ description: 'The block that it is in and what it took there; null in none' }),
  events: z.array(timelineEventSchema).max(500),
  omitted: z.int().min(0).meta({ description: 'Events between the first and the others that are not shown' }),
});

/** The answer of canceling all. */
const canceledSchema = z.strictObject({
  queued_for_cancellation_transaction_ids: z.array(z.string()),
  failed_to_queue_transaction_ids: z.array(z.string()),
  total_processed: z.int().min(0),
});

const ONE: readonly Operation['errors'][number][] = [...OF_RELAYER, 'TRANSACTION_NOT_FOUND'];
const IN_TIME =
  'The answer comes once this is decided and stored. If the account cannot decide within 2.5 s, for instance while no ' +
  'node answers, it is the transaction as it is: the intent is kept and tried on, and the timeline tells what comes of it.';

/** The operations on transactions that were sent before. */
export function lifecycleOperations({ request, transaction }: ChainBodies): Readonly<Record<string, Operation>> {
  const tag = 'Transactions';
  return {
    'PUT /api/v1/relayers/:id/transactions/:transactionId': {
      id: 'replaceTransaction',
      tag,
      summary: 'Replace a transaction that is in no block',
      description:
        'It keeps its id and does something else under the sequence it has; at most one of the versions takes effect, and it may still ' +
        'be the earlier one: the transaction then shows what that did. The body is that of a send. A `speed` pays what ' +
        'nodes ask for to take it in the place of the earlier version; prices of its own have to be at least 10 % higher. ' +
        `An absent \`valid_until\` leaves that as it is. ${IN_TIME}`,
      body: { ...request, required: true },
      answer: found('The transaction, with what it is to do now', envelope(transaction)),
      errors: [...BODY, ...ONE, ...ACTING, 'NOT_AVAILABLE_YET'],
    },
    'DELETE /api/v1/relayers/:id/transactions/:transactionId': {
      id: 'cancelTransaction',
      tag,
      summary: 'Cancel a transaction that is in no block',
      description:
        'A pending one is canceled at once. In the place of one that is signed an attempt that does nothing is signed, ' +
        'where the network allows one; elsewhere it is offered no more and ends when it can no longer execute. It ends as ' +
        '`canceled`, or as what the chain shows when its effect won. ' +
        IN_TIME,
      answer: found('The transaction; is_canceled tells whether the intent was decided in time', envelope(transaction)),
      errors: ['INVALID_REQUEST', ...ONE, ...ACTING],
    },
    'DELETE /api/v1/relayers/:id/transactions/pending': {
      id: 'deletePendingTransactions',
      tag,
      summary: 'Cancel all transactions that are in no block',
      description: 'Each is canceled as if alone. The answer comes once that is stored, before it is done.',
      answer: found('Which transactions are to be canceled', envelope(canceledSchema)),
      errors: [...OF_RELAYER, ...ACTING],
    },
    'GET /api/v1/relayers/:id/transactions/by-nonce/:nonce': {
      id: 'getTransactionByNonce',
      tag,
      summary: 'The transaction with a nonce',
      description: 'The latest that the relayer gave the nonce. EVM only.',
      answer: found('The transaction', envelope(transaction)),
      errors: ['INVALID_REQUEST', ...OF_RELAYER, 'NONCE_NOT_FOUND', 'NONCE_LOOKUP_NOT_SUPPORTED'],
    },
    'GET /api/v1/relayers/:id/transactions/by-hash/:hash': {
      id: 'getTransactionByHash',
      tag,
      summary: 'The transaction with a hash',
      description: 'That of any of its signed versions, also of one that another took the place of.',
      answer: found('The transaction', envelope(transaction)),
      errors: ONE,
    },
    'GET /api/v1/relayers/:id/transactions/:transactionId/timeline': {
      id: 'getTransactionTimeline',
      tag,
      summary: 'What happened to a transaction so far',
      description:
        'Oldest first: its acceptance, what clients asked of it since and what was refused, each signed version, when a ' +
        'node first had it and whose that was, what nodes said that did not take it, what the service decided and why, the ' +
        'blocks that it was in, its end.',
      answer: found('At most 500 events: the first, and of more than so the latest', envelope(timelineSchema)),
      errors: ONE,
    },
  };
}
