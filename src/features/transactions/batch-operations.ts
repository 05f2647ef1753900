import { z } from 'zod';
import { AppError } from '../../domain/errors.ts';
import { idempotencyKeySchema, type KeyedEffect } from '../../domain/idempotency.ts';
import type { WireObject, WireValue } from '../../domain/json/json.ts';
import { parseWrittenJson, writeJson } from '../../domain/json/json-text.ts';
import { failure, success } from '../../http/envelope.ts';
import { toAppError } from '../../http/errors.ts';
import { fingerprintOf } from '../../http/idempotency-hook.ts';
import type { IdempotencyKeys } from '../../http/idempotency-keys.ts';
import { envelopeSchema, failureSchema } from '../../http/openapi/answers.ts';
import { BODY, one, operation } from '../../http/operation.ts';
import type { Access } from '../api-keys/records/access.ts';
import type { Actor } from '../api-keys/records/caller.ts';
import { withNearRelayer } from '../relayers/relayers.ts';
import { parseBody } from '../request-body.ts';
import type { RelayersService, TransactionsService } from '../services.ts';

/**
 * The most requests in a batch. Accepting one request can take a few seconds, and the batch is answered when all are
 * done.
 */
const MAX_REQUESTS = 100;

const requestSchema = z.strictObject({
  relayer_id: z.string().meta({ description: 'Id of the relayer that sends the transaction' }),
  idempotency_key: idempotencyKeySchema.optional().meta({
    description: 'Works like the `Idempotency-Key` header of a single request: a repeat gets the outcome of the first',
  }),
  transaction: z.unknown().meta({ description: 'Body of `POST /api/v1/relayers/{id}/transactions`' }),
});

/** The body of a batch. */
export const batchSchema = z.strictObject({
  requests: z.array(requestSchema).min(1, 'must not be empty').max(MAX_REQUESTS, `must be at most ${MAX_REQUESTS}`),
});

export type BatchRequest = z.output<typeof requestSchema>;

/** The outcome of one request: the status and body of its answer, as if it were sent by itself. */
interface BatchOutcome {
  answer: WireObject & { status: number };
  /** A retry may end differently. */
  isProvisional: boolean;
}

export interface BatchParts {
  transactions: Pick<TransactionsService, 'send'>;
  relayers: Pick<RelayersService, 'list'>;
  keys: Pick<IdempotencyKeys, 'begin' | 'end'>;
  /** The sender of the batch. */
  caller: Actor & { access: Access };
  /** The effect of the batch when it has an idempotency key of its own. */
  effect: KeyedEffect | undefined;
  /** Whether the client has disconnected. */
  isGone: () => boolean;
  /** Called for internal errors, which no caller caused. */
  onFault: (error: AppError) => void;
}

/** Sends all requests. The requests of one relayer are sent one after the other, in their order. Never rejects. */
export async function sendBatch(requests: readonly BatchRequest[], parts: BatchParts): Promise<BatchOutcome[]> {
  const outcomes: BatchOutcome[] = [];
  const ofRelayers = Map.groupBy(requests.entries(), ([, { relayer_id }]) => relayer_id);
  await Promise.all(
    [...ofRelayers.values()].map(async (some) => {
      for (const [index, request] of some) outcomes[index] = await outcomeOf(request, index, parts);
    }),
  );
  return outcomes;
}

async function outcomeOf(request: BatchRequest, index: number, parts: BatchParts): Promise<BatchOutcome> {
  try {
    assertPermitted(request.relayer_id, parts.caller.access);
    const { idempotency_key: key } = request;
    const body = key === undefined ? await sendOnce(request, index, parts) : await sendKeyed(request, key, parts);
    return { answer: { status: 200, ...body }, isProvisional: false };
  } catch (thrown) {
    const known = await withNearRelayer(thrown, parts.relayers, parts.caller.access);
    const error = toAppError(known, { contentType: undefined, bodyLimit: 0 });
    if (error.status === 500) parts.onFault(error);
    const isProvisional = error.retryable || error.status >= 500;
    return { answer: { status: error.status, ...(failure(error) as unknown as WireObject) }, isProvisional };
  }
}

/** Refuses like the routes that have the relayer in the path. */
function assertPermitted(id: string, access: Access): void {
  if (!access.sees('relayers', id)) throw new AppError('RELAYER_NOT_FOUND', { id });
  if (!access.may({ resource: 'relayers', action: 'send' }, id)) {
    throw new AppError('NOT_PERMITTED', { deed: 'send', resource: `relayers:${id}` });
  }
}

