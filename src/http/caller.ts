import type { FastifyRequest } from 'fastify';
import { Access } from '../domain/settings/access.ts';
import type { Actor, Caller } from '../domain/settings/caller.ts';
import { effectOf } from './idempotency.ts';

/** What the key of a request may do. */
export function accessOf({ identity }: FastifyRequest): Access {
  return identity?.access ?? NO_ACCESS;
}

const NO_ACCESS = new Access([]);

/** Who asks for a transaction, for its audit record. */
export function actorOf(request: FastifyRequest): Actor {
  return { keyId: request.keyId, requestId: request.id };
}

/** Who asks for a change, for its audit record. */
export function callerOf(request: FastifyRequest): Caller {
  return { keyId: request.keyId, requestId: request.id, access: accessOf(request), effect: effectOf(request) };
}
