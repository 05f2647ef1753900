import type { WireObject } from '../../../domain/json/json.ts';
import { type RpcClient, RpcError } from '../../../egress/rpc/rpc-client.ts';
import type { RelayerAccount } from '../../chain-client.ts';
import { addressBytes } from '../address.ts';
import { type AllowedToken, readPolicy } from '../configuration/policy.ts';
import { getAccounts, type OnChainAccount } from '../rpc-calls.ts';
import { programAddress } from '../tokens/associated.ts';
import { MINT_EXTENSIONS, type Mint, readMint } from '../tokens/mint.ts';

/** The tokens that the policies allow, with the chain's figures; where no node answers, with those of the policies. */
export async function supportedTokens(rpc: RpcClient, { policies }: RelayerAccount): Promise<WireObject> {
  const { allowedTokens } = readPolicy(policies);
  const addresses = [
    ...allowedTokens.map(({ mint }) => mint),
    ...allowedTokens.map(({ mint }) => metadataAddress(mint)),
  ];
  const found = addresses.length === 0 ? [] : await rpc.onOne((read) => getAccounts(read, addresses)).catch(unknown);
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

/** Metaplex's program. */
const METADATA_PROGRAM = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s';

/**
 * Where the texts begin in Metaplex's account: after kind, authority and mint. They are name, symbol and address, each
 * after its length.
 */
const TEXTS_AT = 1 + 32 + 32;
/** Where the same texts begin in Token-2022's extension: after authority and mint. */
const EXTENSION_TEXTS_AT = 32 + 32;
const LENGTH_SIZE = 4;
const MAX_SYMBOL = 32;

/** The address of Metaplex's account with the name and the symbol of a token. */
export function metadataAddress(mint: string): string {
  return programAddress(
    [Buffer.from('metadata'), addressBytes(METADATA_PROGRAM), addressBytes(mint)],
    METADATA_PROGRAM,
  );
}

/** A token's symbol: its own, or the one that Metaplex has; undefined where neither has one. */
export function symbolOf(mint: Mint, metadata: OnChainAccount | null | undefined): string | undefined {
  const own = mint.extensions.get(MINT_EXTENSIONS.metadata);
  const ownSymbol = own === undefined ? undefined : secondText(own, EXTENSION_TEXTS_AT);
  if (ownSymbol !== undefined || metadata == null || metadata.owner !== METADATA_PROGRAM) return ownSymbol;
  return secondText(metadata.data, TEXTS_AT);
}

/** Reads the second text, the symbol. Anybody may write it, so a long or unprintable text is ignored. */
function secondText(data: Buffer, from: number): string | undefined {
  const first = sized(data, from);
  const second = first === undefined ? undefined : sized(data, first.end);
  if (second === undefined || second.text.length > MAX_SYMBOL) return undefined;
  // Metaplex pads texts with zeros.
  const text = second.text.toString('utf8').replaceAll('\0', '').trim();
  return text === '' || /[\p{C}\uFFFD]/u.test(text) ? undefined : text;
}

function sized(data: Buffer, at: number): { text: Buffer; end: number } | undefined {
  if (at + LENGTH_SIZE > data.length) return undefined;
  const start = at + LENGTH_SIZE;
  const end = start + data.readUInt32LE(at);
  return end > data.length ? undefined : { text: data.subarray(start, end), end };
}
