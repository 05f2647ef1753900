import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { invalidRequest } from '../domain/errors.ts';
import { idempotencyKeySchema, type KeyedEffect } from '../domain/idempotency.ts';
import { canonicalJson } from '../domain/json/json.ts';
import type { AnswerKeeping, IdempotencyKeys, KeyedRun } from './idempotency-keys.ts';
import { configOf } from './routing.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route runs a plugin. It may fail after an effect, and it takes idempotency keys with every method. */
    runsPlugin?: boolean;
    /** The answer contains a secret: it is sent once and never stored. */
    answersSecret?: boolean;
  }
  interface FastifyRequest {
    /** Set while the request runs under an idempotency key. */
    keyedRun: KeyedRun | null;
    /** The answer is not final: a retry may end differently. It is not stored. */
    isProvisional: boolean;
  }
}

const HEADER = 'idempotency-key';

/**
 * Refusals that are never stored. They ask for a retry, or a repeated plugin call did other things than its first run.
 */
const NEVER_KEPT: ReadonlySet<number> = new Set([408, 409, 429]);

/**
 * Honours `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header) on every request that may have an effect. A
 * request without the header costs one lookup of the header.
 *
 * Stores answers of success, and answers of plugins that refused after an effect. Any other answer frees the key for
 * the next try. The next try finds earlier effects by their names.
 * @param isDurable whether the calls of a plugin are durable
 */
export function honourIdempotencyKeys(
  app: FastifyInstance,
  keys: IdempotencyKeys,
  isDurable: (pluginId: string) => boolean = () => false,
): void {
  app.decorateRequest('keyedRun', null);
  app.decorateRequest('isProvisional', false);

  app.addHook('preHandler', (request, reply, done) => {
    // The key of a durable call is its name, so the call keeps it.
    const isNamed = configOf(request).runsPlugin === true && isDurable((request.params as { id: string }).id);
    if (request.headers[HEADER] === undefined || isNamed || !takesKey(request)) {
      done();
      return;
    }
    const goOn = (isAnswered: boolean): void => {
      if (!isAnswered) done();
    };
    begin(keys, request, reply).then(goOn, done);
  });

  app.addHook('onSend', (request, reply, payload, done) => {
    const { keyedRun: run } = request;
    if (run === null) {
      done(null, payload);
      return;
    }
    request.keyedRun = null;
    // Streams and bytes cannot be stored. An answer without a body is stored as an empty text.
    const sent = payload ?? '';
    const isSecret = configOf(request).answersSecret === true;
    const body = typeof sent === 'string' && !isSecret ? sent : null;
    const send = (): void => done(null, payload);
    keys.end(run, { status: reply.statusCode, body }, keepingOf(request, reply)).then(send, done);
  });
}

/** The one effect of a request other than a plugin call; undefined without an idempotency key. */
export function effectOf({ keyedRun }: FastifyRequest): KeyedEffect | undefined {
  if (keyedRun === null) return undefined;
  const { claim, request } = keyedRun;
  return { claim, payloadHash: request.fingerprint, occurrence: 0, isStep: false };
}

/**
 * Resolves to true when the request needs no handler, because it has been answered. A repeat gets the stored answer.
 */
async function begin(keys: IdempotencyKeys, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const keyed = {
    scope: request.keyId,
    key: idempotencyKeyOf(request.raw.rawHeaders),
    fingerprint: fingerprintOf(request),
  };
  const isOver = () => reply.sent || reply.raw.destroyed;
  const begun = await keys.begin(keyed, isOver);
  if (begun.kind === 'run') {
    // The request may have passed its deadline during the wait. Then it must not begin.
    if (!reply.sent) request.keyedRun = begun.run;
    else await keys.end(begun.run, { status: 0, body: '' }, 'never');
    return reply.sent;
  }
  if (reply.sent) return true;
  const { status, body } = begun.answer;
  reply.header('idempotency-replayed', 'true').code(status).type('application/json; charset=utf-8').send(body);
  return true;
}

function takesKey(request: FastifyRequest): boolean {
  const { method } = request;
  const config = configOf(request);
  if (config.runsPlugin === true) return true;
  return config.isPublic !== true && config.isRefusal !== true && method !== 'GET' && method !== 'HEAD';
}

function keepingOf(request: FastifyRequest, { statusCode }: FastifyReply): AnswerKeeping {
  if (request.isProvisional) return 'never';
  if (statusCode < 400) return 'always';
  const isRefusal = statusCode < 500 && !NEVER_KEPT.has(statusCode);
  return configOf(request).runsPlugin === true && isRefusal ? 'after-effects' : 'never';
}

/** Reads the raw headers, because Node joins repeated headers into one. */
export function idempotencyKeyOf(rawHeaders: readonly string[]): string {
  const values = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === HEADER);
  const [value] = values;
  if (values.length > 1) throw invalidRequest('Idempotency-Key: must be given once');
  const parsed = idempotencyKeySchema.safeParse(value);
  if (!parsed.success) throw invalidRequest(`Idempotency-Key: ${parsed.error.issues[0]?.message ?? 'not understood'}`);
  return parsed.data;
}

/** Returns a hash of the method, URL and body. Different requests have different fingerprints. */
export function fingerprintOf({ method, url, body }: Pick<FastifyRequest, 'method' | 'url' | 'body'>): string {
  return hash('sha256', `${method} ${url}\n${body === undefined ? '' : canonicalJson(body)}`);
}
