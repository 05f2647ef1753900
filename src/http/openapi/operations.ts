import { z } from 'zod';
import type { ErrorCode } from '../../domain/errors.ts';
import { relayerUpdateSchema } from '../../services/settings/relayer-update.ts';
import {
  envelope,
  failureSchema,
  notificationSchema,
  pageOf,
  pluginFailureSchema,
  readinessSchema,
} from './answers.ts';
import { apiKeyOperations, apiKeySchema } from './api-key-operations.ts';
import { auditOperations, auditRecordSchema } from './audit-operations.ts';
import { batchOperations } from './batch-operations.ts';
import { eventOperations } from './event-operations.ts';
import { lifecycleOperations, timelineEventSchema, timelineSchema } from './lifecycle-operations.ts';
import { networkOperations, networkSchema } from './network-operations.ts';
import { deliverySchema, notificationOperations, wholeDeliverySchema } from './notification-operations.ts';
import { ACTING, BODY, type ChainBodies, found, OF_RELAYER, type Operation } from './operation.ts';
import { pluginCalls, pluginSchema, pluginViews } from './plugin-operations.ts';
import { signerOperations, signerSchema } from './signer-operations.ts';
import { signingOperations } from './signing-operations.ts';

const READ: readonly ErrorCode[] = ['INVALID_REQUEST'];
const ON_NETWORK: readonly ErrorCode[] = ['RELAYER_NOT_FOUND', 'PROVIDER_FAILED', 'NOT_AVAILABLE_YET'];

const KEYED: readonly ErrorCode[] = [
  'INVALID_REQUEST',
  'IDEMPOTENCY_MISMATCH',
  'IDEMPOTENCY_RUNNING',
  'ANSWER_NOT_KEPT',
];

const TEXT = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * All operations, by the method and path of their routes. A test checks that each route has an operation, and each
 * operation a route.
 */
export function operations(chains: ChainBodies): Readonly<Record<string, Operation>> {
  const call = pluginCalls();
  const all: Record<string, Operation> = {
    ...Object.fromEntries(Object.entries(call).map(([route, one]) => [route.replace(' ', ' /api/v1'), one])),
    ...Object.fromEntries(
      Object.entries(call).map(([route, one]) => [route, { ...one, id: `${one.id}WithoutPrefix`, isAlias: true }]),
    ),
    ...pluginViews,
    ...relayerOperations(chains),
    ...transactionOperations(chains),
    ...batchOperations(chains),
    ...lifecycleOperations(chains),
    ...signingOperations(chains),
    ...notificationOperations,
    ...signerOperations(chains),
    ...networkOperations(chains),
    ...apiKeyOperations,
    ...auditOperations,
    ...eventOperations,
    ...serviceOperations,
  };
  return Object.fromEntries(Object.entries(all).map(([route, one]) => [route, mayAct(route) ? withKey(one) : one]));
}

function mayAct(route: string): boolean {
  return route.includes('/plugins/:id/call') || !route.startsWith('GET ');
}

/** Adds an idempotency key to an operation, and the errors that come with it. */
function withKey(operation: Operation): Operation {
  return { ...operation, takesKey: true, errors: [...new Set([...operation.errors, ...KEYED])] };
}

function relayerOperations({ policies, answers, relayer }: ChainBodies): Record<string, Operation> {
  const tag = 'Relayers';
  return {
    'GET /api/v1/relayers': {
      id: 'listRelayers',
      tag,
      summary: 'List relayers',
      answer: found('Relayers, newest first', pageOf(answers.relayer)),
      errors: READ,
    },
    'POST /api/v1/relayers': {
      id: 'createRelayer',
      tag,
      summary: 'Create a relayer',
      description:
        'The relayer uses the account of its signer. A signer can have only one relayer on each network. The service ' +
        'checks the relayer at once, and it works as soon as the checks have passed. The request also needs the ' +
        'permissions `signers:write` and `networks:read`, and with a notification `notifications:read`.',
      body: { ...relayer, required: true },
      answer: { status: 201, description: 'The created relayer', schema: envelope(answers.relayer) },
      errors: [
        ...BODY,
        'SIGNER_NOT_FOUND',
        'NOTIFICATION_NOT_FOUND',
        'RELAYER_EXISTS',
        'RELAYER_ID_KEPT',
        'SIGNER_FAILED',
        'SIGNER_UNUSABLE',
      ],
    },
    'DELETE /api/v1/relayers/:id': {
      id: 'deleteRelayer',
      tag,
      summary: 'Delete a relayer that has no transactions under way',
      description: 'A relayer that the configuration declares is back after the next start.',
      answer: found('Deleted', envelope(z.string())),
      errors: [...OF_RELAYER, 'RELAYER_BUSY'],
    },
    'GET /api/v1/relayers/:id': {
      id: 'getRelayer',
      tag,
      summary: 'Get a relayer',
      answer: found('The relayer', envelope(answers.relayer)),
      errors: OF_RELAYER,
    },
    'PATCH /api/v1/relayers/:id': {
      id: 'updateRelayer',
      tag,
      summary: 'Update a relayer',
      description:
        'Absent fields do not change. Null removes a field, but a `name` of null does not change the name. Null ' +
        'inside `policies` unsets that policy. Policies are checked against the network type of the relayer. Naming ' +
        'a notification needs the permission `notifications:read`.',
      body: {
        schema: relayerUpdateSchema.extend({ policies: policies.schema.nullish() }),
        required: true,
        example: { paused: false, policies: policies.example },
      },
      answer: found('The relayer after the change', envelope(answers.relayer)),
      errors: [...BODY, ...OF_RELAYER, 'NOTIFICATION_NOT_FOUND'],
    },
    'GET /api/v1/relayers/:id/status': {
      id: 'getRelayerStatus',
      tag,
      summary: 'Get the status of a relayer',
      answer: found('Current status, read from the network', envelope(answers.status)),
      errors: ON_NETWORK,
    },
    'GET /api/v1/relayers/:id/balance': {
      id: 'getRelayerBalance',
      tag,
      summary: 'Get the balance of a relayer',
      answer: found('Current balance, read from the network', envelope(answers.balance)),
      errors: ON_NETWORK,
    },
  };
}

