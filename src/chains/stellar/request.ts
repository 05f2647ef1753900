import { z } from 'zod';
import { invalidRequest } from '../../domain/errors.ts';
import { strictObjectSchema } from '../../domain/json/issue-text.ts';
import type { Timestamp } from '../../features/transactions/records/transaction.ts';
import type { ParsedRequest, RelayerAccount } from '../chain-client.ts';
import { parseRequestForm, readValidUntil, validUntilPastError } from '../request-form.ts';
import { DEFAULT_MAX_FEE_BID, MAX_FEE, policyFault, readPolicy } from './configuration/policy.ts';
import { BASE_FEE } from './fees.ts';
import { parseEnvelope, parseUnsignedEnvelope, xdrFault } from './form/envelope.ts';
import { parseFeeBump } from './form/fee-bump.ts';
import { parseForward } from './form/forward.ts';
import { isContractOperation, memoSchema, operationsSchema } from './form/operation.ts';
import { ownFundsFault } from './guard/accounts.ts';
import { draftTransaction } from './message/draft.ts';
import { accountOfAddress } from './message/transaction-envelope.ts';
import type { StellarRequest } from './schema.ts';

const NO_FEE = 'max_fee must be greater than 0 for signed XDR';

/** The form of a send request. */
export const sendRequestSchema = strictObjectSchema({
  network: z.string().meta({ description: 'Ignored: the relayer’s own network is used' }),
  source_account: z.string().nullish().meta({
    description: 'Expected source account (G… or M…); any other is refused',
  }),
  operations: operationsSchema.nullish(),
  memo: memoSchema.nullish().meta({ description: 'Memo of the transaction; only with `operations`' }),
  valid_until: z.string().nullish().meta({
    description: 'Latest time to get into a ledger, in Unix seconds or RFC 3339. "0": no end',
  }),
  transaction_xdr: z.string().nullish().meta({
    description:
      'Envelope in base64, in place of `operations`: unsigned, of the relayer; or for a fee bump, signed by others',
  }),
  fee_bump: z.boolean().nullish().meta({
    description: 'Whether the relayer pays the fee of a transaction that another account has signed',
  }),
  max_fee: z
    .int()
    .min(1, NO_FEE)
    .max(Number(MAX_FEE))
    .nullish()
    .meta({
      description: `Bid of the fee bump, in stroops. Default: ${DEFAULT_MAX_FEE_BID}, or the policy’s max_fee if lower`,
    }),
  signed_auth_entry: z.string().nullish().meta({
    description:
      'SorobanAuthorizationEntry in base64, signed by the user; `transaction_xdr` is the call that was built with it',
  }),
});

export type SendForm = z.output<typeof sendRequestSchema>;

/** In the reference's words. */
const NOT_SPONSORED =
  'Gasless transactions (User fee payment strategy) are not supported via operations path. Please use fee bump(SignedXdr) path for gasless transactions.';

const NO_MEMO = 'Soroban operations cannot have a memo (except MemoNone)';

/**
 * Checks a send request.
 * @throws AppError `INVALID_REQUEST`
 */
export function parseSendRequest(body: unknown, account: RelayerAccount, now: Timestamp): ParsedRequest {
  const form = parseRequestForm(sendRequestSchema, body);
  const validUntil = form.valid_until == null ? null : endOf(form.valid_until, now);
  return { ...parsedBy(form, account, now, validUntil) };
}

type Parse = (form: SendForm, account: RelayerAccount, now: Timestamp, validUntil: Timestamp | null) => ParsedRequest;

/** Finds the form of the request and parses it. Checks in the reference's order of faults. */
const parsedBy: Parse = (form, account, now, validUntil) => {
  const { transaction_xdr: text, fee_bump: isFeeBump, signed_auth_entry: consent } = form;
  const operations = form.operations?.length === 0 ? null : (form.operations ?? null);
  if (operations !== null && text != null) {
    throw invalidRequest('Cannot provide both operations and transaction_xdr');
  }
  if (operations === null && text == null) {
    throw invalidRequest('Must provide either operations or transaction_xdr');
  }
  if (operations !== null && isFeeBump === true) {
    throw invalidRequest('Cannot request fee_bump with operations mode');
  }
  if (consent != null && text == null)
    throw invalidRequest('signed_auth_entry requires transaction_xdr to be provided');
  if (consent != null && isFeeBump === true) throw invalidRequest('Cannot use both signed_auth_entry and fee_bump');
  if (isFeeBump !== true && form.max_fee != null) throw invalidRequest('max_fee is only allowed with fee_bump');
  if (text == null) return parseOperations(form, account, now, validUntil);
  if (form.memo != null && form.memo.type !== 'none') throw invalidRequest('memo is only allowed with operations');
  const envelope = parseEnvelope(text);
  const isSigned = envelope.signatures.length > 0;
  if (isFeeBump === true && !isSigned) throw xdrFault('Cannot request fee_bump with unsigned XDR');
  if (isFeeBump !== true && isSigned) throw xdrFault('Expected unsigned XDR but received signed XDR');
  const asked = { text, envelope, source: form.source_account ?? null, validUntil };
  if (consent != null) return parseForward({ ...asked, consent }, account, now);
  return isFeeBump === true
    ? parseFeeBump({ ...asked, maxFee: form.max_fee == null ? null : BigInt(form.max_fee) }, account, now)
    : parseUnsignedEnvelope(asked, account, now);
};

const parseOperations: Parse = ({ operations, memo, source_account: source }, account, _now, validUntil) => {
  if (source != null && accountOfAddress(source) !== account.address) {
    throw invalidRequest(`source_account ${source} is not the relayer's account ${account.address}`);
  }
  const policy = readPolicy(account.policies);
  if (policy.feePaymentStrategy === 'user') throw invalidRequest(NOT_SPONSORED);
  const asked = operations ?? [];
  const { source: sourceAccount, operations: composed } = draftTransaction({ operations: asked }, account.address);
  const spends = ownFundsFault({ sourceAccount, operations: composed }, account.address, policy);
  if (spends !== undefined) throw invalidRequest(spends);
  if (asked.some(isContractOperation) && memo != null && memo.type !== 'none') throw invalidRequest(NO_MEMO);
  const tooDear = policyFault(policy, { fee: BASE_FEE * BigInt(asked.length) });
  if (tooDear !== undefined) throw invalidRequest(tooDear.reason);
  const request: StellarRequest = { operations: asked, ...(memo == null ? {} : { memo }) };
  return {
    request: JSON.parse(JSON.stringify(request)) as ParsedRequest['request'],
    validUntil,
    anchorKind: 'sequence',
    onDeath: 'renew',
    contentKey: null,
  };
};

/** The end that `valid_until` names; null for "0", which means no end. */
function endOf(text: string, now: Timestamp): Timestamp | null {
  if (!/^\d{1,12}$/.test(text)) return readValidUntil(text, now);
  const at = Number(text) * 1_000;
  if (at === 0) return null;
  if (at <= now) throw validUntilPastError(at, now);
  return at;
}
