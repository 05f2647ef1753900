import { z } from 'zod';
import { AppError, invalidRequest } from '../../../domain/errors.ts';
import { strictForm } from '../../../domain/json/issue-text.ts';
import type { Json } from '../../../domain/json/json.ts';
import { readForm } from '../../request-form.ts';

const MAX = (1n << 64n) - 1n;

/**
 * An integer of 64 bits. The JSON reader gives integers above 2^53 as text. A text with a smaller number was a text in
 * the request, and is refused.
 */
const amount = z
  .union([z.number(), z.string()])
  .transform((value) => (isWhole(value) ? BigInt(value) : undefined))
  .refine((value) => value !== undefined && value <= MAX, 'expected an integer of 64 bits')
  .transform((value) => value ?? 0n)
  .meta({ type: 'integer', minimum: 0, description: 'Amount in the smallest unit of the token' });

function isWhole(value: number | string): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0;
  return /^\d{16,20}$/.test(value) && BigInt(value) > Number.MAX_SAFE_INTEGER;
}

const transaction = z.string().meta({ description: 'Transaction in base64' });
const token = z.string().meta({ description: 'Mint of the token; the address of the System program stands for SOL' });
const wallet = z.string().meta({ description: 'Address of the wallet, not of its token account' });

/** The parameters of the gasless methods, and the bodies of the sponsored endpoints. */
export const sponsoredSchema = strictForm({ transaction, fee_token: token });
export const transferSchema = strictForm({ amount, token, source: wallet, destination: wallet });
export const signedSchema = strictForm({ transaction });
export const nothingSchema = strictForm({});

/**
 * Reads a method's parameters.
 * @throws AppError `INVALID_REQUEST`
 */
export function readParams<S extends z.ZodType>(schema: S, params: Json): z.output<S> {
  try {
    return readForm(schema, params);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw invalidRequest(`Invalid Solana RPC request: ${error.message}`, error);
  }
}
