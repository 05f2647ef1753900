import { z } from 'zod';
import { amountSchema } from '../../domain/amount.ts';
import { type JsonObject, memoizePerObject } from '../../domain/json/json.ts';
import { amountOrNull } from '../policy-fields.ts';
import { normalAddress } from './address.ts';
import { rpcAccessList, storedAccessListSchema } from './form/access-list.ts';
import { rpcAuthorizationList, storedAuthorizationListSchema } from './form/authorization.ts';
import { toData, toQuantity } from './rpc-calls.ts';

export type RequestedPrice =
  | { kind: 'speed'; speed: Speed }
  | { kind: 'legacy'; gasPrice: bigint }
  | { kind: 'eip1559'; maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };

export const speedSchema = z.enum(['fastest', 'fast', 'average', 'safeLow']);

export type Speed = z.output<typeof speedSchema>;

const amount = amountSchema(256);

/** {@link import('../../features/transactions/records/transaction.ts').Transaction.request}. */
const storedRequestSchema = z.strictObject({
  to: z.string().nullable(),
  value: z.string().regex(/^0x[0-9a-f]{1,64}$/),
  data: z.string().nullable(),
  gas_limit: amount.nullable(),
  gas_price: amount.nullable(),
  max_fee_per_gas: amount.nullable(),
  max_priority_fee_per_gas: amount.nullable(),
  speed: speedSchema.nullable(),
  // Absent if not asked for, and in requests that were stored before these fields existed.
  access_list: storedAccessListSchema.exactOptional(),
  authorization_list: storedAuthorizationListSchema.exactOptional(),
  abi: z.array(z.string()).exactOptional(),
});

export type StoredEvmRequest = z.output<typeof storedRequestSchema>;

/** Reads a request back from the store. */
export const readStoredRequest = memoizePerObject((request: JsonObject) => {
  const stored = storedRequestSchema.parse(request);
  return {
    stored,
    /** As given; null creates a contract. */
    to: stored.to,
    value: BigInt(stored.value),
    /** As given. */
    data: stored.data,
    gasLimit: amountOrNull(stored.gas_limit),
    price: requestedPrice(stored),
    /** EIP-2930; empty when none was given. */
    accessList: stored.access_list ?? [],
    /** EIP-7702; empty when none was given. */
    authorizationList: stored.authorization_list ?? [],
    /** The errors of the called contract, as human-readable ABI entries; empty when none were given. */
    abi: stored.abi ?? [],
  };
});

/** A request, as {@link readStoredRequest} reads it back from a stored transaction. */
export type EvmRequest = Omit<ReturnType<typeof readStoredRequest>, 'stored'>;

/** A request in the form that `eth_call` and `eth_estimateGas` take, without fees and limit. */
export function callForEstimate(request: EvmRequest, from: string): JsonObject {
  const { to, value, data, accessList, authorizationList } = request;
  return {
    from,
    // The creation of a contract has no `to` at all: nodes refuse an empty one.
    ...(to === null ? {} : { to: normalAddress(to) }),
    value: toQuantity(value),
    ...(data === null ? {} : { data: toData(data) }),
    ...(accessList.length === 0 ? {} : { accessList: rpcAccessList(accessList) }),
    ...(authorizationList.length === 0 ? {} : { authorizationList: rpcAuthorizationList(authorizationList) }),
  };
}

function requestedPrice(stored: StoredEvmRequest): RequestedPrice {
  const gasPrice = amountOrNull(stored.gas_price);
  const maxFeePerGas = amountOrNull(stored.max_fee_per_gas);
  const maxPriorityFeePerGas = amountOrNull(stored.max_priority_fee_per_gas);
  if (gasPrice !== null) return { kind: 'legacy', gasPrice };
  if (maxFeePerGas !== null && maxPriorityFeePerGas !== null) {
    return { kind: 'eip1559', maxFeePerGas, maxPriorityFeePerGas };
  }
  return { kind: 'speed', speed: stored.speed ?? 'fast' };
}

const signatureSchema = z.strictObject({ r: z.string(), s: z.string(), v: z.int(), sig: z.string() });

export type EvmSignature = z.output<typeof signatureSchema>;

const receiptSchema = z.strictObject({
  block_number: amount,
  block_hash: z.string(),
  succeeded: z.boolean(),
  gas_used: amount.nullable(),
  effective_gas_price: amount.nullable(),
  /** The address of the contract that the transaction created. */
  contract_address: z.string().exactOptional(),
  // Only of a failed transaction, once its cause was asked for.
  revert_reason: z.string().exactOptional(),
  revert_data: z.string().exactOptional(),
});

/** {@link import('../../features/transactions/records/transaction.ts').Transaction.fields}. */
const fieldsSchema = z.strictObject({
  chain_id: amount,
  from: z.string(),
  gas_limit: amount,
  gas_price: amount.optional(),
  max_fee_per_gas: amount.optional(),
  max_priority_fee_per_gas: amount.optional(),
  /** The most that the transaction can cost beside gas and value: a rollup's data fee, in wei. */
  data_fee: amount.optional(),
  /** The transaction goes to relays only, from the block `from` on, and for `blocks` blocks if `after` is `public`. */
  private: z.strictObject({ from: amount, blocks: z.int(), after: z.enum(['wait', 'public']) }).exactOptional(),
  signature: signatureSchema.optional(),
  receipt: receiptSchema.optional(),
});

export type EvmFields = z.output<typeof fieldsSchema>;

/** What the chain decided about a transaction so far; undefined before it was prepared. */
export const readChainFields = memoizePerObject((fields: JsonObject): EvmFields | undefined =>
  Object.keys(fields).length === 0 ? undefined : fieldsSchema.parse(fields),
);

/** The form in which fields are stored. {@link readChainFields} reads it back without checking it. */
export function storedFields(fields: EvmFields): JsonObject {
  const stored = fields as JsonObject;
  readChainFields.know(stored, fields);
  return stored;
}
