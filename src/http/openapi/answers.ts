import { z } from 'zod';
import { networkTypeSchema } from '../../domain/network-type.ts';
import { transactionStatusSchema } from '../../domain/transaction-state.ts';

/** The shapes of answers. Nothing is validated by them on the way out: a test holds real answers against them. */

const moment = z.string().meta({ description: 'RFC 3339', examples: ['2026-11-21T11:31:18.123456+00:00'] });
const amount = z.number().meta({ type: 'integer', description: 'Has all its digits, also beyond 2^53' });
const logLevel = z.enum(['log', 'debug', 'info', 'warn', 'error', 'result']);

/** The envelope of a success. */
export function envelope(data: z.ZodType) {
  return z.object({ success: z.literal(true), data, error: z.null() });
}

/** The envelope of one page of a list. */
export function pageOf(items: z.ZodType) {
  return envelope(z.array(items)).extend({
    pagination: z.object({
      current_page: z.int().min(1).max(4_294_967_295),
      per_page: z.int().min(0).max(500),
      total_items: z.int().min(0),
    }),
  });
}

/** The envelope of a failure. */
export const failureSchema = z.object({
  success: z.literal(false),
  data: z.null(),
  error: z.string().meta({ description: 'The specific reason: which field, why' }),
  message: z.string().meta({ description: 'The fixed text of the kind of failure' }),
  code: z.int().optional().meta({ description: 'With 429 only: the status' }),
  after: z.int().optional().meta({ description: 'With 429 only: seconds to wait' }),
});

const disabledType = z.enum(['NonceSyncFailed', 'RpcValidationFailed', 'BalanceCheckFailed', 'SequenceSyncFailed']);
const disabledReason = z.object({ type: disabledType, details: z.string() });

export const relayerSchema = z.object({
  id: z.string(),
  name: z.string(),
  network: z.string(),
  network_type: networkTypeSchema,
  paused: z.boolean().meta({ description: 'Set by clients' }),
  policies: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'Those that are set, and the defaults of the network type' }),
  signer_id: z.string(),
  notification_id: z.string().optional(),
  custom_rpc_urls: z
    .array(z.object({ url: z.string(), weight: z.int().min(0).max(100) }))
    .optional()
    .meta({ description: 'Hidden beyond the host, since paths hold keys' }),
  address: z.string(),
  system_disabled: z.boolean().meta({ description: 'Set by the service while its checks fail' }),
  disabled_reason: z
    .union([
      disabledReason.extend({ next_check_at: moment.optional() }),
      z.object({
        type: z.literal('Multiple'),
        details: z.array(disabledReason),
        next_check_at: moment.optional(),
      }),
    ])
    .optional()
    .meta({ description: 'What its checks have seen, and when they look again' }),
});

const unavailable = z
  .record(z.string(), z.string())
  .optional()
  .meta({ description: 'Why what is null is so, by its key' });

export const relayerStatusSchema = z.object({
  network_type: networkTypeSchema,
  balance: z.string().nullable().meta({ description: 'In the smallest unit; null while no endpoint tells it' }),
  pending_transactions_count: z.int().min(0),
  last_confirmed_transaction_timestamp: moment.nullable(),
  system_disabled: z.boolean(),
  paused: z.boolean(),
  nonce: z.string().nullable().optional().meta({ description: 'EVM; null while nobody tells it' }),
  sequence_number: z.string().nullable().optional().meta({ description: 'Stellar' }),
  unavailable,
});

export const balanceSchema = z.object({
  balance: amount.nullable(),
  unit: z.enum(['wei', 'lamport', 'stroop']),
  unavailable,
});

export const notificationSchema = z.object({
  id: z.string(),
  type: z.literal('webhook'),
  url: z.string(),
  has_signing_key: z.boolean().meta({ description: 'The key itself is never returned' }),
});

const decimal = z.string().nullable().meta({ description: 'Decimal digits' });

/** A signature of an EVM account, without `0x`. */
export const evmSignatureSchema = z.object({
  r: z.string(),
  s: z.string(),
  v: z.int(),
  sig: z.string().meta({ description: 'The other three in one' }),
});

const accessListSchema = z.array(z.object({ address: z.string(), storage_keys: z.array(z.string()) }));

