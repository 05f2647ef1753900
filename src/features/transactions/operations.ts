import { z } from 'zod';
import { moment } from '../../domain/wire-time.ts';
import { ACTING, BODY, OF_RELAYER, one, operation, page } from '../../http/operation.ts';
import { pageQuerySchema } from '../../http/paging.ts';
import { attemptPurposeSchema } from './records/attempt.ts';
import { decisionKindSchema } from './records/timeline-decision.ts';
import { transactionStatusSchema } from './records/transaction-state.ts';

const version = z.int().min(1).meta({ description: 'Number of the signed version of the transaction, from 1' });
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
    content: view.optional().meta({ description: 'What the version does and pays; depends on the network type' }),
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
        .meta({ description: 'Scheme, host and port of the endpoint that took it; absent if first seen in a block' }),
    })
    .meta({ description: 'The first time that a node is known to have this version' }),
  z.strictObject({ at: moment, event: z.literal('decided'), decision: decisionKindSchema, text: z.string() }),
  z.strictObject({
    at: moment,
    event: z.literal('ended'),
    status: transactionStatusSchema,
    hash: z.string().nullable(),
    text: z.string().optional(),
    inclusion: view.optional().meta({ description: 'Block of the transaction; absent if in none' }),
  }),
]);

/** The answer of the timeline endpoint. */
export const timelineSchema = z.strictObject({
  transaction_id: z.string(),
  status: transactionStatusSchema,
  inclusion: view.nullable().meta({ description: 'Block of the transaction, and what it used there; null if in none' }),
  original: view.nullable().meta({
    description:
      'What the client asked for, where the transaction shows an empty transaction in its place: the fields of ' +
      'the transaction that this changed. Null otherwise',
  }),
  events: z.array(timelineEventSchema).max(500),
  omitted: z.int().min(0).meta({ description: 'Number of events left out after the first event' }),
});

/** The answer of canceling all. */
const canceledSchema = z.strictObject({
  queued_for_cancellation_transaction_ids: z.array(z.string()),
  failed_to_queue_transaction_ids: z.array(z.string()),
  total_processed: z.int().min(0),
});

const OF_ONE = [...OF_RELAYER, 'TRANSACTION_NOT_FOUND'] as const;
const IN_TIME =
  'The response comes once this is decided and stored. If it cannot be decided within 2.5 s, for instance because no ' +
  'node answers, the response is the transaction without the change. The service keeps the request and goes on ' +
  'trying. The timeline shows the outcome.';

const listQuery = pageQuerySchema.extend({
  status: z
    .string('must be given once')
    .toLowerCase()
    .pipe(z.enum(transactionStatusSchema.options, `must be one of ${transactionStatusSchema.options.join(', ')}`))
    .meta({
      enum: transactionStatusSchema.options,
      description: 'Only transactions with this status, in any letter case',
    })
    .optional(),
});

const MAX_NONCE = 2n ** 64n - 1n;
const byNonce = z.object({
  id: z.string(),
  nonce: z
    .string()
    .refine((text) => /^\d{1,20}$/.test(text) && BigInt(text) <= MAX_NONCE, {
      error: `must be an integer from 0 to ${MAX_NONCE}`,
    })
    .meta({ pattern: '^\\d{1,20}$', description: `At most ${MAX_NONCE}` }),
});

const tag = 'Transactions';

/** Transactions of relayers. Each is visible only under its own relayer. */
export const transactionOperations = [
  operation({
    method: 'POST',
    path: '/api/v1/relayers/:id/transactions',
    permission: 'relayers:send',
    id: 'sendTransaction',
    tag,
    summary: 'Send a transaction',
    description: 'An accepted transaction is stored before the response, and takes effect on chain at most once.',
    body: ({ request }) => request,
    answer: one('The accepted transaction; its status shows its progress', ({ transaction }) => transaction),
    errors: [...BODY, ...OF_RELAYER, ...ACTING, 'TRANSACTION_EXISTS', 'NOT_AVAILABLE_YET'],
    handle: ({ params, body, by }, { services }) => services.transactions.send(params.id, body, by),
  }),
  operation({
    method: 'GET',
    path: '/api/v1/relayers/:id/transactions',
    query: listQuery,
    permission: 'relayers:read',
    id: 'listTransactions',
    tag,
    summary: 'List the transactions of a relayer',
    answer: page('Transactions, newest first', ({ transaction }) => transaction),
    errors: ['INVALID_REQUEST', ...OF_RELAYER],
    handle: ({ params, page, query }, { services }) => services.transactions.list(params.id, page, query.status),
  }),
  operation({
    method: 'GET',
    path: '/api/v1/relayers/:id/transactions/:transactionId',
    permission: 'relayers:read',
    id: 'getTransaction',
    tag,
    summary: 'Get a transaction',
    answer: one('The transaction', ({ transaction }) => transaction),
    errors: [...OF_RELAYER, 'TRANSACTION_NOT_FOUND'],
    handle: ({ params }, { services }) => services.transactions.get(params.id, params.transactionId),
  }),
];

