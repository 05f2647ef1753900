import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import { isContract } from '../address.ts';
import type { AllowedToken } from '../configuration/policy.ts';
import { tokenBalance } from '../price/token.ts';
import { spendableOf } from '../provider.ts';
import { assetNamed } from '../sponsor/asset.ts';

/** What a relayer has of a token, and how much of that is to be swapped. */
export interface Stock {
  token: AllowedToken;
  /** In the token's smallest unit; more than nothing. */
  swapped: bigint;
}

/** How much of a token is to be swapped now; undefined where that is nothing, as where there is no trust line. */
export async function stockOf(read: ReadOne, address: string, token: AllowedToken): Promise<Stock | undefined> {
  const held = isContract(token.asset)
    ? await tokenBalance(read, token.asset, address)
    : ((await spendableOf(read, address, assetNamed(token.asset))) ?? 0n);
  const swapped = swappedOf(held, token.swapped);
  return swapped === 0n ? undefined : { token, swapped };
}

/**
 * How much of a holding is swapped: at most `most`, never the retained part, and zero rather than less than `least`.
 */
function swappedOf(held: bigint, { least, most, retained }: AllowedToken['swapped']): bigint {
  const free = held > retained ? held - retained : 0n;
  const given = most !== null && most < free ? most : free;
  return given < least ? 0n : given;
}
