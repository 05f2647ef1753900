import { Asset, type xdr } from '@stellar/stellar-sdk/base';
import { invalidRequest } from '../../../domain/errors.ts';
import type { ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import { isContractAddress } from '../address.ts';
import {
  type AllowedToken,
  assetFault,
  canonicalAsset,
  maxFeeFault,
  policyFault,
  type StellarPolicy,
  type StellarSubjects,
} from '../configuration/policy.ts';
import { getContract } from '../rpc-calls.ts';

/** An asset that a fee is paid in and that the policies allow. */
export interface FeeToken {
  /** The canonical name. */
  name: string;
  asset: Asset;
  /** The policies' entry for the asset; undefined where they list no tokens. */
  allowed: AllowedToken | undefined;
}

/** @throws AppError `INVALID_REQUEST` for a text that names no asset */
function assertAsset(text: string): void {
  const fault = assetFault(text);
  if (fault !== null) throw invalidRequest(`Invalid fee_token structure: Invalid asset identifier: ${fault}`);
}

/** @throws AppError `INVALID_REQUEST` */
export function feeTokenOf(text: string, policy: StellarPolicy): FeeToken {
  assertAsset(text);
  const name = canonicalAsset(text);
  if (isContractAddress(name)) throw invalidRequest(`No configured strategy can handle asset: ${name}`);
  return allowedAs(name, parseAssetName(name), policy);
}

/** An asset of the ledger by its name in the policies. */
export function parseAssetName(name: string): Asset {
  const [code = '', issuer = ''] = name.split(':');
  return name === 'native' ? Asset.native() : new Asset(code, issuer);
}

/** The canonical name of an asset, as in the policies. */
export function assetName(asset: Asset): string {
  return asset.isNative() ? 'native' : `${asset.code}:${asset.issuer}`;
}

/** The fee token that a payment names. @throws AppError `INVALID_REQUEST` where the policies do not allow it */
export function feeTokenOfAsset(asset: Asset, policy: StellarPolicy): FeeToken {
  return allowedAs(assetName(asset), asset, policy);
}

function allowedAs(name: string, asset: Asset, policy: StellarPolicy): FeeToken {
  return { name, asset, allowed: allowedToken([name], policy) };
}

/** The policies' entry for a token by one of its names. @throws AppError `INVALID_REQUEST` where they do not allow it */
function allowedToken(names: StellarSubjects['feeToken'], policy: StellarPolicy): AllowedToken | undefined {
  const fault = policyFault(policy, { feeToken: names });
  if (fault !== undefined) throw invalidRequest(fault.reason);
  return policy.allowedTokens.find((token) => names.includes(token.asset));
}

/** @throws AppError `INVALID_REQUEST` in the reference's words */
export function assertWithinLimit({ allowed }: FeeToken, tokens: bigint): void {
  const tooDear = maxFeeFault(tokens, allowed?.maxFee ?? null);
  if (tooDear !== undefined) throw invalidRequest(tooDear);
}

/** A contract's token in which fees for calls of contracts are paid. */
export interface ContractToken extends FeeToken {
  contract: string;
}

/**
 * The fee token of a contract. The contract has to be that of an asset of the ledger, and has that asset's price. The
 * policies may name either of the two.
 * @throws AppError `INVALID_REQUEST`
 */
export async function contractTokenOf(
  read: ReadFromEndpoint,
  contract: string,
  policy: StellarPolicy,
  passphrase: string,
): Promise<ContractToken> {
  const asset = await assetBehind(read, contract, passphrase);
  const allowed = allowedToken([contract, ...(asset === null ? [] : [assetName(asset)])], policy);
  // In the reference's words.
  if (asset === null) throw invalidRequest(`No configured strategy can handle asset: ${contract}`);
  return { name: contract, contract, asset, allowed };
}

/** The contract that a quote names. @throws AppError `INVALID_REQUEST` in the reference's words */
export function tokenContractOf(text: string, passphrase: string): string {
  if (isContractAddress(text)) return text;
  assertAsset(text);
  const [code = '', issuer] = text.split(':');
  const asset = issuer === undefined ? Asset.native() : new Asset(code, issuer);
  const own = asset.contractId(passphrase);
  throw invalidRequest(`fee_token must be a valid Soroban contract address (C...), got '${text}': its own is ${own}`);
}

/**
 * The ledger's asset that a contract stands for (CAP-46-6); null for a token of the contract's own. The address of the
 * contract follows from the asset, so no contract and no node can pretend to be it.
 */
async function assetBehind(read: ReadFromEndpoint, contract: string, passphrase: string): Promise<Asset | null> {
  const native = Asset.native();
  if (native.contractId(passphrase) === contract) return native;
  const instance = await getContract(read, contract);
  if (instance === null) throw invalidRequest(`There is no contract ${contract}`);
  const [code = '', issuer = ''] = nameIn(instance).split(':');
  try {
    const asset = new Asset(code, issuer);
    return asset.contractId(passphrase) === contract ? asset : null;
  } catch {
    return null;
  }
}

/** The name in the metadata of a token's contract. */
function nameIn({ storage }: xdr.ScContractInstance): string {
  const metadata = fieldOf(storage, 'METADATA');
  const name = metadata?.type === 'scvMap' ? fieldOf(metadata.map, 'name') : undefined;
  return name?.type === 'scvString' ? name.str.toString() : '';
}

function fieldOf(entries: readonly xdr.ScMapEntry[] | null, name: string): xdr.ScVal | undefined {
  return entries?.find(({ key }) => key.type === 'scvSymbol' && key.sym.toString() === name)?.val;
}
