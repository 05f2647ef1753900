import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { AppError, type ErrorCode, invalidRequest } from '../domain/errors.ts';
import { JsonTextError } from '../domain/json/json-text.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import { endpointOf } from './admission.ts';
import { awaitsContinue } from './connections.ts';
import { ANSWER_HEADERS, failure } from './envelope.ts';

/** The `retry-after` in seconds for errors that do not set their own. */
const RETRY_AFTER_SECONDS = 1;

/** The facts about the request that {@link toAppError} needs. */
export interface ErrorContext {
  contentType: string | undefined;
  bodyLimit: number;
}

/**
 * Translates an error from the handling of a request into a row of the error table. An error without a row becomes
 * `INTERNAL`. Its cause is the original error, which is logged and never sent.
 */
export function toAppError(thrown: unknown, context: ErrorContext): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof JsonTextError) return invalidRequest(`Invalid JSON: ${thrown.message}`, thrown);
  if (hasZodFastifySchemaValidationErrors(thrown)) {
    const reasons = thrown.validation.map(({ instancePath, message }) => `${nameOf(instancePath)}: ${message}`);
    return invalidRequest(reasons.join('; '), thrown);
  }
  switch (codeOf(thrown)) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new AppError('PAYLOAD_TOO_LARGE', { limit: String(context.bodyLimit) }, { cause: thrown });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new AppError('UNSUPPORTED_MEDIA_TYPE', { type: context.contentType ?? 'a body without a content type' });
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'ECONNRESET':
      return invalidRequest('The body ended before its announced length', thrown);
    case 'FST_ERR_BAD_URL':
      return invalidRequest('The path is not valid percent-encoding', thrown);
    default:
      return new AppError('INTERNAL', {}, { cause: thrown });
  }
}

/** Returns the `retry-after` of an answer. By default only 429 and 503 have one. */
function retryAfterOf(error: AppError): number | undefined {
  if (error.retryAfterSeconds !== undefined) return error.retryAfterSeconds;
  return error.status === 429 || error.status === 503 ? RETRY_AFTER_SECONDS : undefined;
}

const CHALLENGE = 'Bearer realm="Isolayer"';

/**
 * Returns the `www-authenticate` of a 401 (RFC 6750, section 3). If the request had an `authorization` header, the
 * value says what is wrong with it.
 */
function challengeOf(authorization: string | undefined): string {
  if (authorization === undefined) return CHALLENGE;
  const advice = /^Bearer [^\s]+$/.test(authorization)
    ? 'The API key is not known, has expired or was revoked'
    : 'Send the API key as: Authorization: Bearer <API key>';
  return `${CHALLENGE}, error="invalid_token", error_description="${advice}"`;
}

/** The path comes from zod's provider as a JSON pointer. */
function nameOf(instancePath: string): string {
  return instancePath.replace(/^\//, '').replaceAll('/', '.') || 'request';
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
}

/** Refusals because of the caller's key. They are logged at `info`, so that an operator sees them. */
const OF_KEYS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'UNAUTHORIZED',
  'NOT_PERMITTED',
  'PERMISSION_NOT_HELD',
  'ORIGIN_NOT_ALLOWED',
]);

/** Answers a request that failed, logs it and counts it. */
export function answerFailure(
  { log, metrics }: { log: Log; metrics: Metrics },
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const error = toAppError(thrown, {
    contentType: request.headers['content-type'],
    bodyLimit: request.routeOptions.bodyLimit,
  });
  const { id: requestId, method, keyId } = request;
  if (error.code === 'HANDLER_TIMEOUT') {
    metrics.count('http_request_timeouts', { endpoint: endpointOf(request), method, timeout_type: 'handler' });
  }
  if (error.status === 500) {
    log.error({ requestId, keyId, method, route: request.routeOptions.url, err: error }, 'request failed');
  } else {
    const level = OF_KEYS.has(error.code) ? 'info' : 'debug';
    log[level]({ requestId, keyId, method, route: request.routeOptions.url, code: error.code }, 'request refused');
  }
  // Sets the headers here too, for requests that failed before the first hook, such as a path that cannot be decoded.
  reply.headers({ ...ANSWER_HEADERS, 'x-request-id': requestId });
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  if (error.code === 'UNAUTHORIZED') reply.header('www-authenticate', challengeOf(request.headers.authorization));
  // The caller may now send its body or not, so what follows on the connection cannot be read.
  if (awaitsContinue(request)) return reply.header('connection', 'close').code(error.status).send(failure(error));
  // Keeps the connection open after a refused body. Fastify would close it, and a caller that is still sending would
  // see a reset instead of the answer. Node discards the rest of the body within the time limit for a request to
  // arrive.
  reply.removeHeader('connection');
  return reply.code(error.status).send(failure(error));
}
