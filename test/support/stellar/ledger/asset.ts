import { Asset, type xdr } from '@stellar/stellar-sdk';
import { accountIdOf } from './address.ts';
import { type AccountId, type AssetName, NATIVE } from './entry.ts';

type AnyAsset = xdr.Asset | xdr.TrustLineAsset | xdr.ChangeTrustAsset;

/** Of shares in a pool, which this network has none of, there is no name. */
export function assetNameOf(asset: AnyAsset): AssetName {
  if (asset.type === 'assetTypeNative') return NATIVE;
  if (asset.type === 'assetTypePoolShare') return 'pool-share';
  const four = asset.type === 'assetTypeCreditAlphanum4';
  const { assetCode, issuer } = four ? asset.alphaNum4 : asset.alphaNum12;
  const code = textOf(assetCode.toBytes());
  // A short code in the long form is not the asset of the short form, and none at all.
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

/** stellar-core's `isAssetValid`: letters and digits, zeros only behind them, and the shortest form for the code. */
export function isAssetValid(asset: AnyAsset): boolean {
  if (asset.type === 'assetTypeNative') return true;
  if (asset.type === 'assetTypePoolShare') return false;
  const four = asset.type === 'assetTypeCreditAlphanum4';
  const bytes = (four ? asset.alphaNum4 : asset.alphaNum12).assetCode.toBytes();
  const code = textOf(bytes);
  return /^[a-zA-Z0-9]+$/.test(code) && code.length > (four ? 0 : 4);
}

/** Without the zeros at the end; those within remain, and make it no code. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1').replace(/\0+$/, '');
}
