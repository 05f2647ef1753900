import {
  defineRecord,
  type FieldsOf,
  jsonObjectColumn,
  sealedColumn,
  textColumn,
  timestampColumn,
} from '../../domain/record.ts';

const columns = {
  id: textColumn,
  /** The name of its kind. */
  type: textColumn,
  /** Identifies this creation of the signer: a later one with the same id may have another key. */
  stamp: textColumn,
  /** The part of the configuration that answers show. */
  shown: jsonObjectColumn,
};

export const signerRecord = defineRecord('signers', columns, {
  beside: { createdAt: timestampColumn, config: sealedColumn(textColumn) },
});

/**
 * A signer that a client made. Its configuration is not part of it, so that no view, log line or error can contain a
 * secret. Only the store's `signerConfig` gives the configuration.
 */
export interface StoredSigner extends FieldsOf<typeof columns> {}
