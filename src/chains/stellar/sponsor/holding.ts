import { invalidRequest } from '../../../domain/errors.ts';
import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import type { Account } from '../../chain-client.ts';
import { readPolicy } from '../configuration/policy.ts';
import { trustedBy } from '../guard/trust.ts';
import { readEnvelope } from '../message/transaction-envelope.ts';
import { spendableOf } from '../provider.ts';
import { nameOf } from './asset.ts';

/**
 * Why a relayer whose users pay does not send an envelope of its own that opens trust lines; undefined where it does.
 * Only trust lines that are not there yet are opened, since each transaction costs the relayer a fee.
 */
export async function heldFault(
  read: ReadOne,
  { transaction: text }: { transaction: string },
  { address, policies }: Account,
): Promise<string | undefined> {
  const policy = readPolicy(policies);
  if (policy.feePayer !== 'user') return undefined;
  const assets = trustedBy(readEnvelope(text).transaction, policy) ?? [];
  const names = assets.map(nameOf);
  const twice = names.find((name, place) => names.indexOf(name) < place);
  if (twice !== undefined) return `The trust line for ${twice} is asked for twice`;
  const held = await Promise.all(assets.map((asset) => spendableOf(read, address, asset)));
  const known = held.findIndex((amount) => amount !== null);
  return known < 0 ? undefined : `The relayer has a trust line for ${names[known]} already`;
}

/** @throws AppError `INVALID_REQUEST` */
export async function assertUnheld(read: ReadOne, asked: { transaction: string }, account: Account): Promise<void> {
  const fault = await heldFault(read, asked, account);
  if (fault !== undefined) throw invalidRequest(fault);
}
