import { hash } from 'node:crypto';
import type { xdr } from '@stellar/stellar-sdk/base';
import { jsonAmount } from '../../../domain/amount.ts';
import type { Timestamp } from '../../../features/transactions/records/transaction.ts';
import type { ParsedRequest, RelayerAccount } from '../../chain-client.ts';
import { DEFAULT_MAX_FEE_BID, policyFault, readPolicy, type StellarPolicy } from '../configuration/policy.ts';
import { minFeeBumpFee } from '../fees.ts';
import { accountLossFault, ownFundsFault, relayerAccountFault } from '../guard/accounts.ts';
import { gaslessFault } from '../guard/gasless.ts';
import { invalidSignature, isSignedBy } from '../guard/signatures.ts';
import { transactionHash } from '../message/transaction.ts';
import { accountOfMuxed, type Envelope, preconditionsOf, timeBoundsOf } from '../message/transaction-envelope.ts';
import type { FeeBumpRequest } from '../schema.ts';
import { paymentIn } from '../sponsor/payment.ts';
import { assertEnvelopeSound, type EnvelopeForm, earliestExpiry, xdrFault } from './envelope.ts';

export interface FeeBumpForm extends EnvelopeForm {
  /** Null where the request does not say. */
  maxFee: bigint | null;
}

/**
 * Checks an envelope that another account has signed and the relayer pays for. The same bytes posted twice are one
 * transaction.
 * @throws AppError `INVALID_REQUEST`
 */
export function parseFeeBump(form: FeeBumpForm, account: RelayerAccount, now: Timestamp): ParsedRequest {
  const { envelope, text } = form;
  const { transaction, isFeeBump } = envelope;
  if (isFeeBump) throw xdrFault('Cannot create fee-bump envelope: a fee bump cannot be bumped again');
  if (accountOfMuxed(transaction.sourceAccount) === account.address) {
    throw xdrFault('Cannot create fee-bump envelope: Fee-bump source cannot be the same as inner transaction source');
  }
  assertEnvelopeSound(form, account.address);
  const policy = readPolicy(account.policies);
  const { maxFee: most, feePaymentStrategy } = policy;
  const reach = relayerAccountFault(transaction, account.address);
  const fault = reach === undefined ? undefined : reachFault(envelope, account, policy, reach);
  if (fault !== undefined) throw xdrFault(fault);
  const required = minFeeBumpFee(transaction);
  if (feePaymentStrategy === 'user') assertSponsored(transaction, account.address);
  const maxFee = form.maxFee ?? (most !== null && most < DEFAULT_MAX_FEE_BID ? most : DEFAULT_MAX_FEE_BID);
  if (maxFee < required) throw xdrFault(`max_fee (${maxFee}) is insufficient. Required fee-bump fee: ${required}`);
  const tooDear = policyFault(policy, { fee: maxFee });
  if (tooDear !== undefined) throw xdrFault(tooDear.reason);
  const wrong = account.identity === undefined ? undefined : invalidSignature(envelope, account.identity);
  if (wrong !== undefined) throw xdrFault(wrong);
  // The bid is no higher than what the user pays for.
  const bid = feePaymentStrategy === 'user' ? required : maxFee;
  const own = reach === undefined ? {} : { own: account.address };
  const request: FeeBumpRequest = { inner: text, max_fee: jsonAmount(bid), ...own };
  return {
    request: { ...request },
    validUntil: earliestExpiry(form, now),
    anchorKind: 'text',
    // Only the client can sign it anew. Without a time bound it can always land, in this fee bump or in another.
    onDeath: timeBoundsOf(transaction).maxTime === 0n ? 'never' : 'end',
    contentKey: account.identity === undefined ? null : keyOf(envelope, account.identity),
  };
}

/**
 * Why the relayer does not pay for an envelope that acts on its own account; undefined where it does. Such an envelope
 * has to bear the relayer's own signature, which sign-transaction makes under the same policies.
 */
function reachFault(
  envelope: Envelope,
  { address, identity }: RelayerAccount,
  policy: StellarPolicy,
  reach: string,
): string | undefined {
  if (policy.feePaymentStrategy === 'user') return reach;
  if (identity === undefined || !isSignedBy(envelope, address, identity)) {
    return `${reach}, and the relayer has not signed it`;
  }
  const { transaction } = envelope;
  return accountLossFault(transaction, address) ?? ownFundsFault(transaction, address, policy);
}

/**
 * The content key covers the signatures. So a client that posted too few signatures can post the transaction with all.
 */
function keyOf({ transaction, signatures }: Envelope, passphrase: string): string {
  const signed = hash('sha256', Buffer.concat(signatures.map((one) => one.toXdr())));
  return `${transactionHash(transaction, passphrase).toString('hex')} ${signed}`;
}

/** Checks what a user has the relayer pay for: it has one payment to the relayer, and does nothing else with it. */
function assertSponsored(transaction: xdr.Transaction, relayer: string): void {
  const fault = gaslessFault(transaction, relayer);
  if (fault !== undefined) throw xdrFault(`Failed to validate gasless transaction: ${fault}`);
  if (preconditionsOf(transaction) !== null) throw xdrFault('of the preconditions only time bounds are allowed');
  paymentIn(transaction, relayer);
}
