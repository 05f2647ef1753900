import { xdr } from '@stellar/stellar-sdk/base';
import { z } from 'zod';
import { invalidRequest } from '../../../domain/errors.ts';
import { strictObjectSchema } from '../../../domain/json/issue-text.ts';
import type { ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import { addressOfPublicKey, isAccountAddress, isContractAddress } from '../address.ts';
import { parseEnvelope } from '../form/envelope.ts';
import { operationsSchema } from '../form/operation.ts';
import { gaslessFault } from '../guard/gasless.ts';
import { draftTransaction } from '../message/draft.ts';
import { buildTransaction } from '../message/transaction.ts';
import { accountOfMuxed, isSoroban, preconditionsOf, transactionShapeFault } from '../message/transaction-envelope.ts';
import { getAccount } from '../rpc-calls.ts';
import type { OwnRequest } from '../schema.ts';

/** What a user asks the relayer to pay for: an envelope, or operations of an account. */
export const sponsoredSchema = strictObjectSchema({
  transaction_xdr: z.string().nullish().meta({ description: 'Envelope of the user’s transaction, in base64' }),
  operations: operationsSchema.nullish(),
  source_account: z
    .string()
    .nullish()
    .meta({ description: 'Source of `operations`: an account, or a contract that calls another one' }),
  fee_token: z
    .string()
    .meta({ description: 'Token: native or CODE:ISSUER; for a contract call the contract of the token (C…)' }),
});

export type SponsoredForm = z.output<typeof sponsoredSchema>;

/** In the reference's words. */
const INVALID = 'Failed to validate gasless transaction: ';

/** A user's transaction, without the payment for it. */
export interface UserDraft {
  /** Who pays: an account, or for the call of a contract perhaps a contract. */
  user: string;
  transaction: xdr.Transaction;
}

/**
 * Reads the user's transaction, without the payment for it.
 * @throws AppError `INVALID_REQUEST` for a transaction that the relayer does not pay for
 */
export async function userDraft(read: ReadFromEndpoint, form: SponsoredForm, relayer: string): Promise<UserDraft> {
  const draft = form.transaction_xdr == null ? await ofOperations(read, form) : ofEnvelope(form);
  const { transaction } = draft;
  const fault = transactionShapeFault(transaction) ?? gaslessFault(transaction, relayer);
  if (fault !== undefined) throw invalidRequest(`${INVALID}${fault}`);
  if (draft.user === relayer) throw invalidRequest(`${INVALID}its user is the relayer itself`);
  // The call of a contract uses the relayer's sequence, so the user's sequence is not checked.
  if (isSoroban(transaction)) return draft;
  if (isContractAddress(draft.user))
    throw invalidRequest(`${INVALID}${draft.user} is a contract, and can only call others`);
  const { account } = await getAccount(read, draft.user);
  if (account === null) throw invalidRequest(`${INVALID}its source account does not exist`);
  if (account.sequence >= transaction.seqNum) {
    throw invalidRequest(`${INVALID}sequence ${transaction.seqNum} is used: the last is ${account.sequence}`);
  }
  return draft;
}

function ofEnvelope({ transaction_xdr: text, operations }: SponsoredForm): UserDraft {
  if (operations != null) throw invalidRequest('Cannot provide both transaction_xdr and operations');
  const { transaction, isFeeBump } = parseEnvelope(text ?? '');
  if (isFeeBump) throw invalidRequest(`${INVALID}it is a fee bump`);
  const asked = preconditionsOf(transaction);
  if (asked !== null) throw invalidRequest(`${INVALID}of the preconditions only time bounds are allowed`);
  return { user: accountOfMuxed(transaction.sourceAccount), transaction };
}

async function ofOperations(
  read: ReadFromEndpoint,
  { operations, source_account: source }: SponsoredForm,
): Promise<UserDraft> {
  if (operations == null || operations.length === 0) {
    throw invalidRequest('Must provide either transaction_xdr or operations');
  }
  if (source == null) throw invalidRequest('source_account is required when providing operations');
  if (isContractAddress(source)) return { user: source, transaction: transactionFrom(operations, NOBODY, 0n) };
  if (!isAccountAddress(source))
    throw invalidRequest('invalid `source_account`: expected an account (G…) or a contract (C…)');
  const { account } = await getAccount(read, source);
  return { user: source, transaction: transactionFrom(operations, source, account?.sequence ?? 0n) };
}

/** A stand-in source: a contract cannot be the source of a transaction. */
const NOBODY = addressOfPublicKey(Buffer.alloc(32));

function transactionFrom(
  operations: NonNullable<SponsoredForm['operations']>,
  source: string,
  sequence: bigint,
): xdr.Transaction {
  const draft = draftTransaction({ operations } satisfies OwnRequest, source);
  return buildTransaction(draft, { fee: 0n, sequence: sequence + 1n, maxTime: 0n });
}

/** The transaction with one more operation, which pays the relayer, and with the fee and the end that were quoted. */
export function withPayment(
  { sourceAccount, seqNum, memo, operations, ext }: xdr.Transaction,
  payment: xdr.Operation,
  { fee, maxTime }: { fee: bigint; maxTime: bigint },
): xdr.Transaction {
  const cond = xdr.Preconditions.precondTime(new xdr.TimeBounds({ minTime: 0n, maxTime }));
  return new xdr.Transaction({
    sourceAccount,
    seqNum,
    memo,
    ext,
    cond,
    fee: Number(fee),
    operations: [...operations, payment],
  });
}
