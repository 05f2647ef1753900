import { Asset, type xdr } from '@stellar/stellar-sdk';
import { accountIdOf } from './address.ts';
import { type AccountId, type AssetName, NATIVE } from './entry.ts';

type AnyAsset = xdr.Asset | xdr.TrustLineAsset | xdr.ChangeTrustAsset;

/** The name of an asset. This network has no liquidity pools, so all pool shares have the same name. */
export function assetNameOf(asset: AnyAsset): AssetName {
  if (asset.type === 'assetTypeNative') return NATIVE;
  if (asset.type === 'assetTypePoolShare') return 'pool-share';
  const four = asset.type === 'assetTypeCreditAlphanum4';
  const { assetCode, issuer } = four ? asset.alphaNum4 : asset.alphaNum12;
  const code = textOf(assetCode.toBytes());
  // A short code in the long form is invalid. The mark keeps it apart from the short form.
  return `${code}${!four && code.length < 5 ? '!' : ''}:${accountIdOf(issuer)}`;
}

export function assetOf(name: AssetName): Asset {
  if (name === NATIVE) return Asset.native();
  const [code = '', issuer = ''] = name.split(':');
  return new Asset(code, issuer);
}

/** Undefined for the native asset. */
export function issuerOf(name: AssetName): AccountId | undefined {
  return name === NATIVE ? undefined : name.split(':')[1];
}

/**
 * stellar-core's `isAssetValid`: letters and digits, zero bytes only at the end, and the shortest form for the code.
 */
export function isAssetValid(asset: AnyAsset): boolean {
  if (asset.type === 'assetTypeNative') return true;
  if (asset.type === 'assetTypePoolShare') return false;
  const four = asset.type === 'assetTypeCreditAlphanum4';
  const bytes = (four ? asset.alphaNum4 : asset.alphaNum12).assetCode.toBytes();
  const code = textOf(bytes);
  return /^[a-zA-Z0-9]+$/.test(code) && code.length > (four ? 0 : 4);
}

/** Removes zero bytes at the end. Zero bytes elsewhere stay, and make the code invalid. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1').replace(/\0+$/, '');
}
