import { z } from 'zod';
import { AppError, invalidRequest } from '../../domain/errors.ts';
import { isObject } from '../../domain/json/json.ts';
import { strictForm } from '../../domain/json/unknown-field.ts';
import type { Timestamp } from '../../domain/transaction/transaction.ts';
import type { Account } from '../account.ts';
import type { ParsedRequest } from '../parsed-request.ts';
import { readForm } from '../request-form.ts';
import { readValidUntil } from '../valid-until.ts';
import { BASE_FEE } from './fees.ts';
import { memoSchema } from './form/memo.ts';
import { paymentSchema } from './form/operation.ts';
import { readPolicy } from './policy.ts';
import type { StellarRequest } from './schema.ts';

/** Of one transaction, by the protocol. */
const MOST_OPERATIONS = 100;

/** The form of a send request. */
export const requestSchema = strictForm({
  network: z.string().meta({ description: 'The relayer’s own counts' }),
  source_account: z.string().nullish().meta({ description: 'The relayer’s account; absent: the same' }),
  operations: z
    .array(paymentSchema)
    .min(1)
    .max(MOST_OPERATIONS, {
      error: ({ input }) =>
        `Transaction has ${(input as unknown[]).length} operations, but maximum allowed is ${MOST_OPERATIONS}`,
    })
    .meta({ description: 'All take effect, or none' }),
  memo: memoSchema.nullish(),
  valid_until: z.string().nullish().meta({
    description: 'Unix seconds or RFC 3339; what is in no ledger by then takes no effect any more. "0": no end',
  }),
  // Of forms that are not taken yet, for clients that send all keys.
  transaction_xdr: z.null().optional(),
  signed_auth_entry: z.null().optional(),
  fee_bump: z.literal(false).nullish(),
  max_fee: z.null().optional(),
});

/** Forms that are not taken yet. */
const NOT_YET = ['transaction_xdr', 'signed_auth_entry', 'fee_bump', 'max_fee'];
const OPERATIONS_NOT_YET: readonly unknown[] = ['invoke_contract', 'create_contract', 'upload_wasm'];

/** In the reference's words. */
const NOT_SPONSORED =
  'Gasless transactions (User fee payment strategy) are not supported via operations path. Please use fee bump(SignedXdr) path for gasless transactions.';

/**
 * Checks a send request.
 * @throws AppError `INVALID_REQUEST`; `NOT_AVAILABLE_YET` for forms that are not taken yet
 */
export function parseRequest(body: unknown, account: Account, now: Timestamp): ParsedRequest {
  assertAvailable(body);
  const { operations, memo, valid_until: until, source_account: source } = readForm(requestSchema, body);
  if (source != null && source !== account.address) {
    throw invalidRequest(`source_account ${source} is not the relayer's account ${account.address}`);
  }
  const { feePayer, maxFee } = readPolicy(account.policies);
  if (feePayer === 'user') throw invalidRequest(NOT_SPONSORED);
  if (BASE_FEE * BigInt(operations.length) > maxFee) throw invalidRequest(`Max fee exceeded: ${maxFee}`);
  const request: StellarRequest = { operations, ...(memo == null ? {} : { memo }) };
  return {
    request: JSON.parse(JSON.stringify(request)) as ParsedRequest['request'],
    validUntil: until == null ? null : endOf(until, now),
    anchorKind: 'sequence',
    onDeath: 'renew',
    contentKey: null,
  };
}

/** Null for what has no end. */
function endOf(text: string, now: Timestamp): Timestamp | null {
  if (!/^\d{1,12}$/.test(text)) return readValidUntil(text, now);
  const at = Number(text) * 1_000;
  if (at === 0) return null;
  if (at <= now) throw invalidRequest('The validUntil time cannot be in the past');
  return at;
}

function assertAvailable(body: unknown): void {
  if (!isObject(body)) return;
  const form = NOT_YET.find((name) => body[name] != null && body[name] !== false);
  const operations: unknown[] = Array.isArray(body['operations']) ? body['operations'] : [];
  const operation = operations.find((one) => isObject(one) && OPERATIONS_NOT_YET.includes(one['type']));
  if (form === undefined && operation === undefined) return;
  const what = form ?? `operations of type ${String((operation as { type: unknown }).type)}`;
  throw new AppError('NOT_AVAILABLE_YET', { what: `Sending ${what}`, networkType: 'stellar' });
}
