import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../domain/errors.ts';
import { moment } from '../../domain/wire-time.ts';

/**
 * Schemas of the answers. Answers are not validated when they are sent. A test checks real answers against these
 * schemas.
 */

/** A whole number of any size. */
export const amount = z.number().meta({ type: 'integer', description: 'Exact integer, also beyond 2^53' });
const logLevel = z.enum(['log', 'debug', 'info', 'warn', 'error', 'result']);

/** The envelope of a success. */
export function envelopeSchema(data: z.ZodType) {
  return z.object({ success: z.literal(true), data, error: z.null() });
}

/** The envelope of one page of a list. */
export function pageOf(items: z.ZodType) {
  return envelopeSchema(z.array(items)).extend({
    pagination: z.object({
      current_page: z.int().min(1).max(4_294_967_295),
      per_page: z.int().min(0).max(500),
      total_items: z.int().min(0),
    }),
  });
}

/** The envelope of one part of a list that only grows. */
export function partOf(items: z.ZodType) {
  return envelopeSchema(z.array(items)).extend({
    pagination: z.object({
      per_page: z.int().min(0).max(500),
      next_cursor: z.string().nullable().meta({
        description: 'Send it as `cursor` to get the next page; null at the end of the list',
      }),
    }),
  });
}

/** Why a relayer is disabled, with the given types of checks. */
export function disabledReasonAnswer(type: z.ZodType) {
  const cause = z.object({ type, details: z.string() });
  return z
    .union([
      cause.extend({ next_check_at: moment.optional() }),
      z.object({ type: z.literal('Multiple'), details: z.array(cause), next_check_at: moment.optional() }),
    ])
    .optional();
}

/** The envelope of a failure. */
export const failureSchema = z.object({
  success: z.literal(false),
  data: z.null(),
  error: z.string().meta({ description: 'Specific reason, for instance which field is wrong and why' }),
  message: z.string().meta({ description: 'Fixed text for this kind of failure' }),
  code: z
    .enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]])
    .meta({ description: 'Kind of failure, for programs; the meaning of a code never changes' }),
  retryable: z.boolean().meta({ description: 'Whether the same request may succeed later' }),
  disabled_reason: disabledReasonAnswer(z.string()).meta({
    description: 'Only with RELAYER_DISABLED: the results of the failed checks, and the time of the next check',
  }),
  after: z.int().optional().meta({ description: 'Seconds to wait; only with status 429' }),
});

const rpcOutcomeSchema = z.object({
  jsonrpc: z.literal('2.0'),
  result: z.unknown().optional(),
  error: z
    .object({
      code: z.int(),
      message: z.string(),
      description: z.string(),
      data: z.unknown().optional().meta({ description: 'Error data of the node, for instance revert data' }),
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
  .meta({ description: 'Present if the configuration of the plugin sets emit_logs, emit_traces or emit_usage' });

export const pluginResultSchema = envelopeSchema(
  z.unknown().meta({ description: 'Return value of the handler' }),
).extend({
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
