import type { IncomingMessage } from 'node:http';

const SHORT_PRINTABLE = /^[\x21-\x7e]{1,128}$/;

/** The caller's `x-request-id` where it is short printable ASCII, so that it can go into logs, else a fresh one. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>, newId: () => string): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SHORT_PRINTABLE.test(given) ? given : newId();
}
