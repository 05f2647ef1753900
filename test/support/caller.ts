import type { KeyedEffect } from '../../src/domain/idempotency.ts';
import type { Caller } from '../../src/features/api-keys/records/caller.ts';

/** The caller that changes settings in tests. */
export const OPERATOR: Caller = { keyId: 'operator', requestId: 'request-1' };

/** The same caller, with an idempotency key. */
export function operatorOnce(effect: KeyedEffect): Caller {
  return { ...OPERATOR, effect };
}