async function sendOnce(
  { relayer_id: id, transaction }: BatchRequest,
  index: number,
  { transactions, caller, effect }: BatchParts,
): Promise<WireObject> {
  // The index names the effect, so a repeat of the batch finds the transactions that this run sent.
  const own = effect === undefined ? undefined : { ...effect, occurrence: index };
  return answerOf(await transactions.send(id, transaction, { effect: own, actor: actorOf(caller) }));
}

/** Sends under the same idempotency key as a single request would. A repeat outside of a batch finds it. */
async function sendKeyed(
  { relayer_id: id, transaction }: BatchRequest,
  key: string,
  { transactions, keys, caller, isGone }: BatchParts,
): Promise<WireObject> {
  const url = `/api/v1/relayers/${encodeURIComponent(id)}/transactions`;
  const fingerprint = fingerprintOf({ method: 'POST', url, body: transaction });
  const begun = await keys.begin({ scope: caller.keyId, key, fingerprint }, isGone);
  if (begun.kind === 'answered') return { ...(parseWrittenJson(begun.answer.body) as WireObject), replayed: true };
  const { run } = begun;
  try {
    const effect = { claim: run.claim, payloadHash: fingerprint, occurrence: 0, isStep: false };
    const answer = answerOf(await transactions.send(id, transaction, { effect, actor: actorOf(caller) }));
    await keys.end(run, { status: 200, body: writeJson(answer) }, 'always');
    return answer;
  } catch (error) {
    await keys.end(run, { status: 0, body: '' }, 'never');
    throw error;
  }
}

function actorOf({ keyId, requestId }: Actor): Actor {
  return { keyId, requestId };
}

function answerOf(view: WireValue): WireObject {
  return success(view) as unknown as WireObject;
}

/** The outcome of a request that was accepted. */
function sentSchema(transaction: z.ZodType) {
  return envelopeSchema(transaction).extend({
    status: z.literal(200),
    replayed: z
      .literal(true)
      .optional()
      .meta({ description: 'True if this is the response to an earlier request with the same key, absent otherwise' }),
  });
}

const refusedSchema = failureSchema.extend({
  status: z.int().meta({ description: 'HTTP status that the same request would get by itself' }),
});

/** Several transactions in one request, each with its own outcome. */
export const batchOperations = [
  operation({
    method: 'POST',
    path: '/api/v1/transactions/batch',
    permission: 'relayers:send',
    isList: true,
    id: 'sendTransactions',
    tag: 'Transactions',
    summary: 'Send several transactions',
    description:
      'Takes at most 100 transactions, each with its own outcome. Transactions of one relayer are accepted in the ' +
      'given order; a refused transaction does not stop the others. Each may have an `idempotency_key`, which ' +
      'works like the `Idempotency-Key` header of a single request. With an `Idempotency-Key` header the whole ' +
      'batch is safe to repeat; a repeat tries refused transactions again if they may succeed later. Each ' +
      'transaction counts as one request against the rate limit of the API key. If there is no room for all of ' +
      'them, none is sent (429).',
    body: ({ request }) => ({
      schema: batchSchema,
      example: {
        requests: [{ relayer_id: 'sepolia-1', idempotency_key: 'order-1042', transaction: request.example }],
      },
    }),
    answer: one('One outcome for each request, in the same order', ({ transaction }) =>
      z.array(z.union([sentSchema(transaction), refusedSchema])),
    ),
    errors: BODY,
    async handle(call, { services: { relayers, transactions }, idempotencyKeys: keys, log }) {
      const { body, caller, effect, request, reply } = call;
      const { requests } = parseBody(batchSchema, body);
      await request.server.countAs(requests.length, request, reply);
      const { keyId, requestId } = caller;
      const outcomes = await sendBatch(requests, {
        transactions,
        relayers,
        keys,
        caller,
        effect,
        isGone: () => reply.raw.destroyed,
        onFault: (error) => log.error({ requestId, keyId, err: error }, 'a request of a batch failed'),
      });
      // If a retry may end differently, the answer is not stored under the batch's own key, so that a repeat tries again.
      request.isProvisional = outcomes.some(({ isProvisional }) => isProvisional);
      return outcomes.map(({ answer }) => answer);
    },
  }),
];
