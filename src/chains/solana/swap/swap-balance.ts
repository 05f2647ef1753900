import type { ReadFromEndpoint, RpcClient } from '../../../egress/rpc/rpc-client.ts';
import type { ParsedRequest, RelayerAccount } from '../../chain-client.ts';
import { amountToSwap } from '../../policy-fields.ts';
import { type AllowedToken, readPolicy } from '../configuration/policy.ts';
import { WRAPPED_SOL } from '../programs.ts';
import { getAccounts } from '../rpc-calls.ts';
import type { SolanaRequest } from '../schema.ts';
import { associatedAccount } from '../tokens/associated.ts';
import { type Mint, readMint } from '../tokens/mint.ts';
import { readTokenAccount } from '../tokens/token-account.ts';

/** What a relayer has of a token, and how much of that is to be swapped. */
export interface SwapBalance {
  token: AllowedToken;
  mint: Mint;
  /** The relayer's account of the token. */
  account: string;
  /** In the token's smallest unit. */
  held: bigint;
  swapped: bigint;
}

/**
 * How much of each token is to be swapped now. Left out are tokens with nothing to swap, and tokens whose transfers
 * call a program of their own. Wrapped SOL is left out too: the next swap unwraps it.
 */
export async function swapBalancesOf(
  read: ReadFromEndpoint,
  wallet: string,
  tokens: readonly AllowedToken[],
): Promise<SwapBalance[]> {
  const swappable = tokens.filter(({ mint }) => mint !== WRAPPED_SOL);
  const mints = await getAccounts(
    read,
    swappable.map(({ mint }) => mint),
  );
  const known = swappable.flatMap((token, index) => {
    const mint = readMint(token.mint, mints[index]);
    return mint === undefined || mint.hasHook ? [] : [{ token, mint, account: associatedAccount(wallet, mint) }];
  });
  const accounts = await getAccounts(
    read,
    known.map(({ account }) => account),
  );
  return known.flatMap((one, index): SwapBalance[] => {
    const account = readTokenAccount(accounts[index]);
    if (account === undefined || account.owner !== wallet || account.isFrozen) return [];
    const swapped = amountToSwap(account.amount, one.token.swapped);
    return swapped === 0n ? [] : [{ ...one, held: account.amount, swapped }];
  });
}

/** A request to swap each token of which there is something to swap. Its amounts are found when it is signed. */
export async function swapRequestsOf(rpc: RpcClient, { address, policies }: RelayerAccount): Promise<ParsedRequest[]> {
  const { swapConfig: swaps, allowedTokens } = readPolicy(policies);
  if (swaps === null) return [];
  const stocks = await rpc.onOne((read) => swapBalancesOf(read, address, allowedTokens));
  return stocks.map(({ token: { mint } }) => ({
    request: { swap: { mint } } satisfies SolanaRequest,
    validUntil: null,
    contentKey: `swap:${mint}`,
    anchorKind: 'none',
    onDeath: 'renew',
  }));
}
