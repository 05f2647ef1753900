import { invalidRequest } from '../../../domain/errors.ts';
import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import { trustedBy } from '../guard/trust.ts';
import { readEnvelope } from '../message/envelope.ts';
import type { StellarPolicy } from '../policy.ts';
import { spendableOf } from '../provider.ts';
import { nameOf } from './asset.ts';

/**
 * That a relayer whose users pay comes to hold only what it does not hold yet: each time costs it a fee.
 * @throws AppError `INVALID_REQUEST`
 */
export async function assertUnheld(
  read: ReadOne,
  { transaction: text }: { transaction: string },
  relayer: string,
  policy: StellarPolicy,
): Promise<void> {
  const assets = trustedBy(readEnvelope(text).transaction, policy) ?? [];
  const names = assets.map(nameOf);
  const twice = names.find((name, place) => names.indexOf(name) < place);
  if (twice !== undefined) throw invalidRequest(`The trust line for ${twice} is asked for twice`);
  const held = await Promise.all(assets.map((asset) => spendableOf(read, relayer, asset)));
  const known = held.findIndex((amount) => amount !== null);
  if (known >= 0) throw invalidRequest(`The relayer has a trust line for ${names[known]} already`);
}
