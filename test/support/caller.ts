import type { Effect } from '../../src/domain/idempotency.ts';
import type { Caller } from '../../src/domain/settings/caller.ts';

/** Who changes settings in tests. */
export const OPERATOR: Caller = { keyId: 'operator', requestId: 'request-1' };

/** The same under an idempotency key. */
export function operatorOnce(effect: Effect): Caller {
  return { ...OPERATOR, effect };
}
