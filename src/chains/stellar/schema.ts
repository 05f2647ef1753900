import { z } from 'zod';
import { amountSchema, type JsonAmount } from '../../domain/amount.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import type { Network } from '../../domain/network.ts';
import { memoSchema } from './form/memo.ts';
import { paymentSchema } from './form/operation.ts';

/**
 * The fields of a Stellar network entry, after inheritance, beside `type`, `network`, `from` and `rpc_urls`. The
 * passphrase may be absent: the endpoints know it.
 */
const settingsSchema = z.strictObject({
  passphrase: z.string().min(1).optional().describe('Absent: asked for'),
  horizon_url: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .optional()
    .describe('Of its Horizon'),
  average_blocktime_ms: z.int().min(1).max(86_400_000).default(5_000).describe('From one block to the next'),
  is_testnet: z.boolean().optional().describe('Shown, and nothing else'),
  tags: z.array(z.string()).optional().describe('Kept, and used by nothing'),
  explorer_urls: z.array(z.url()).optional().describe('Kept, and used by nothing'),
});

/** {@link settingsSchema} as the chain interface offers it; what is absent stays absent. */
export const networkSchema: z.ZodType<JsonObject> = settingsSchema.transform(
  (settings): JsonObject => JSON.parse(JSON.stringify(settings)) as JsonObject,
);

/** The passphrase that the network declares; null where it is asked for. */
export function declaredPassphrase({ settings }: Network): string | null {
  return settingsSchema.parse(settings).passphrase ?? null;
}

const amount: z.ZodType<JsonAmount> = amountSchema(64);

/** What takes a sequence and does nothing else; no client asks for it. */
const bumpSchema = z.strictObject({ type: z.literal('bump_sequence'), bump_to: amount });

const operationSchema = z.discriminatedUnion('type', [paymentSchema, bumpSchema]);

export type StellarOperation = z.output<typeof operationSchema>;

/** {@link import('../../domain/transaction/transaction.ts').Transaction.request} */
const requestSchema = z.strictObject({
  operations: z.array(operationSchema),
  memo: memoSchema.exactOptional(),
});

export type StellarRequest = z.output<typeof requestSchema>;

/** Reads a request back from the store. */
export function readRequest(request: JsonObject): StellarRequest {
  return requestSchema.parse(request);
}

const receiptSchema = z.strictObject({
  ledger: amount,
  succeeded: z.boolean(),
  /** What the chain took, in stroops; absent where the result could not be read. */
  fee: amount.exactOptional(),
  reason: z.string().exactOptional(),
});

export type StellarReceipt = z.output<typeof receiptSchema>;

const fieldsSchema = z.strictObject({
  passphrase: z.string(),
  source: z.string(),
  /** What is bid for the whole transaction, in stroops. */
  fee: amount,
  /** Unix seconds: no ledger that closes later takes it. */
  max_time: amount,
  /** The newest ledger when it was prepared: it is in none of those. */
  ledger: amount,
  /** Once it is signed. */
  sequence: amount.exactOptional(),
  receipt: receiptSchema.exactOptional(),
});

/** What the chain decided for a transaction: {@link import('../../domain/transaction/attempt.ts').Attempt.fields}. */
export type StellarFields = z.output<typeof fieldsSchema>;

/** Undefined before a transaction is prepared. */
export function readFields(fields: JsonObject): StellarFields | undefined {
  return fields['max_time'] === undefined ? undefined : fieldsSchema.parse(fields);
}
