import type { ReadOne, RpcClient } from '../../../egress/rpc/rpc-client.ts';
import type { Account } from '../../chain-client.ts';
import { answersInTime } from '../../quorum.ts';
import { isContract } from '../address.ts';
import { readPolicy, type StellarPolicy } from '../configuration/policy.ts';
import { isToken } from '../price/token.ts';
import { accountAt } from '../provider.ts';
import { type Exchanges, strategyFor } from '../swap/exchanges.ts';

/**
 * What is wrong with the tokens that the policies allow, and with swaps for which this network has no market. A token's
 * fault counts only when every endpoint that answers shows it.
 */
export async function unknownAllowed(rpc: RpcClient, exchanges: Exchanges, account: Account): Promise<string[]> {
  const policy = readPolicy(account.policies);
  const placeless = policy.swaps === null ? [] : swapFaults(policy, exchanges);
  const tokens = policy.allowedTokens.map(({ asset }) => asset).filter((asset) => asset !== 'native');
  if (tokens.length === 0) return placeless;
  const faultsOn = async (read: ReadOne) =>
    (await Promise.all(tokens.map((asset) => tokenFault(read, asset, account.address)))).flat();
  const { read, faults } = await rpc.onOne(async (read) => ({ read, faults: await faultsOn(read) }));
  if (faults.length === 0 || rpc.endpointCount < 2) return [...placeless, ...faults];
  const others = await answersInTime(rpc.onOthers(read, faultsOn));
  return [...placeless, ...faults.filter((fault) => others.every((told) => told.includes(fault)))];
}

async function tokenFault(read: ReadOne, asset: string, relayer: string): Promise<string[]> {
  if (isContract(asset)) {
    if (await isToken(read, asset, relayer)) return [];
    return [`allowed_tokens: ${asset} is not a token on this network; correct it, or take it out`];
  }
  const [, issuer = ''] = asset.split(':');
  if ((await accountAt(read, issuer)).account !== null) return [];
  return [`allowed_tokens: the issuer of ${asset} is not on this network; correct it, or take it out`];
}

/** Swaps that the policies ask for and that this network has no market for. */
function swapFaults({ allowedTokens, swaps }: StellarPolicy, { books, soroswap }: Exchanges): string[] {
  const used = new Set(allowedTokens.map(({ asset }) => strategyFor(asset, swaps?.strategies ?? [])));
  return [
    ...(used.has('order-book') && books.horizon === null
      ? ['swap_config: order-book needs the horizon_url of the network']
      : []),
    ...(used.has('soroswap') && soroswap === null
      ? ['swap_config: soroswap has no router on this network; name it in the environment, or take it out']
      : []),
  ];
}
