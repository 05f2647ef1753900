import { hash } from 'node:crypto';
import type { xdr } from '@stellar/stellar-sdk/base';
import type { Timestamp } from '../../../domain/transaction/transaction.ts';
import type { Account, ParsedRequest } from '../../chain-client.ts';
import { forwardIn } from '../guard/forward.ts';
import { addressCredentials, entryIn } from '../message/authorization.ts';
import type { ForwardRequest } from '../schema.ts';
import { assertOwn } from './unsigned.ts';
import { assertSound, type EnvelopeForm, earlierEnd, inXdr } from './xdr.ts';

export interface ForwardForm extends EnvelopeForm {
  /** Base64 of the entry that the user has signed. */
  consent: string;
}

/**
 * Checks a call of a fee forwarder that a user has consented to and the relayer sends. Only the network can tell whose
 * forwarder it is, and whether the fee is enough. The same consent posted twice is one transaction.
 * @throws AppError `INVALID_REQUEST`
 */
export function parseForward(form: ForwardForm, account: Account, now: Timestamp): ParsedRequest {
  const { envelope, text, consent } = form;
  const entry = entryIn(consent);
  if (entry === undefined) {
    throw inXdr('Invalid XDR: invalid `signed_auth_entry`: not the base64 of a SorobanAuthorizationEntry');
  }
  assertOwn(envelope, account.address);
  assertSound(form, account.address);
  const asked = forwardIn(envelope.transaction, entry, account.address);
  if (typeof asked === 'string') throw inXdr(asked);
  const request: ForwardRequest = { forward: text, consent };
  return {
    request: { ...request },
    validUntil: earlierEnd(form, now),
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