const authorizationListSchema = z.array(
  z.object({
    chain_id: z.union([z.int(), z.string()]),
    address: z.string(),
    nonce: z.union([z.int(), z.string()]),
    y_parity: z.int(),
    r: z.string(),
    s: z.string(),
  }),
);

const evmTransactionSchema = z.object({
  id: z.string(),
  hash: z.string().nullable(),
  status: transactionStatusSchema,
  status_reason: z.string().nullable(),
  created_at: moment,
  sent_at: moment.nullable(),
  confirmed_at: moment.nullable(),
  gas_price: decimal,
  gas_limit: amount.nullable(),
  nonce: amount.nullable(),
  value: z.string().meta({ description: 'In wei, 0x and hexadecimal' }),
  from: z.string(),
  to: z.string().nullable(),
  relayer_id: z.string(),
  data: z.string().nullable(),
  max_fee_per_gas: decimal,
  max_priority_fee_per_gas: decimal,
  signature: evmSignatureSchema.nullable(),
  speed: z.enum(['fastest', 'fast', 'average', 'safeLow']).nullable(),
  is_canceled: z.boolean().nullable(),
  contract_address: z.string().nullable().optional().meta({
    description: 'Where a contract is made: its address, null before there is a nonce and where none was made',
  }),
  access_list: accessListSchema.optional().meta({ description: 'Where one was given' }),
  authorization_list: authorizationListSchema.optional().meta({ description: 'Where one was given' }),
});

/** Of every network type; the further keys are the type's own. */
export const transactionSchema = z.union([
  evmTransactionSchema,
  z.looseObject({ id: z.string(), status: transactionStatusSchema, status_reason: z.string().nullable() }),
]);

/** What a family answers that signs a transaction without sending it. */
export const signedTransactionSchema = z.union([
  z.object({
    hash: z.string(),
    transaction: z.string().meta({ description: 'The signed bytes, 0x and hexadecimal' }),
    signature: evmSignatureSchema,
    chain_id: amount,
    nonce: amount,
    from: z.string(),
    to: z.string().nullable(),
    value: z.string().meta({ description: 'In wei, 0x and hexadecimal' }),
    data: z.string().nullable(),
    gas_limit: amount,
    gas_price: decimal,
    max_fee_per_gas: decimal,
    max_priority_fee_per_gas: decimal,
  }),
  z.looseObject({ signature: z.string() }),
]);

const rpcOutcomeSchema = z.object({
  jsonrpc: z.literal('2.0'),
  result: z.unknown().optional(),
  error: z
    .object({
      code: z.int(),
      message: z.string(),
      description: z.string(),
      data: z.unknown().optional().meta({ description: 'Of the node, for instance what a call reverted with' }),
    })
    .optional(),
  id: z.union([z.string(), z.number()]).optional(),
});

export const rpcAnswerSchema = z.union([rpcOutcomeSchema, z.array(rpcOutcomeSchema)]);

const metadata = z
  .object({
    logs: z.array(z.object({ level: logLevel, message: z.string() })).optional(),
    traces: z
      .array(
        z.object({
          method: z.string(),
          relayerId: z.string(),
          requestId: z.string(),
          payload: z.unknown(),
          durationMs: z.number(),
          outcome: z.enum(['ok', 'error', 'refused', 'running']),
        }),
      )
      .optional(),
    usage: z
      .object({
        cpu_ms: z.number(),
        calls: z.int(),
        heap_bytes: z.int(),
        bytes_in: z.int(),
        bytes_out: z.int(),
        duration_ms: z.int(),
      })
      .optional(),
  })
  .optional()
  .meta({ description: 'With emit_logs, emit_traces or emit_usage in the entry of the plugin' });

export const pluginResultSchema = envelope(z.unknown().meta({ description: 'What the handler returned' })).extend({
  metadata,
});

export const pluginFailureSchema = z.object({
  success: z.literal(false),
  data: z.object({ code: z.string(), details: z.unknown() }),
  error: z.string(),
  metadata,
});

const health = z.enum(['healthy', 'degraded', 'unhealthy']);

export const readinessSchema = z.object({
  ready: z.boolean(),
  status: health,
  reason: z.string().optional(),
  components: z.record(z.string(), z.looseObject({ status: health, error: z.string().optional() })),
  timestamp: z.string(),
});
