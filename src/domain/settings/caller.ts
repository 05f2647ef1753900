import type { Effect } from '../idempotency.ts';
import type { Access } from './access.ts';

/** Who asks for something that is audited. */
export interface Actor {
  /** The id of the API key. */
  keyId: string;
  /** Of the request that asks, as the log names it. */
  requestId: string;
  /** The plugin that asks, when the request called one. */
  pluginId?: string | undefined;
}

/** Who asks for a change of settings. */
export interface Caller extends Actor {
  /** What exists for the key, and what it may do; absent for one that may do all. */
  access?: Pick<Access, 'sees' | 'may'> | undefined;
  /** What happens once, when the request has an idempotency key. */
  effect?: Effect | undefined;
}
