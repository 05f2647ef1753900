import { Asset, type Keypair, Operation } from '@stellar/stellar-sdk';
import type { StellarScene } from './stellar-scene.ts';

/** An issuer, and the accounts that hold given amounts of its assets. */
export interface Market {
  readonly issuer: Keypair;
  readonly asset: Asset;
  readonly holders: readonly Keypair[];
}

export async function openMarket(
  { funded, land, signed }: StellarScene,
  code: string,
  ...amounts: readonly string[]
): Promise<Market> {
  const issuer = await funded();
  const asset = new Asset(code, issuer.publicKey());
  const holders = await Promise.all(amounts.map(() => funded()));
  for (const [index, holder] of holders.entries()) {
    await land(await signed(holder, [Operation.changeTrust({ asset })]));
    const amount = amounts[index] ?? '0';
    if (amount === '0') continue;
    await land(await signed(issuer, [Operation.payment({ destination: holder.publicKey(), amount, asset })]));
  }
  return { issuer, asset, holders };
}
