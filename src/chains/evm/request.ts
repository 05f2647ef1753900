import { z } from 'zod';
import { amountSchema } from '../../domain/amount.ts';
import { invalidRequest } from '../../domain/errors.ts';
import type { Timestamp } from '../../domain/transaction.ts';
import type { Account, ParsedRequest } from '../chain.ts';
import { isAddress, normalAddress } from './address.ts';
import { type EvmPolicy, readPolicy } from './policy.ts';
import { type StoredRequest, speedSchema } from './schema.ts';

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

const valueSchema = z
  .union([z.number(), z.string()], 'expected an integer, a decimal string or a 0x string')
  .transform((value, context): string => {
    const amount = readValue(value);
    if (amount !== undefined && amount >= 0n && amount < 1n << 256n) return `0x${amount.toString(16)}`;
    context.addIssue({ code: 'custom', message: 'expected a non-negative integer of at most 256 bits' });
    return z.NEVER;
  });

/** Empty strings stand for absent ones; unknown keys are ignored, as the reference does. */
const optionalText = z
  .string()
  .nullish()
  .transform((text) => text ?? null);

const price = amountSchema(128).nullish().transform(orNull);

/** The form of a send request; what must hold between its fields is checked by {@link parseRequest}. */
export const requestSchema = z.object(
  {
    to: optionalText
      .transform((to) => (to === '' ? null : to))
      .refine((to) => to === null || isAddress(to), 'expected an address of 20 bytes in hexadecimal'),
    value: valueSchema,
    data: optionalText.refine(
      (data) => data === null || /^(0x)?([0-9a-fA-F]{2})*$/.test(data),
      'expected an even number of hexadecimal digits',
    ),
    gas_limit: amountSchema(64).nullish().transform(orNull),
    gas_price: price,
    max_fee_per_gas: price,
    max_priority_fee_per_gas: price,
    speed: speedSchema.nullish().transform(orNull),
    valid_until: z.string().nullish().transform(orNull),
  },
  'expected a JSON object',
);

type Body = z.output<typeof requestSchema>;

/**
 * Checks a send request in the order of the reference, the first failure wins; what does not even have the form of a
 * request fails before everything else.
 * @throws AppError `INVALID_REQUEST`
 */
export function parseRequest(body: unknown, account: Account, now: Timestamp): ParsedRequest {
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) throw invalidRequest(formFailure(parsed.error, body));
  const { valid_until, ...request } = parsed.data;
  const policy = readPolicy(account.policies);

  checkReceiver(request.to, policy, account.address);
  if (request.to === null && request.data === null) {
    throw invalidRequest('Both txs `to` and `data` fields are missing. At least one of them has to be set.');
  }
  checkGasLimit(parsed.data, policy);
  const validUntil = valid_until === null ? null : readValidUntil(valid_until, now);
  checkPrice(parsed.data, policy);
  return { request: request satisfies StoredRequest, validUntil };
}

function formFailure(error: z.ZodError, body: unknown): string {
  const [issue] = error.issues;
  const path = issue?.path.join('.') ?? '';
  const isObject = typeof body === 'object' && body !== null;
  if (path !== '' && isObject && !(path in body)) return `missing field \`${path}\``;
  return path === '' ? (issue?.message ?? 'expected a JSON object') : `invalid \`${path}\`: ${issue?.message}`;
}

function checkReceiver(to: string | null, policy: EvmPolicy, ownAddress: string): void {
  if (policy.whitelist === null) return;
  const receiver = to === null ? '' : normalAddress(to);
  const allowed = [...policy.whitelist, ZERO_ADDRESS, normalAddress(ownAddress)];
  if (!allowed.includes(receiver)) throw invalidRequest('Transaction target address is not whitelisted');
}

function checkGasLimit({ to, data, gas_limit: gasLimit }: Body, policy: EvmPolicy): void {
  if (gasLimit === null) {
    if (policy.estimatesGas) return;
    throw invalidRequest('gas_limit is required when gas_limit_estimation policy is disabled');
  }
  const intrinsic = intrinsicGas(to, data);
  if (BigInt(gasLimit) < intrinsic) {
    throw invalidRequest(`gas_limit is too low, intrinsic gas is ${intrinsic} and gas_limit is ${gasLimit}`);
  }
}

/** Gas that a transaction uses before its first instruction (Yellow Paper appendix G, EIP-2028). */
function intrinsicGas(to: string | null, data: string | null): bigint {
  const bytes = Buffer.from((data ?? '').replace(/^0x/, ''), 'hex');
  const zeros = bytes.reduce((count, byte) => count + (byte === 0 ? 1 : 0), 0);
  return BigInt((to === null ? 53_000 : 21_000) + 4 * zeros + 16 * (bytes.length - zeros));
}

function readValidUntil(text: string, now: Timestamp): Timestamp {
  const isRfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(text);
  const at = isRfc3339 ? Date.parse(text.toUpperCase().replace(' ', 'T')) : Number.NaN;
  if (Number.isNaN(at)) throw invalidRequest('Invalid validUntil datetime format');
  if (at <= now) throw invalidRequest('The validUntil time cannot be in the past');
  return at;
}

function checkPrice(body: Body, policy: EvmPolicy): void {
  const { gas_price: gasPrice, max_fee_per_gas: maxFee, max_priority_fee_per_gas: priorityFee, speed } = body;
  const kinds = [gasPrice !== null, maxFee !== null || priorityFee !== null, speed !== null].filter(Boolean).length;
  if (kinds === 0) throw invalidRequest('Transaction must specify either gasPrice, speed, or EIP1559 parameters');
  if (kinds > 1) {
    throw invalidRequest('Cannot mix different transaction types. Use either gasPrice, speed, or EIP1559 parameters');
  }
  if ((maxFee === null) !== (priorityFee === null)) {
    throw invalidRequest('EIP1559 transactions require both maxFeePerGas and maxPriorityFeePerGas');
  }
  if (maxFee !== null && priorityFee !== null && BigInt(maxFee) < BigInt(priorityFee)) {
    throw invalidRequest('maxFeePerGas must be greater than or equal to maxPriorityFeePerGas');
  }
  if (gasPrice !== null && policy.gasPriceCap !== null && BigInt(gasPrice) > policy.gasPriceCap) {
    throw invalidRequest('Gas price is too high');
  }
}

/** Decimal, `0x`, `0o` and `0b` strings; an empty one is zero. A number beyond 2^53 has lost digits already. */
function readValue(value: number | string): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (!/^(\d{0,78}|0x[0-9a-fA-F]{1,64}|0o[0-7]{1,86}|0b[01]{1,256})$/.test(value)) return undefined;
  return BigInt(value);
}

function orNull<T>(value: T | null | undefined): T | null {
  return value ?? null;
}
