import { createTransferCheckedInstruction, getAssociatedTokenAddressSync } from '@solana/spl-token';
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import type { Test } from 'tap';
import { Sponsor } from '../../src/chains/solana/sponsor/sponsor.ts';
import type { MarketClient } from '../../src/egress/market-client.ts';
import type { RpcClient } from '../../src/egress/rpc/rpc-client.ts';
import { NO_MARKET } from './no-market.ts';
import { keypair } from './solana-messages.ts';
import { keyOf, type NodeAccount, type NodeWorld, openSolana } from './solana-node.ts';
import { RELAYER } from './solana-relayer.ts';
import { mintAccount, tokensAccount } from './token-accounts.ts';

/** A user with tokens, and the token. */
export const USER = keypair(31);
export const MINT = keyOf(41);
export const relayerAddress = RELAYER.publicKey.toBase58();
export const userAddress = USER.publicKey.toBase58();

const SOL = 'So11111111111111111111111111111111111111112';

/** A wallet's account of the token. */
export const accountOf = (wallet: string): string =>
  getAssociatedTokenAddressSync(new PublicKey(MINT), new PublicKey(wallet), true).toBase58();

/** Moves some of the token from the user to a wallet. */
export function payTo(wallet: string, amount: bigint): TransactionInstruction {
  const [source, to] = [accountOf(userAddress), accountOf(wallet)].map((key) => new PublicKey(key));
  return createTransferCheckedInstruction(
    source as PublicKey,
    new PublicKey(MINT),
    to as PublicKey,
    USER.publicKey,
    amount,
    6,
  );
}

/** The accounts on the chain: the token, the user's 100,000,000 of it, and an empty account of the relayer. */
export const TOKENS: Readonly<Record<string, NodeAccount>> = {
  [MINT]: mintAccount(6),
  [accountOf(userAddress)]: tokensAccount(MINT, userAddress, 100_000_000n),
  [accountOf(relayerAddress)]: tokensAccount(MINT, relayerAddress, 0n),
};

/** A market in which a lamport is worth two of the token's smallest unit. */
export const DOUBLE_MARKET: MarketClient = {
  ...NO_MARKET,
  get: async (_path, { amount = '0', outputMint = '' }) => ({
    inputMint: SOL,
    inAmount: amount,
    outputMint,
    outAmount: String(BigInt(amount) * 2n),
  }),
};

/** A sponsor over a node with this view. */
export async function openSponsor(
  t: Test,
  world: NodeWorld = {},
  market = DOUBLE_MARKET,
): Promise<{ sponsor: Sponsor; rpc: RpcClient }> {
  const { rpc } = await openSolana(t, { accounts: TOKENS, fee: 10_000, ...world });
  return { sponsor: new Sponsor({ sideOf: () => rpc, genesisOf: async () => 'a chain', market }), rpc };
}