function transactionOperations({ request, transaction }: ChainBodies): Record<string, Operation> {
  const tag = 'Transactions';
  return {
    'POST /api/v1/relayers/:id/transactions': {
      id: 'sendTransaction',
      tag,
      summary: 'Send a transaction',
      description: 'An accepted transaction is stored before the response, and takes effect on chain at most once.',
      body: { ...request, required: true },
      answer: found('The accepted transaction; its status shows its progress', envelope(transaction)),
      errors: [...BODY, ...OF_RELAYER, ...ACTING, 'TRANSACTION_EXISTS', 'NOT_AVAILABLE_YET'],
    },
    'GET /api/v1/relayers/:id/transactions': {
      id: 'listTransactions',
      tag,
      summary: 'List the transactions of a relayer',
      description: 'Above 10,000, `total_items` may count transactions that were deleted within the last minute.',
      answer: found('Transactions, newest first', pageOf(transaction)),
      errors: [...READ, ...OF_RELAYER],
    },
    'GET /api/v1/relayers/:id/transactions/:transactionId': {
      id: 'getTransaction',
      tag,
      summary: 'Get a transaction',
      answer: found('The transaction', envelope(transaction)),
      errors: [...OF_RELAYER, 'TRANSACTION_NOT_FOUND'],
    },
  };
}

const serviceOperations: Record<string, Operation> = {
  'GET /api/v1/health': {
    id: 'health',
    tag: 'Operations',
    summary: 'Check that the process responds (liveness)',
    answer: found('The process responds', z.literal('OK')),
    errors: [],
  },
  'GET /api/v1/ready': {
    id: 'ready',
    tag: 'Operations',
    summary: 'Check that the service takes requests (readiness)',
    description:
      'Without a key, the components have a status and nothing else. A key that sees all relayers and plugins also gets their figures and errors.',
    answer: found('The service is ready, perhaps degraded', readinessSchema),
    errors: [],
    otherFailures: { 503: { description: 'Not ready, or shutting down', schema: readinessSchema, name: 'Readiness' } },
  },
  'GET /api/v1/metrics': {
    id: 'listMetrics',
    tag: 'Operations',
    summary: 'List the names of all metrics',
    answer: found('Array of names, without the usual envelope', z.array(z.string())),
    errors: [],
  },
  'GET /api/v1/metrics/:name': {
    id: 'getMetric',
    tag: 'Operations',
    summary: 'Get a metric',
    answer: { ...found('The metric, in the text format of Prometheus', z.string()), contentType: TEXT },
    errors: ['METRIC_NOT_FOUND'],
  },
  'GET /api/v1/debug/metrics/scrape': {
    id: 'scrapeMetrics',
    tag: 'Operations',
    summary: 'Get all metrics (also at /metrics on the metrics port, without an API key)',
    answer: { ...found('All metrics, in the text format of Prometheus', z.string()), contentType: TEXT },
    errors: [],
  },
  'GET /api-docs/openapi.json': {
    id: 'openApi',
    tag: 'Operations',
    summary: 'Get this API description for programs',
    answer: found('OpenAPI 3.1 document', z.looseObject({ openapi: z.literal('3.1.1') })),
    errors: [],
  },
};

/** The schemas that the description shows under names of their own. */
export const NAMED_ANSWERS = {
  Plugin: pluginSchema,
  Timeline: timelineSchema,
  TimelineEvent: timelineEventSchema,
  Notification: notificationSchema,
  Delivery: deliverySchema,
  WholeDelivery: wholeDeliverySchema,
  Signer: signerSchema,
  Network: networkSchema,
  ApiKey: apiKeySchema,
  AuditRecord: auditRecordSchema,
  Failure: failureSchema,
  PluginFailure: pluginFailureSchema,
  Readiness: readinessSchema,
} as const;
