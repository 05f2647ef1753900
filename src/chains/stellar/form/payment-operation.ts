import { StrKey } from '@stellar/stellar-sdk/base';
import { z } from 'zod';
import { amountOf, amountUpTo } from '../../../domain/amount.ts';
import { strictForm } from '../../../domain/json/issue-text.ts';
import { isAccount } from '../address.ts';

/** The highest amount of any asset. */
const MAX = 2n ** 63n - 1n;

const issuer = z.string().refine(isAccount, 'expected an account (G…)').meta({
  description: 'Account that issues the asset',
});

/** An asset's code in its shortest form. In a form of another length it names another asset, or none. */
function code(least: number, most: number) {
  const digits = new RegExp(`^[a-zA-Z0-9]{${least},${most}}$`);
  return z.string().regex(digits, `expected ${least} to ${most} letters and digits`);
}

const asset = z.discriminatedUnion('type', [
  strictForm({ type: z.literal('native') }),
  strictForm({ type: z.literal('credit4'), code: code(1, 4), issuer }),
  strictForm({ type: z.literal('credit12'), code: code(5, 12), issuer }),
]);

/** A payment as clients write it. */
export const paymentSchema = strictForm({
  type: z.literal('payment'),
  destination: z
    .string()
    .refine((text) => isAccount(text) || StrKey.isValidMed25519PublicKey(text), 'expected an account (G… or M…)')
    .meta({ description: 'Account that is paid; it must exist' }),
  amount: amountUpTo(MAX)
    .refine((amount) => amountOf(amount) > 0n, 'expected more than 0')
    .meta({ description: 'Amount in the smallest unit of the asset' }),
  asset: asset.meta({ description: 'Asset to pay' }),
});

export type WirePayment = z.output<typeof paymentSchema>;
export type WireAsset = WirePayment['asset'];
