import type { WireObject } from '../../../domain/json/json.ts';
import { type RpcClient, RpcError } from '../../../egress/rpc/rpc-client.ts';
import type { Account } from '../../chain-client.ts';
import { type AllowedToken, readPolicy } from '../configuration/policy.ts';
import { accountsAt, type OnChainAccount } from '../provider.ts';
import { metadataAddress, symbolOf } from '../tokens/metadata.ts';
import { readMint } from '../tokens/mint.ts';

/** The tokens that the policies allow, with the chain's figures; where no node answers, with those of the policies. */
export async function supportedTokens(rpc: RpcClient, { policies }: Account): Promise<WireObject> {
  const { allowedTokens } = readPolicy(policies);
  const addresses = [
    ...allowedTokens.map(({ mint }) => mint),
    ...allowedTokens.map(({ mint }) => metadataAddress(mint)),
  ];
  const found = addresses.length === 0 ? [] : await rpc.onOne((read) => accountsAt(read, addresses)).catch(unknown);
  return {
    tokens: allowedTokens.map((token, index) => view(token, found[index], found[allowedTokens.length + index])),
  };
}

function unknown(error: unknown): OnChainAccount[] {
  if (error instanceof RpcError) return [];
  throw error;
}

function view(
  token: AllowedToken,
  account: OnChainAccount | null | undefined,
  metadata: OnChainAccount | null | undefined,
): WireObject {
  const mint = readMint(token.mint, account);
  return {
    mint: token.mint,
    symbol: (mint === undefined ? undefined : symbolOf(mint, metadata)) ?? token.symbol ?? '',
    decimals: mint?.decimals ?? token.decimals ?? 0,
    max_allowed_fee: token.maxFee,
    conversion_slippage_percentage: token.slippage,
  };
}
