import type { KeyedEffect } from '../../../domain/idempotency.ts';
import type { Access } from './access.ts';

/** Who asks for something that is audited. */
export interface Actor {
  /** The id of the API key. */
  keyId: string;
  /** The id of the request that asks, as the log names it. */
  requestId: string;
  /** The plugin that asks, when the request called one. */
  pluginId?: string | undefined;
  /** How many triggers led to the plugin's call; absent: none. */
  depth?: number | undefined;
  /** From when on the plugin's durable call may have been made, in milliseconds. */
  since?: number | undefined;
}

/** Who asks for a change of settings. */
export interface Caller extends Actor {
  /** What exists for the key and what it may do; absent for a key that may do all. */
  access?: Pick<Access, 'sees' | 'may' | 'lacks'> | undefined;
  /** The effect that happens once; present when the request has an idempotency key. */
  effect?: KeyedEffect | undefined;
}
