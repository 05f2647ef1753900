import { type FieldsOf, jsonObject, record, text } from '../record.ts';

const columns = {
  id: text,
  /** The name of its kind. */
  type: text,
  /** Identifies this creation of the signer: a later one with the same id may have another key. */
  stamp: text,
  /** The part of the configuration that answers show. */
  shown: jsonObject,
};

export const signerRecord = record('signers', columns, { secrets: ['config'] });

/**
 * A signer that a client made. Its configuration is not part of it, so that no view, log line or error can contain a
 * secret. Only the store's `signerConfig` gives the configuration.
 */
export interface StoredSigner extends FieldsOf<typeof columns> {}