/** What is done with a transaction that was sent before. */
export const lifecycleOperations = [
  operation({
    method: 'PUT',
    path: '/api/v1/relayers/:id/transactions/:transactionId',
    permission: 'relayers:send',
    id: 'replaceTransaction',
    tag,
    summary: 'Replace a transaction that is not in a block',
    description:
      'The transaction keeps its id and its sequence (on EVM the nonce), and gets new content. At most one of ' +
      'its versions takes effect. That may still be the earlier version; the transaction then shows what that ' +
      'version did. The body is that of a send. With `speed`, the new version pays the price that nodes require to ' +
      'replace the earlier one. Prices given in the body have to be at least 10 % higher than those of the earlier ' +
      'version. ' +
      `An absent \`valid_until\` does not change. ${IN_TIME}`,
    body: ({ request }) => request,
    answer: one('The transaction with its new content', ({ transaction }) => transaction),
    errors: [...BODY, ...OF_ONE, ...ACTING, 'NOT_AVAILABLE_YET'],
    handle: ({ params, body, by }, { services }) =>
      services.lifecycle.replace(params.id, params.transactionId, body, by),
  }),
  operation({
    method: 'DELETE',
    path: '/api/v1/relayers/:id/transactions/:transactionId',
    permission: 'relayers:send',
    id: 'cancelTransaction',
    tag,
    summary: 'Cancel a transaction that is not in a block',
    description:
      'A pending transaction is canceled at once. If the transaction is signed, the service signs an empty ' +
      'transaction in its place, on networks that allow this. On other networks the service stops offering it to ' +
      'nodes, and it ends when it can no longer execute. It ends as `canceled`, or as the chain shows if it took ' +
      'effect after all. ' +
      IN_TIME,
    answer: one('The transaction; is_canceled tells whether it was decided in time', ({ transaction }) => transaction),
    errors: ['INVALID_REQUEST', ...OF_ONE, ...ACTING],
    handle: ({ params, by }, { services }) => services.lifecycle.cancel(params.id, params.transactionId, by),
  }),
  operation({
    method: 'DELETE',
    path: '/api/v1/relayers/:id/transactions/pending',
    permission: 'relayers:send',
    id: 'deletePendingTransactions',
    tag,
    summary: 'Cancel all transactions that are not in a block',
    description:
      'Each transaction is canceled as by a single request. The response comes once the cancellations are stored, ' +
      'before they take effect.',
    answer: one('Ids of transactions to cancel, and of those that could not be queued', canceledSchema),
    errors: [...OF_RELAYER, ...ACTING],
    handle: ({ params, actor }, { services }) => services.lifecycle.cancelPending(params.id, actor),
  }),
  operation({
    method: 'GET',
    path: '/api/v1/relayers/:id/transactions/by-nonce/:nonce',
    params: byNonce,
    permission: 'relayers:read',
    id: 'getTransactionByNonce',
    tag,
    summary: 'Get a transaction by its nonce',
    description: 'The latest transaction to which the relayer gave the nonce. EVM only.',
    answer: one('The transaction', ({ transaction }) => transaction),
    errors: ['INVALID_REQUEST', ...OF_RELAYER, 'NONCE_NOT_FOUND', 'NONCE_LOOKUP_NOT_SUPPORTED'],
    handle: ({ params }, { services }) => services.lifecycle.bySequence(params.id, BigInt(params.nonce)),
  }),
  operation({
    method: 'GET',
    path: '/api/v1/relayers/:id/transactions/by-hash/:hash',
    permission: 'relayers:read',
    id: 'getTransactionByHash',
    tag,
    summary: 'Get a transaction by its hash',
    description: 'The hash may be that of any signed version of the transaction, also of a replaced version.',
    answer: one('The transaction', ({ transaction }) => transaction),
    errors: OF_ONE,
    handle: ({ params }, { services }) => services.lifecycle.byHash(params.id, params.hash),
  }),
  operation({
    method: 'GET',
    path: '/api/v1/relayers/:id/transactions/:transactionId/timeline',
    permission: 'relayers:read',
    id: 'getTransactionTimeline',
    tag,
    summary: 'Get the timeline of a transaction',
    description:
      'Shows the events of the transaction, oldest first: its acceptance, later requests of clients and their ' +
      'refusals, each signed version, the endpoint that first took each version, the answers of nodes that did not ' +
      'take it, the decisions of the service with their reasons, the blocks that the transaction was in, and its ' +
      'end.',
    answer: one('At most 500 events: the first event and the latest 499', timelineSchema),
    errors: OF_ONE,
    handle: ({ params }, { services }) => services.lifecycle.timeline(params.id, params.transactionId),
  }),
];
