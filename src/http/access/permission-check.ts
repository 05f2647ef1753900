import type { FastifyRequest } from 'fastify';
import { AppError } from '../../domain/errors.ts';
import type { Access } from '../../features/api-keys/records/access.ts';
import { configOf } from '../routing.ts';

/**
 * Returns the error when the key may not make this request; undefined when it may. A resource that the key has no
 * access to is answered as if it did not exist.
 */
export function permissionRefusal(request: FastifyRequest, access: Access): AppError | undefined {
  const { requiredPermission: need } = configOf(request);
  if (need === undefined) return undefined;
  const { id } = request.params as { id?: string };
  const { resource, action } = need;
  const isOne = id !== undefined && (resource === 'relayers' || resource === 'plugins');
  // A list is never refused: without access it is empty.
  if (need.isList === true || access.may(need, isOne ? id : undefined)) return undefined;
  if (!access.sees(resource, isOne ? id : undefined)) return notThere(request, isOne ? resource : undefined, id ?? '');
  return new AppError('NOT_PERMITTED', { deed: action, resource: isOne ? `${resource}:${id}` : resource });
}

function notThere(request: FastifyRequest, resource: 'relayers' | 'plugins' | undefined, id: string): AppError {
  if (resource === 'relayers') return new AppError('RELAYER_NOT_FOUND', { id });
  if (resource === 'plugins') return new AppError('PLUGIN_NOT_FOUND', { id });
  return new AppError('ROUTE_NOT_FOUND', { method: request.method, path: request.url.split('?', 1)[0] ?? '' });
}
