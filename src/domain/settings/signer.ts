import type { JsonObject } from '../json/json.ts';

/**
 * A signer that a client made. Its configuration is no part of it, so that no view, log line or error can carry a
 * secret: only the store's `signerConfig` gives it.
 */
export interface StoredSigner {
  id: string;
  /** The name of its kind. */
  type: string;
  /** Of this making of it: another one with the same id may have another key. */
  stamp: string;
  /** The part of its configuration that answers show. */
  shown: JsonObject;
}
