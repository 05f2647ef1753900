import { invalidRequest } from '../../../domain/errors.ts';
import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import type { StellarPolicy } from '../configuration/policy.ts';
import { timeFault } from '../guard/gasless.ts';
import { lackingSignature } from '../guard/weights.ts';
import { accountOf, readEnvelope } from '../message/transaction-envelope.ts';
import { accountsAt, latestLedger } from '../provider.ts';
import type { FeeBumpRequest } from '../schema.ts';

/** How far ahead of its account's next sequence a user's transaction may be. It cannot land before those below it. */
const MAX_AHEAD = 4n;

/**
 * Checks that a ledger can take what another account has signed, within the time that the relayer's policy gives. Until
 * its end the transaction holds a place among the relayer's fee bumps.
 * @throws AppError `INVALID_REQUEST`
 */
export async function assertTimely(
  read: ReadOne,
  { inner }: FeeBumpRequest,
  passphrase: string,
  { feePayer, timeoutSeconds, longestSeconds }: StellarPolicy,
): Promise<void> {
  const envelope = readEnvelope(inner);
  const { sourceAccount, operations, seqNum } = envelope.transaction;
  const source = accountOf(sourceAccount);
  const named = operations.flatMap((one) => (one.sourceAccount === null ? [] : [accountOf(one.sourceAccount)]));
  const [latest, { accounts }] = await Promise.all([
    latestLedger(read),
    accountsAt(read, [...new Set([source, ...named])]),
  ]);
  const isUsers = feePayer === 'user';
  const late = timeFault(envelope.transaction, latest, isUsers ? timeoutSeconds : longestSeconds);
  if (late !== undefined) throw invalidRequest(late);
  const used = accounts.get(source)?.sequence;
  if (isUsers && used !== undefined && (seqNum <= used || seqNum > used + 1n + MAX_AHEAD)) {
    throw invalidRequest(`Its sequence ${seqNum} is not the next of ${source}, ${used + 1n}`);
  }
  const authorities = new Map([...accounts].map(([address, { authority }]) => [address, authority]));
  const lacking = lackingSignature(envelope, passphrase, authorities);
  if (lacking !== undefined) throw invalidRequest(lacking);
}
