import type { Effect } from '../idempotency.ts';

/** Who asks for a change of settings. */
export interface Caller {
  /** The id of the API key. */
  keyId: string;
  /** Of the request that asks, as the log names it. */
  requestId: string;
  /** What happens once, when the request has an idempotency key. */
  effect?: Effect | undefined;
}
