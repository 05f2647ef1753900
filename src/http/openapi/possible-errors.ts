import type { ErrorCode } from '../../domain/errors.ts';
import { needOf } from '../access/needs.ts';
import { BODY, type Operation } from './operation.ts';

/** Errors of the service itself, which every operation can have, also the public ones. */
const ANY: readonly ErrorCode[] = ['TOO_MANY_REQUESTS', 'INTERNAL', 'UNAVAILABLE', 'HANDLER_TIMEOUT'];

/** Returns the errors that an operation can have, by the method and path of its route. */
export function possibleErrors({ errors }: Pick<Operation, 'errors'>, method: string, url: string): ErrorCode[] {
  const need = needOf(method, url);
  const codes: ErrorCode[] = [...errors];
  // Routes without a body have these errors too: the service reads a body before it refuses it.
  if (method !== 'GET') codes.push(...BODY);
  if (need !== undefined) codes.push('UNAUTHORIZED');
  if (need != null) codes.push('NOT_PERMITTED');
  if (need !== undefined) codes.push('ORIGIN_NOT_ALLOWED');
  if (need != null && need.isList !== true && !namesOne(need.resource, url)) codes.push('ROUTE_NOT_FOUND');
  return [...new Set([...codes, ...ANY])];
}

/**
 * Whether access is decided for one relayer or plugin. Of any other kind, a key sees all resources or none. If it sees
 * none, the paths of that kind do not exist for it.
 */
function namesOne(resource: string, url: string): boolean {
  return (resource === 'relayers' || resource === 'plugins') && url.includes('/:id');
}
