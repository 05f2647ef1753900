import type { xdr } from '@stellar/stellar-sdk/base';
import { authorizingAddress } from '../message/authorization.ts';
import { accountOfMuxed, timeBoundsOf } from '../message/transaction-envelope.ts';
import type { LatestLedger } from '../rpc-calls.ts';
import { relayerAccountFault } from './accounts.ts';

/** Operations that the relayer pays for no user, and the texts that say so. */
const REFUSED: Readonly<Record<string, string>> = {
  accountMerge: 'AccountMerge is not allowed',
  setOptions: 'SetOptions is not allowed',
  createAccount: 'Deprecated operation type not allowed: CreateAccount',
  allowTrust: 'Deprecated operation type not allowed: AllowTrust',
};

/** Why the relayer does not pay for a user's transaction where users pay the fees; undefined where it does. */
export function gaslessFault(transaction: xdr.Transaction, relayer: string): string | undefined {
  const { operations, sourceAccount } = transaction;
  if (accountOfMuxed(sourceAccount) === relayer) return `Source account is the relayer's own, ${relayer}`;
  const reach = relayerAccountFault(transaction, relayer);
  if (reach !== undefined) return reach;
  for (const [place, { body }] of operations.entries()) {
    const refusal = REFUSED[body.type] ?? contractFault(body, relayer);
    if (refusal !== undefined) return `operations.${place}: ${refusal}`;
  }
  return undefined;
}

function contractFault(body: xdr.OperationBody, relayer: string): string | undefined {
  if (body.type === 'extendFootprintTtl' || body.type === 'restoreFootprint') {
    return 'Of contracts only InvokeContract is allowed';
  }
  if (body.type !== 'invokeHostFunction') return undefined;
  const { hostFunction, auth } = body.invokeHostFunctionOp;
  if (hostFunction.type !== 'hostFunctionTypeInvokeContract') return 'Of contracts only InvokeContract is allowed';
  const asks = auth.findIndex(({ credentials }) => authorizingAddress(credentials) === relayer);
  return asks < 0 ? undefined : `auth.${asks}: it asks for the relayer's own authorization`;
}

/**
 * Why a transaction's time bounds do not fit: ledgers do not take it now, or take it for longer than allowed. Undefined
 * where they fit.
 * @param mostSeconds the longest time that is allowed; null where any time is
 */
export function timeBoundsFault(
  transaction: xdr.Transaction,
  { closedAt }: LatestLedger,
  mostSeconds: number | null,
): string | undefined {
  const { minTime, maxTime } = timeBoundsOf(transaction);
  const now = BigInt(closedAt) / 1_000n;
  if (maxTime !== 0n && maxTime < now) return `Its time bounds ended at ${maxTime}, and it is ${now} on the chain`;
  if (mostSeconds === null) return undefined;
  if (minTime > now) return `Its time bounds begin at ${minTime}, and it is ${now} on the chain`;
  const last = now + BigInt(mostSeconds);
  if (maxTime !== 0n && maxTime <= last + CLOCK_TOLERANCE_SECONDS) return undefined;
  return `Its time bounds must end within ${mostSeconds} s, at ${last}`;
}

/** How far the last ledger may be behind the client's clock, in seconds. */
export const CLOCK_TOLERANCE_SECONDS = 15n;
