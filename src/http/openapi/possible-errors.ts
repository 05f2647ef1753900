import type { ErrorCode } from '../../domain/errors.ts';
import { needOf } from '../access/needs.ts';
import { BODY, type Operation } from './operation.ts';

/** Failures of the service itself that any operation may end with; the public ones need no key. */
const ANY: readonly ErrorCode[] = ['TOO_MANY_REQUESTS', 'INTERNAL', 'UNAVAILABLE', 'HANDLER_TIMEOUT'];

/** The rows of the error table that an operation may end with, by its method and path as the routes have them. */
export function possibleErrors({ errors }: Pick<Operation, 'errors'>, method: string, url: string): ErrorCode[] {
  const need = needOf(method, url);
  const codes: ErrorCode[] = [...errors];
  // Also where none is taken: what a client sends is read before it is refused.
  if (method !== 'GET') codes.push(...BODY);
  if (need !== undefined) codes.push('UNAUTHORIZED');
  if (need != null) codes.push('NOT_PERMITTED');
  if (need !== undefined) codes.push('ORIGIN_NOT_ALLOWED');
  if (need != null && need.isList !== true && !namesOne(need.resource, url)) codes.push('ROUTE_NOT_FOUND');
  return [...new Set([...codes, ...ANY])];
}

/** Of other kinds a key sees all or none: their paths are not there for a key that sees none. */
function namesOne(resource: string, url: string): boolean {
  return (resource === 'relayers' || resource === 'plugins') && url.includes('/:id');
}
