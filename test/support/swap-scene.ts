import { NATIVE_MINT } from '@solana/spl-token';
import { PublicKey, type TransactionInstruction, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { readPolicy } from '../../src/chains/solana/configuration/policy.ts';
import type { CompiledMessage } from '../../src/chains/solana/message/compiled-message.ts';
import { decodeTransaction, type WireTransaction } from '../../src/chains/solana/message/transaction.ts';
import { TOKEN_PROGRAM, WRAPPED_SOL } from '../../src/chains/solana/programs.ts';
import type { SwapContext } from '../../src/chains/solana/swap/plan.ts';
import type { SwapBalance } from '../../src/chains/solana/swap/swap-balance.ts';
import { associatedAccount } from '../../src/chains/solana/tokens/associated.ts';
import { type Mint, readMint } from '../../src/chains/solana/tokens/mint.ts';
import type { JsonObject } from '../../src/domain/json/json.ts';
import { keyOf, type NodeAccount } from './solana-node.ts';
import { MINT, relayerAddress, TOKENS } from './sponsor-scene.ts';
import { mintAccount, tokensAccount } from './token-accounts.ts';

export const RELAYER_KEY = new PublicKey(relayerAddress);
export const SOURCE = associatedAccount(relayerAddress, { address: MINT, program: TOKEN_PROGRAM });
export const WRAPPED = associatedAccount(relayerAddress, { address: WRAPPED_SOL, program: TOKEN_PROGRAM });
export const SOMEBODY = keyOf(77);

/** The accounts on the chain: the relayer's 1,000 of the token, and wrapped SOL. */
export const SWAP_ACCOUNTS: Readonly<Record<string, NodeAccount>> = {
  ...TOKENS,
  [SOURCE]: tokensAccount(MINT, relayerAddress, 1_000n),
  [NATIVE_MINT.toBase58()]: mintAccount(9),
};

export const SWAP_POLICIES: JsonObject = {
  allowed_tokens: [{ mint: MINT }],
  swap_config: { strategy: 'jupiter-swap', cron_schedule: '0 * * * * *' },
};

function mintOf(address: string, decimals: number): Mint {
  const { owner, data } = mintAccount(decimals);
  const mint = readMint(address, { lamports: 1n, owner, isExecutable: false, data });
  if (mint === undefined) throw new Error('a mint is one');
  return mint;
}

/** All of the token is to be swapped. */
export function stockOf(over: Partial<SwapBalance> = {}): SwapBalance {
  const [token] = readPolicy(SWAP_POLICIES).allowedTokens;
  if (token === undefined) throw new Error('the policies name a token');
  return { token, mint: mintOf(MINT, 6), account: SOURCE, held: 1_000n, swapped: 1_000n, ...over };
}

/** What a market has built for the relayer. */
export function builtBy(...instructions: TransactionInstruction[]): WireTransaction {
  const message = new TransactionMessage({ payerKey: RELAYER_KEY, recentBlockhash: keyOf(7), instructions });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  return decodeTransaction(Buffer.from(transaction.serialize()).toString('base64'));
}

/** A swap for 2,000,000 lamports, of which 1,980,000 have to arrive. */
export function swappingOf(transaction: WireTransaction, over: Partial<SwapContext> = {}): SwapContext {
  const policy = readPolicy(SWAP_POLICIES);
  if (policy.swapConfig === null) throw new Error('the policies have a swap');
  return {
    relayer: relayerAddress,
    stock: stockOf(),
    policy,
    swaps: policy.swapConfig,
    wrapped: mintOf(WRAPPED_SOL, 9),
    offer: { transaction, promised: 2_000_000n, least: 1_980_000n },
    funds: 1_000_000_000n,
    committed: 0n,
    ...over,
  };
}

/** The programs and the first bytes of a message's instructions. */
export const partsOf = ({ keys, instructions }: CompiledMessage): string[] =>
  instructions.map(({ program, data }) => `${(keys[program] ?? '').slice(0, 5)} ${data[0] ?? ''}`.trim());
