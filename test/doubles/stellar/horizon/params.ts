import { StrKey } from '@stellar/stellar-sdk';
import { assetOf } from '../ledger/asset.ts';
import { type AssetName, NATIVE } from '../ledger/entry.ts';
import { stroopsIn } from './amount.ts';
import { invalidField } from './problem.ts';
import type { Asked } from './route.ts';

const LENGTHS: Readonly<Record<string, number>> = { native: 0, credit_alphanum4: 4, credit_alphanum12: 12 };
const NO_ACCOUNT = 'Account ID must start with `G` and contain 56 alphanum characters';
const NO_TYPE =
  "invalid asset type: was not one of 'native', 'credit_alphanum4', 'credit_alphanum12', 'liquidity_pool_shares'";

/** @throws Problem if the segment is no account */
export function accountPart({ parts }: Asked, name: string): string {
  const account = parts[name] ?? '';
  if (!StrKey.isValidEd25519PublicKey(account)) throw invalidField(name, NO_ACCOUNT);
  return account;
}

/** Undefined if the parameter is missing. @throws Problem */
export function accountParam({ params }: Asked, name: string): string | undefined {
  const account = params.get(name) ?? '';
  if (account !== '' && !StrKey.isValidEd25519PublicKey(account)) throw invalidField(name, NO_ACCOUNT);
  return account === '' ? undefined : account;
}

/** @throws Problem if the segment is no hash */
export function hashPart({ parts }: Asked, name: string): string {
  const hash = parts[name] ?? '';
  if (!/^[0-9a-f]{64}$/.test(hash)) {
    throw invalidField(name, 'Transaction hash must be a hex-encoded, lowercase SHA-256 hash');
  }
  return hash;
}

/** @throws Problem if the amount is not above zero */
export function amountParam({ params }: Asked, name: string): bigint {
  const text = params.get(name) ?? '';
  if (text === '') throw invalidField(name, 'invalid amount format: ');
  const stroops = stroopsIn(text);
  if (stroops === undefined || stroops === 0n) throw invalidField(name, 'Amount must be positive');
  return stroops;
}

/** An asset, from parameters for its type, code and issuer. @throws Problem */
export function assetParam({ params }: Asked, prefix: string): AssetName {
  const [type = '', code = '', issuer = ''] = ['type', 'code', 'issuer'].map(
    (part) => params.get(`${prefix}asset_${part}`) ?? '',
  );
  const refuse = (part: string, reason: string) => invalidField(`${prefix}asset_${part}`, reason);
  const length = LENGTHS[type];
  if (type === '' && (code !== '' || issuer !== '')) throw refuse('type', 'Missing parameter');
  if (length === undefined)
    throw refuse('type', type === '' ? NO_TYPE : 'Asset type must be native, credit_alphanum4 or credit_alphanum12');
  if (type === NATIVE) {
    if (code !== '') throw refuse('code', 'native asset does not have a code');
    if (issuer !== '') throw refuse('issuer', 'native asset does not have an issuer');
    return NATIVE;
  }
  if (code === '' || code.length > length) throw refuse('code', 'Asset code must be 1-12 alphanumeric characters');
  if (issuer === '') throw refuse('issuer', 'Missing parameter');
  if (!StrKey.isValidEd25519PublicKey(issuer)) throw refuse('issuer', NO_ACCOUNT);
  return `${code}:${issuer}`;
}

/** Assets as `native` and `CODE:ISSUER`, separated by commas. @throws Problem */
export function assetsParam({ params }: Asked, name: string, most: number): AssetName[] {
  const text = params.get(name) ?? '';
  const assets = text === '' ? [] : text.split(',').map((asset) => assetIn(asset, name));
  if (assets.length > most) throw invalidField(name, `list of assets exceeds maximum length of ${most}`);
  return assets;
}

function assetIn(text: string, name: string): AssetName {
  if (text.toLowerCase() === NATIVE) return NATIVE;
  const [code = '', issuer, ...rest] = text.split(':');
  if (issuer === undefined || rest.length > 0) throw invalidField(name, `${text} is not a valid asset`);
  if (!/^[a-zA-Z0-9]{1,12}$/.test(code)) {
    throw invalidField(name, `${text} is not a valid asset, it contains an invalid asset code`);
  }
  if (!StrKey.isValidEd25519PublicKey(issuer)) {
    throw invalidField(name, `${text} is not a valid asset, it contains an invalid issuer`);
  }
  return text;
}

/** @throws Problem if the limit is invalid */
export function limitParam({ params }: Asked, usual: number): number {
  const text = params.get('limit') ?? '';
  if (text === '') return usual;
  if (!/^-?\d+$/.test(text)) throw invalidField('limit', 'unparseable value');
  const limit = Number(text);
  if (limit <= 0) throw invalidField('limit', 'invalid limit: non-positive value provided');
  if (limit > 200) throw invalidField('limit', 'invalid limit: value provided that is over limit max of 200');
  return limit;
}

/** An asset's type, code and issuer, as fields with this prefix. */
export function assetFields(name: AssetName, prefix = ''): Record<string, string> {
  const asset = assetOf(name);
  if (asset.isNative()) return { [`${prefix}asset_type`]: NATIVE };
  return {
    [`${prefix}asset_type`]: asset.getAssetType(),
    [`${prefix}asset_code`]: asset.getCode(),
    [`${prefix}asset_issuer`]: asset.getIssuer() ?? '',
  };
}
