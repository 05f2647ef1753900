import type { Timestamp } from '../../../domain/transaction/transaction.ts';
import type { Account, ParsedRequest } from '../../chain-client.ts';
import { readPolicy } from '../configuration/policy.ts';
import { BASE_FEE } from '../fees.ts';
import { losesRelayer, ownFundsFault } from '../guard/accounts.ts';
import { trustedBy } from '../guard/trust.ts';
import { accountOf, type Envelope, preconditionsOf } from '../message/transaction-envelope.ts';
import { assertSound, type EnvelopeForm, earlierEnd, inXdr } from './xdr.ts';

/** In the reference's words. */
const NOT_SPONSORED =
  'Gasless transactions (User fee payment strategy) are not supported via unsigned_xdr path. Please use fee_bump path (SignedXdr) for gasless transactions.';

/**
 * Checks an envelope of the relayer's account that nobody has signed. The lane gives its sequence. The transaction ends
 * no later than the envelope says, and bids no less.
 * @throws AppError `INVALID_REQUEST`
 */
export function parseUnsigned(form: EnvelopeForm, account: Account, now: Timestamp): ParsedRequest {
  const { envelope, text } = form;
  const { transaction } = envelope;
  assertOwn(envelope, account.address);
  assertSound(form, account.address);
  const policy = readPolicy(account.policies);
  const { feePayer, maxFee } = policy;
  if (feePayer === 'user' && trustedBy(transaction, policy) === undefined) throw inXdr(NOT_SPONSORED);
  const spends = policy.isSpendable ? undefined : ownFundsFault(transaction, account.address);
  if (spends !== undefined) throw inXdr(spends);
  const least = BASE_FEE * BigInt(transaction.operations.length);
  const bid = BigInt(transaction.fee);
  if (maxFee !== null && (bid > maxFee || least > maxFee)) throw inXdr(`Max fee exceeded: ${maxFee}`);
  return {
    request: { transaction: text },
    validUntil: earlierEnd(form, now),
    anchorKind: 'sequence',
    onDeath: 'renew',
    contentKey: null,
  };
}

/**
 * Checks an envelope that the relayer sends in its own name, whoever pays for it.
 * @throws AppError `INVALID_REQUEST`
 */
export function assertOwn(envelope: Envelope, relayer: string): void {
  const source = accountOf(envelope.transaction.sourceAccount);
  if (source !== relayer) throw inXdr(`XDR source account ${source} does not match relayer account ${relayer}`);
  const fault = faultOf(envelope, relayer);
  if (fault !== undefined) throw inXdr(fault);
}

/** Why the relayer cannot send an envelope in its own name; undefined where it can. */
function faultOf({ transaction, isFeeBump }: Envelope, account: string): string | undefined {
  if (isFeeBump) return 'A fee bump of the relayer’s own transaction is its own to make: give the transaction in it';
  const asked = preconditionsOf(transaction);
  if (asked !== null) {
    const { minSeqNum, minSeqAge, minSeqLedgerGap, extraSigners } = asked;
    if (minSeqNum !== null || minSeqAge !== 0n || minSeqLedgerGap !== 0) {
      return 'The relayer gives the sequence: transaction_xdr can ask for none';
    }
    if (extraSigners.length > 0) return 'Only the relayer signs: transaction_xdr can ask for no extra signers';
  }
  return losesRelayer(transaction, account);
}
