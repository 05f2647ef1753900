import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { AppError, invalidRequest } from '../domain/errors.ts';
import { JsonTextError } from '../domain/json/json-text.ts';

/** Seconds after which a refused caller may come back, where nobody knows better. */
const RETRY_AFTER_SECONDS = 1;

/** What the translation of the framework's errors needs to know of the request. */
export interface ErrorContext {
  contentType: string | undefined;
  bodyLimit: number;
}

/**
 * Translates whatever was thrown while a request was handled into a row of the error table. What has no row is
 * `INTERNAL`, with the thing itself as its cause: it is for the log and never for the answer.
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

/** The `retry-after` of an answer: only overload and closing ask the caller to wait. */
export function retryAfterOf(error: AppError): number | undefined {
  if (error.retryAfterSeconds !== undefined) return error.retryAfterSeconds;
  return error.status === 429 || error.status === 503 ? RETRY_AFTER_SECONDS : undefined;
}

const CHALLENGE = 'Bearer realm="Isolayer"';

/** The `www-authenticate` of a 401 (RFC 6750, section 3): with an advice to who sent something that is not accepted. */
export function challengeOf(authorization: string | undefined): string {
  if (authorization === undefined) return CHALLENGE;
  const advice = /^Bearer [^\s]+$/.test(authorization)
    ? 'The key is not known, has ended or was revoked'
    : 'Send the API key as: Authorization: Bearer <API key>';
  return `${CHALLENGE}, error="invalid_token", error_description="${advice}"`;
}

/** zod's provider writes the place as a JSON pointer. */
function nameOf(instancePath: string): string {
  return instancePath.replace(/^\//, '').replaceAll('/', '.') || 'request';
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
}
