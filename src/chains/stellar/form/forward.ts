import { hash } from 'node:crypto';
import type { xdr } from '@stellar/stellar-sdk/base';
import type { Timestamp } from '../../../features/transactions/records/transaction.ts';
import type { ParsedRequest, RelayerAccount } from '../../chain-client.ts';
import { isAccountAddress, isContractAddress } from '../address.ts';
import { addressCredentials, authorizingAddress, parseAuthorizationEntry } from '../message/authorization.ts';
import {
  consentedCallOf,
  type FeeForward,
  feeApprovalOf,
  feeForwardOf,
  forwardCallOf,
  isSameCall,
} from '../message/forward.ts';
import type { ForwardRequest } from '../schema.ts';
import { assertEnvelopeSound, assertOwnEnvelope, type EnvelopeForm, earliestExpiry, xdrFault } from './envelope.ts';

interface ForwardForm extends EnvelopeForm {
  /** Base64 of the entry that the user has signed. */
  consent: string;
}

/**
 * Checks a call of a fee forwarder that a user has consented to and the relayer sends. Only the network can tell whose
 * forwarder it is, and whether the fee is enough. The same consent posted twice is one transaction.
 * @throws AppError `INVALID_REQUEST`
 */
export function parseForward(form: ForwardForm, account: RelayerAccount, now: Timestamp): ParsedRequest {
  const { envelope, text, consent } = form;
  const entry = parseAuthorizationEntry(consent);
  if (entry === undefined) {
    throw xdrFault('Invalid XDR: invalid `signed_auth_entry`: not the base64 of a SorobanAuthorizationEntry');
  }
  assertOwnEnvelope(envelope, account.address);
  assertEnvelopeSound(form, account.address);
  const asked = checkFeeForward(envelope.transaction, entry, account.address);
  if (typeof asked === 'string') throw xdrFault(asked);
  const request: ForwardRequest = { forward: text, consent };
  return {
    request: { ...request },
    validUntil: earliestExpiry(form, now),
    anchorKind: 'sequence',
    // The consent is valid until its last ledger, under any sequence.
    onDeath: 'renew',
    contentKey: hash('sha256', signedPart(entry)),
  };
}

/** The part of a consent that its signature covers, without the signature itself. */
function signedPart({ credentials, rootInvocation }: xdr.SorobanAuthorizationEntry): string {
  const { address, nonce, signatureExpirationLedger: last } = addressCredentials(credentials) ?? {};
  return JSON.stringify([address?.toXdr('base64'), String(nonce), last, rootInvocation.toXdr('base64')]);
}

const FORM = 'it is not a call of forward(…) with the 9 arguments of a fee forwarder';

/**
 * What a transaction of the relayer's asks of a fee forwarder, or why the relayer does not sign it.
 * @param signed the consent that the user has signed
 */
export function checkFeeForward(
  transaction: xdr.Transaction,
  signed: xdr.SorobanAuthorizationEntry,
  relayer: string,
): FeeForward | string {
  const forward = feeForwardOf(transaction);
  if (forward === undefined) return `operations.0: ${FORM}`;
  const fault = partyFault(forward, relayer) ?? entriesFault(transaction, forward);
  if (fault !== undefined) return fault;
  const unlike = forwardConsentFault(signed, forward);
  return unlike === undefined ? forward : `signed_auth_entry: ${unlike}`;
}

function partyFault({ token, user, relayer: payee, fee, mostFee }: FeeForward, relayer: string): string | undefined {
  if (payee !== relayer) return `operations.0: its fee goes to ${payee}, not to the relayer ${relayer}`;
  if (user === relayer) return 'operations.0: its user is the relayer itself';
  if (!(isAccountAddress(user) || isContractAddress(user)))
    return `operations.0: its user ${user} is neither an account nor a contract`;
  if (!isContractAddress(token)) return `operations.0: its token ${token} is no contract`;
  if (fee <= 0n) return `operations.0: its fee_amount is ${fee}`;
  return fee > mostFee ? `operations.0: its fee_amount ${fee} is beyond its max_fee_amount ${mostFee}` : undefined;
}

/**
 * Checks the entries that the transaction came with, which new entries will replace. An entry has to be the user's, or
 * the relayer's consent to the call itself. Any other entry would be lost, or would have the relayer consent to more.
 */
function entriesFault({ operations: [operation] }: xdr.Transaction, forward: FeeForward): string | undefined {
  const auth = operation?.body.type === 'invokeHostFunction' ? operation.body.invokeHostFunctionOp.auth : [];
  for (const [place, { credentials, rootInvocation }] of auth.entries()) {
    const who = authorizingAddress(credentials) ?? forward.relayer;
    if (who === forward.user) continue;
    if (who !== forward.relayer) return `auth.${place}: it is of ${who}, who is neither the user nor the relayer`;
    const { function: asked, subInvocations } = rootInvocation;
    const isOwn = isCall(asked, forwardCallOf(forward)) && subInvocations.length === 0;
    if (!isOwn)
      return `auth.${place}: it asks for the relayer's own authorization of more than the call of the forwarder`;
  }
  return undefined;
}

/**
 * Why the user's consent does not fit this call; undefined where it fits. Below the call it may cover the approval of
 * the fee, and the call that the user wants.
 */
export function forwardConsentFault(
  { credentials, rootInvocation }: xdr.SorobanAuthorizationEntry,
  forward: FeeForward,
): string | undefined {
  const who = authorizingAddress(credentials);
  if (who === undefined) return 'it names nobody: expected the credentials of an address';
  if (who !== forward.user) return `it is of ${who}, not of the user ${forward.user}`;
  const { function: asked, subInvocations } = rootInvocation;
  if (!isCall(asked, consentedCallOf(forward))) {
    return 'it is for another call: token, max_fee_amount, expiration_ledger and what is called have to be the same';
  }
  const wanted = [feeApprovalOf(forward), forward.target];
  for (const [place, one] of subInvocations.entries()) {
    const found = wanted.findIndex((call) => isCall(one.function, call));
    if (found < 0) return `subInvocations.${place}: it is neither the approval of the fee nor the requested call`;
    wanted.splice(found, 1);
  }
  return undefined;
}

function isCall(asked: xdr.SorobanAuthorizedFunction, call: xdr.InvokeContractArgs): boolean {
  return asked.type === 'sorobanAuthorizedFunctionTypeContractFn' && isSameCall(asked.contractFn, call);
}
