import type { FastifyRequest } from 'fastify';
import type { Caller } from '../domain/caller.ts';
import { effectOf } from './idempotency.ts';

/** Who asks for a change, for its audit record. */
export function callerOf(request: FastifyRequest): Caller {
  return { keyId: request.keyId, requestId: request.id, effect: effectOf(request) };
}
