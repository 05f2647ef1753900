import { StrKey } from '@stellar/stellar-sdk/base';
import { z } from 'zod';
import { amountOf, amountSchema, amountUpTo } from '../../../domain/amount.ts';
import { strictObjectSchema } from '../../../domain/json/issue-text.ts';
import { isAccountAddress } from '../address.ts';
import { MAX_OPERATIONS } from '../message/transaction-envelope.ts';
import { createContractSchema, invokeContractSchema, uploadWasmSchema } from './contract.ts';

const hash = z
  .string()
  .regex(/^[0-9a-fA-F]{64}$/, 'expected 64 hexadecimal digits')
  .meta({ description: '32 bytes in hexadecimal' });

/** The longest text that the protocol takes, in bytes. */
const MAX_TEXT = 28;

/** A memo as clients write it. */
export const memoSchema = z.discriminatedUnion('type', [
  strictObjectSchema({ type: z.literal('none') }),
  strictObjectSchema({
    type: z.literal('text'),
    value: z.string().refine((text) => Buffer.byteLength(text) <= MAX_TEXT, `expected at most ${MAX_TEXT} bytes`),
  }),
  strictObjectSchema({ type: z.literal('id'), value: amountSchema(64) }),
  strictObjectSchema({ type: z.literal('hash'), value: hash }),
  strictObjectSchema({ type: z.literal('return'), value: hash }),
]);

export type WireMemo = z.output<typeof memoSchema>;

/** The highest amount of any asset. */
const MAX = 2n ** 63n - 1n;

const issuer = z.string().refine(isAccountAddress, 'expected an account (G…)').meta({
  description: 'Account that issues the asset',
});

/** An asset's code in its shortest form. In a form of another length it names another asset, or none. */
function code(least: number, most: number) {
  const digits = new RegExp(`^[a-zA-Z0-9]{${least},${most}}$`);
  return z.string().regex(digits, `expected ${least} to ${most} letters and digits`);
}

const asset = z.discriminatedUnion('type', [
  strictObjectSchema({ type: z.literal('native') }),
  strictObjectSchema({ type: z.literal('credit4'), code: code(1, 4), issuer }),
  strictObjectSchema({ type: z.literal('credit12'), code: code(5, 12), issuer }),
]);

/** A payment as clients write it. */
export const paymentSchema = strictObjectSchema({
  type: z.literal('payment'),
  destination: z
    .string()
    .refine((text) => isAccountAddress(text) || StrKey.isValidMed25519PublicKey(text), 'expected an account (G… or M…)')
    .meta({ description: 'Account that is paid; it must exist' }),
  amount: amountUpTo(MAX)
    .refine((amount) => amountOf(amount) > 0n, 'expected more than 0')
    .meta({ description: 'Amount in the smallest unit of the asset' }),
  asset: asset.meta({ description: 'Asset to pay' }),
});

export type WirePayment = z.output<typeof paymentSchema>;

export type WireAsset = WirePayment['asset'];

/** The operations that clients can ask for. */
export const clientOperations = [paymentSchema, invokeContractSchema, createContractSchema, uploadWasmSchema] as const;

/**
 * The operations of a request. By the protocol an operation of a contract comes alone. Faults are in the reference's
 * words.
 */
export const operationsSchema = z
  .array(z.discriminatedUnion('type', clientOperations))
  .max(MAX_OPERATIONS, {
    error: ({ input }) =>
      `Transaction has ${(input as unknown[]).length} operations, but maximum allowed is ${MAX_OPERATIONS}`,
  })
  .superRefine((operations, context) => {
    const contracts = operations.filter(isContractOperation).length;
    if (contracts > 1) {
      context.addIssue({ code: 'custom', message: 'Transaction can contain at most one Soroban operation' });
    } else if (contracts === 1 && operations.length > 1) {
      const message = 'Soroban operations must be exclusive - no other operations allowed in the same transaction';
      context.addIssue({ code: 'custom', message });
    }
  })
  .meta({ description: 'Operations, which all take effect or none; a contract operation must be the only one' });

/** Whether an operation is one of contracts. */
export function isContractOperation({ type }: { type: string }): boolean {
  return type !== 'payment';
}
