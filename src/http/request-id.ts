import type { IncomingMessage } from 'node:http';

const SHORT_PRINTABLE = /^[\x21-\x7e]{1,128}$/;

/**
 * Returns the caller's `x-request-id` if it is short printable ASCII and so can be logged. Otherwise returns a new id.
 */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>, newId: () => string): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SHORT_PRINTABLE.test(given) ? given : newId();
}
