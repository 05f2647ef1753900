import type { xdr } from '@stellar/stellar-sdk/base';
import { givesPower } from '../message/taken.ts';
import { accountOf } from '../message/transaction-envelope.ts';

/** What of an envelope says on whose account it acts. */
export type Acting = Pick<xdr.Transaction, 'operations' | 'sourceAccount'>;

/**
 * Where an envelope of somebody else acts on the relayer's account, which then would pay more than the fee; undefined
 * where it does not.
 */
export function reachesRelayer({ operations }: Acting, relayer: string): string | undefined {
  const place = operations.findIndex(
    ({ sourceAccount }) => sourceAccount !== null && accountOf(sourceAccount) === relayer,
  );
  return place < 0 ? undefined : `operations.${place}: it acts on the relayer's own account ${relayer}`;
}

/** Of 2^63 sequences half are left: an account that has come to the last one sends nothing ever again. */
const LAST_LEAP = 2n ** 62n;

/**
 * Where an envelope takes the relayer's account away from it: ends it, with all that its policy keeps there, uses up its
 * sequences, or changes who may sign for it, which would outlive every key of the API; undefined where it does not.
 */
export function losesRelayer({ operations, sourceAccount }: Acting, relayer: string): string | undefined {
  for (const [place, { body, sourceAccount: own }] of operations.entries()) {
    if (accountOf(own ?? sourceAccount) !== relayer) continue;
    if (body.type === 'accountMerge') return `operations.${place}: the relayer's account is merged into no other`;
    if (body.type === 'bumpSequence' && body.bumpSequenceOp.bumpTo > LAST_LEAP) {
      return `operations.${place}: the sequence of the relayer's account is not moved beyond ${LAST_LEAP}`;
    }
    if (body.type === 'setOptions' && givesPower(body.setOptionsOp)) {
      return `operations.${place}: who may sign for the relayer's account is not changed through it`;
    }
  }
  return undefined;
}
