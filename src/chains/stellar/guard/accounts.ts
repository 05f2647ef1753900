import type { xdr } from '@stellar/stellar-sdk/base';
import { policyFault, type StellarPolicy } from '../configuration/policy.ts';
import { changesSigners, operationOutflow } from '../message/outflow.ts';
import { accountOfMuxed } from '../message/transaction-envelope.ts';

/** The parts of an envelope that say on whose account it acts. */
export interface EnvelopeActions {
  operations: readonly xdr.Operation[];
  sourceAccount: xdr.MuxedAccount;
}

/**
 * Where somebody else's envelope acts on the relayer's account, which would then pay more than the fee; undefined where
 * it does not.
 */
export function relayerAccountFault({ operations }: EnvelopeActions, relayer: string): string | undefined {
  const place = operations.findIndex(
    ({ sourceAccount }) => sourceAccount !== null && accountOfMuxed(sourceAccount) === relayer,
  );
  return place < 0 ? undefined : `operations.${place}: it acts on the relayer's own account ${relayer}`;
}

/**
 * The highest sequence that an account may be moved to: half of the 2^63 sequences are left. An account at the last
 * sequence never sends anything again.
 */
const LAST_LEAP = 2n ** 62n;

/**
 * Where an envelope would cost the relayer its account; undefined where it would not. Such an envelope ends the
 * account, with all that the policy keeps there, uses up its sequences, or changes who may sign for it. A change of
 * signers would outlive every key of the API.
 */
export function accountLossFault({ operations, sourceAccount }: EnvelopeActions, relayer: string): string | undefined {
  for (const [place, { body, sourceAccount: own }] of operations.entries()) {
    if (accountOfMuxed(own ?? sourceAccount) !== relayer) continue;
    if (body.type === 'accountMerge') return `operations.${place}: the relayer's account cannot be merged into another`;
    if (body.type === 'bumpSequence' && body.bumpSequenceOp.bumpTo > LAST_LEAP) {
      return `operations.${place}: the sequence of the relayer's account cannot be moved beyond ${LAST_LEAP}`;
    }
    if (body.type === 'setOptions' && changesSigners(body.setOptionsOp)) {
      return `operations.${place}: the signers of the relayer's account cannot be changed through it`;
    }
  }
  return undefined;
}

/**
 * Why the policies forbid an envelope that moves what the relayer's account holds; undefined where they do not.
 * A contract takes from the account only what the source of its operation consents to, and where no consents are given,
 * a simulation finds them.
 */
export function ownFundsFault(
  { operations, sourceAccount }: EnvelopeActions,
  relayer: string,
  policy: StellarPolicy,
): string | undefined {
  const operation = operations.findIndex(
    ({ body, sourceAccount: own }) =>
      accountOfMuxed(own ?? sourceAccount) === relayer && operationOutflow(body) > 0n && !isConsentedByOthers(body),
  );
  return policyFault(policy, { outflow: { operation, relayer } })?.reason;
}

function isConsentedByOthers(body: xdr.OperationBody): boolean {
  const auth = body.type === 'invokeHostFunction' ? body.invokeHostFunctionOp.auth : [];
  return auth.length > 0 && auth.every(({ credentials }) => credentials.type !== 'sorobanCredentialsSourceAccount');
}
