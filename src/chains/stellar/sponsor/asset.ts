import { Asset } from '@stellar/stellar-sdk/base';
import { invalidRequest } from '../../../domain/errors.ts';
import { isContract } from '../address.ts';
import { type AllowedToken, assetFault, canonicalAsset, type StellarPolicy } from '../configuration/policy.ts';

/** An asset that a fee is paid in and that the policies allow. */
export interface FeeToken {
  /** The canonical name. */
  name: string;
  asset: Asset;
  /** The policies' entry for the asset; undefined where they list no tokens. */
  allowed: AllowedToken | undefined;
}

/** @throws AppError `INVALID_REQUEST` for a text that names no asset */
export function assertAsset(text: string): void {
  const fault = assetFault(text);
  if (fault !== null) throw invalidRequest(`Invalid fee_token structure: Invalid asset identifier: ${fault}`);
}

/** @throws AppError `INVALID_REQUEST` */
export function feeTokenOf(text: string, policy: StellarPolicy): FeeToken {
  assertAsset(text);
  const name = canonicalAsset(text);
  if (isContract(name)) throw invalidRequest(`No configured strategy can handle asset: ${name}`);
  return allowedAs(name, assetNamed(name), policy);
}

/** An asset of the ledger by its name in the policies. */
export function assetNamed(name: string): Asset {
  const [code = '', issuer = ''] = name.split(':');
  return name === 'native' ? Asset.native() : new Asset(code, issuer);
}

/** The canonical name of an asset, as in the policies. */
export function nameOf(asset: Asset): string {
  return asset.isNative() ? 'native' : `${asset.code}:${asset.issuer}`;
}

/** The fee token that a payment names. @throws AppError `INVALID_REQUEST` where the policies do not allow it */
export function paidToken(asset: Asset, policy: StellarPolicy): FeeToken {
  return allowedAs(nameOf(asset), asset, policy);
}

function allowedAs(name: string, asset: Asset, { allowedTokens }: StellarPolicy): FeeToken {
  const allowed = allowedTokens.find((token) => token.asset === name);
  if (allowed === undefined && allowedTokens.length > 0) throw invalidRequest(`Token ${name} is not allowed for fees`);
  return { name, asset, allowed };
}

/** @throws AppError `INVALID_REQUEST` in the reference's words */
export function assertWithinLimit({ allowed }: FeeToken, tokens: bigint): void {
  if (allowed?.maxFee != null && tokens > allowed.maxFee) throw invalidRequest(`Max fee exceeded: ${allowed.maxFee}`);
}
