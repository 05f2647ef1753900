import type { FastifyRequest } from 'fastify';
import { Access } from '../domain/settings/access.ts';
import type { Actor, Caller } from '../domain/settings/caller.ts';
import { effectOf } from './idempotency.ts';

/** Returns the access of the request's key. */
export function accessOf({ identity }: FastifyRequest): Access {
  return identity?.access ?? NO_ACCESS;
}

const NO_ACCESS = new Access([]);

/** The caller of a transaction, for its audit record. */
export function actorOf(request: FastifyRequest): Actor {
  return { keyId: request.keyId, requestId: request.id };
}

/** Whether the caller may send through a relayer. */
export function maySend(request: FastifyRequest, relayerId: string): boolean {
  return accessOf(request).may({ resource: 'relayers', deed: 'send' }, relayerId);
}

/** The caller of a change, for its audit record. */
export function callerOf(request: FastifyRequest): Caller {
  return { keyId: request.keyId, requestId: request.id, access: accessOf(request), effect: effectOf(request) };
}
