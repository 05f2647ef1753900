import { Asset, type xdr } from '@stellar/stellar-sdk/base';
import { invalidRequest } from '../../../domain/errors.ts';
import type { ReadFromEndpoint, RpcClient } from '../../../egress/rpc/rpc-client.ts';
import type { RelayerAccount } from '../../chain-client.ts';
import { faultsShownByAll } from '../../quorum.ts';
import { isContractAddress } from '../address.ts';
import { readPolicy, type StellarPolicy } from '../configuration/policy.ts';
import { BASE_FEE } from '../fees.ts';
import { accountOfMuxed, readEnvelope } from '../message/transaction-envelope.ts';
import { isToken } from '../price/simulation.ts';
import { getAccount, getSpendableBalance } from '../rpc-calls.ts';
import { assetName } from '../sponsor/asset.ts';
import { type SwapExchanges, swapStrategyFor } from '../swap/exchanges.ts';

/**
 * What is wrong with the tokens that the policies allow, and with swaps for which this network has no market. A token's
 * fault counts only when every endpoint that answers shows it.
 */
export async function policyFaults(
  rpc: RpcClient,
  exchanges: SwapExchanges,
  account: RelayerAccount,
): Promise<string[]> {
  const policy = readPolicy(account.policies);
  const placeless = policy.swapConfig === null ? [] : swapFaults(policy, exchanges);
  const tokens = policy.allowedTokens.map(({ asset }) => asset).filter((asset) => asset !== 'native');
  if (tokens.length === 0) return placeless;
  const faults = await faultsShownByAll(rpc, async (read) =>
    (await Promise.all(tokens.map((asset) => tokenFault(read, asset)))).flat(),
  );
  return [...placeless, ...faults];
}

async function tokenFault(read: ReadFromEndpoint, asset: string): Promise<string[]> {
  if (isContractAddress(asset)) {
    if (await isToken(read, asset)) return [];
    return [`allowed_tokens: ${asset} is not a token on this network; correct it, or remove it`];
  }
  const [, issuer = ''] = asset.split(':');
  if ((await getAccount(read, issuer)).account !== null) return [];
  return [`allowed_tokens: the issuer of ${asset} is not on this network; correct it, or remove it`];
}

/** Swaps that the policies ask for and that this network has no market for. */
function swapFaults({ allowedTokens, swapConfig: swaps }: StellarPolicy, { books, soroswap }: SwapExchanges): string[] {
  const used = new Set(allowedTokens.map(({ asset }) => swapStrategyFor(asset, swaps?.strategies ?? [])));
  return [
    ...(used.has('order-book') && books.horizon === null
      ? ['swap_config: order-book needs the horizon_url of the network']
      : []),
    ...(used.has('soroswap') && soroswap === null
      ? ['swap_config: soroswap has no router on this network; set it in the environment, or remove this strategy']
      : []),
  ];
}

/** The highest limit of a trust line. */
const ALL = 2n ** 63n - 1n;

/**
 * The assets for which a transaction of the relayer's own opens trust lines, where it does nothing else. Each has to be
 * an asset in which users pay, without a limit, and the transaction has to bid the least fee. Undefined for any other
 * transaction.
 */
export function trustLineAssets(
  { operations, fee, sourceAccount }: xdr.Transaction,
  { allowedTokens }: StellarPolicy,
): readonly Asset[] | undefined {
  const relayer = accountOfMuxed(sourceAccount);
  const own = operations.filter(({ sourceAccount: source }) => source === null || accountOfMuxed(source) === relayer);
  const assets = own.flatMap(({ body }) => assetOf(body) ?? []);
  const isAllowed = (asset: Asset) => allowedTokens.some((token) => token.asset === `${asset.code}:${asset.issuer}`);
  if (assets.length < operations.length || !assets.every(isAllowed)) return undefined;
  return BigInt(fee) > BASE_FEE * BigInt(operations.length) ? undefined : assets;
}

function assetOf(body: xdr.OperationBody): Asset | undefined {
  if (body.type !== 'changeTrust' || body.changeTrustOp.limit !== ALL) return undefined;
  const { line } = body.changeTrustOp;
  return line.type === 'assetTypeCreditAlphanum4' || line.type === 'assetTypeCreditAlphanum12'
    ? Asset.fromOperation(line)
    : undefined;
}

/**
 * Why a relayer whose users pay does not send an envelope of its own that opens trust lines; undefined where it does.
 * Only trust lines that are not there yet are opened, since each transaction costs the relayer a fee.
 */
export async function trustLineFault(
  read: ReadFromEndpoint,
  { transaction: text }: { transaction: string },
  { address, policies }: RelayerAccount,
): Promise<string | undefined> {
  const policy = readPolicy(policies);
  if (policy.feePaymentStrategy !== 'user') return undefined;
  const assets = trustLineAssets(readEnvelope(text).transaction, policy) ?? [];
  const names = assets.map(assetName);
  const twice = names.find((name, place) => names.indexOf(name) < place);
  if (twice !== undefined) return `The trust line for ${twice} is asked for twice`;
  const held = await Promise.all(assets.map((asset) => getSpendableBalance(read, address, asset)));
  const known = held.findIndex((amount) => amount !== null);
  return known < 0 ? undefined : `The relayer has a trust line for ${names[known]} already`;
}

/** @throws AppError `INVALID_REQUEST` */
export async function assertTrustLines(
  read: ReadFromEndpoint,
  asked: { transaction: string },
  account: RelayerAccount,
): Promise<void> {
  const fault = await trustLineFault(read, asked, account);
  if (fault !== undefined) throw invalidRequest(fault);
}
