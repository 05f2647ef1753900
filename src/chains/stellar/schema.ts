import { z } from 'zod';
import { amountOf, amountSchema, type JsonAmount } from '../../domain/amount.ts';
import { type JsonObject, memoizePerObject } from '../../domain/json/json.ts';
import type { Anchor } from '../../features/transactions/records/anchor.ts';
import { clientOperations, memoSchema } from './form/operation.ts';

const amount: z.ZodType<JsonAmount> = amountSchema(64);

/** An operation that takes a sequence and does nothing else; no client asks for it. */
const bumpSchema = z.strictObject({ type: z.literal('bump_sequence'), bump_to: amount });

/** An operation that restores archived entries; no client asks for it. */
const restoreSchema = z.strictObject({ type: z.literal('restore_footprint'), data: z.string() });

const operationSchema = z.discriminatedUnion('type', [...clientOperations, bumpSchema, restoreSchema]);

export type StellarOperation = z.output<typeof operationSchema>;

const operationsSchema = z.strictObject({
  operations: z.array(operationSchema),
  memo: memoSchema.exactOptional(),
});

/** An envelope of the relayer's account that nobody has signed. */
const unsignedSchema = z.strictObject({ transaction: z.string() });

/**
 * An envelope of another account that its signers have signed, and what its fee bump bids, in stroops. `own` is the
 * relayer's account where operations of the envelope act on it, with the relayer's own signature.
 */
const feeBumpSchema = z.strictObject({ inner: z.string(), max_fee: amount, own: z.string().exactOptional() });

/** An envelope of the relayer's account that calls a fee forwarder, and the consent that its user has signed. */
const forwardSchema = z.strictObject({ forward: z.string(), consent: z.string() });

/** A swap of an asset for lumens. Amount and price are found when it is signed. No client asks for it. */
const swapSchema = z.strictObject({ swap: z.strictObject({ asset: z.string() }) });

/** {@link import('../../features/transactions/records/transaction.ts').Transaction.request} */
const requestSchema = z.union([operationsSchema, unsignedSchema, feeBumpSchema, forwardSchema, swapSchema]);

export type StellarRequest = z.output<typeof requestSchema>;
export type FeeBumpRequest = z.output<typeof feeBumpSchema>;
export type ForwardRequest = z.output<typeof forwardSchema>;

export type SwapRequest = z.output<typeof swapSchema>;

/** A request that takes a sequence of the relayer's account, and that says itself what it does. */
export type OwnRequest = Exclude<StellarRequest, FeeBumpRequest | SwapRequest>;

/** Reads a request back from the store. */
export const readStoredRequest = memoizePerObject(
  (request: JsonObject): StellarRequest => requestSchema.parse(request),
);

const receiptSchema = z.strictObject({
  ledger: amount,
  succeeded: z.boolean(),
  /** What the chain took, in stroops; absent where the result could not be read. */
  fee: amount.exactOptional(),
  reason: z.string().exactOptional(),
  /** The hash of the client's transaction, where another envelope than ours landed. */
  hash: z.string().exactOptional(),
  /** What a contract's function gave back, in base64. */
  returned: z.string().exactOptional(),
});

export type StellarReceipt = z.output<typeof receiptSchema>;

/** The client's transaction within a fee bump. */
const innerSchema = z.strictObject({
  /** Hexadecimal. */
  hash: z.string(),
  source: z.string(),
  sequence: amount,
});

const contractFieldsSchema = z.strictObject({
  /** SorobanTransactionData, in base64. */
  data: z.string(),
  /** Each a SorobanAuthorizationEntry, in base64. */
  consents: z.array(z.string()),
  /** The last ledger that may take the transaction: one of the consents is valid up to it. */
  last_ledger: amount.exactOptional(),
});

/** What a simulation found for an operation of contracts. */
export type ContractFields = z.output<typeof contractFieldsSchema>;

/** How a swap was decided. */
const swapFieldsSchema = z.strictObject({
  /** The operation of the swap, in base64. */
  operation: z.string(),
  /** In the asset's smallest unit. */
  given: amount,
  /** In stroops: the price that was found, and the least that the swap may bring. */
  promised: amount,
  least: amount,
});

const fieldsSchema = z.strictObject({
  passphrase: z.string(),
  /** Who signs and pays. */
  source: z.string(),
  /** What is bid for the whole transaction, in stroops. */
  fee: amount,
  /** Unix seconds: no ledger that closes later takes it. 0: it has no end. */
  max_time: amount,
  /** The newest ledger when the transaction was prepared. The transaction is in no ledger up to this one. */
  ledger: amount,
  contract: contractFieldsSchema.exactOptional(),
  swap: swapFieldsSchema.exactOptional(),
  /** Set once it is signed. */
  sequence: amount.exactOptional(),
  inner: innerSchema.exactOptional(),
  receipt: receiptSchema.exactOptional(),
});

/** What the chain decided for a transaction: {@link import('../../features/transactions/records/attempt.ts').Attempt.fields}. */
export type StellarFields = z.output<typeof fieldsSchema>;

/** Whose sequence an attempt uses, and which. */
export function sequenceUsed({ source, inner }: StellarFields, anchor: Anchor): { source: string; sequence: bigint } {
  if (inner !== undefined) return { source: inner.source, sequence: amountOf(inner.sequence) };
  if (anchor.kind !== 'sequence') throw new TypeError(`an own transaction has a sequence, not ${anchor.kind}`);
  return { source, sequence: anchor.sequence };
}

/** Undefined before a transaction is prepared. */
export const readChainFields = memoizePerObject((fields: JsonObject): StellarFields | undefined =>
  fields['max_time'] === undefined ? undefined : fieldsSchema.parse(fields),
);
