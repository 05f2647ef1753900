import type { JsonObject } from '../json/json.ts';

/**
 * A signer that a client made. Its configuration is not part of it, so that no view, log line or error can contain a
 * secret. Only the store's `signerConfig` gives the configuration.
 */
export interface StoredSigner {
  id: string;
  /** The name of its kind. */
  type: string;
  /** Identifies this creation of the signer: a later one with the same id may have another key. */
  stamp: string;
  /** The part of the configuration that answers show. */
  shown: JsonObject;
}
