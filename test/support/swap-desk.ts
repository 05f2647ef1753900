import {
  createApproveInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  createSyncNativeInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
  NATIVE_MINT,
} from '@solana/spl-token';
import {
  ComputeBudgetProgram,
  type Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { Test } from 'tap';
import { createMarketClient, createMarketHttp, type MarketClient } from '../../src/egress/market-client.ts';
import { type DeskTrade, type Jupiter, startJupiter } from './jupiter.ts';
import type { SvmScene } from './svm-scene.ts';
import type { Token } from './token-scene.ts';

/** Changes the instructions of a swap before it is handed out. */
export type Lie = (instructions: TransactionInstruction[], trade: DeskTrade) => TransactionInstruction[];

/** A market behind Jupiter's API that really trades on an SVM. */
export interface SwapDesk {
  readonly jupiter: Jupiter;
  readonly market: MarketClient;
  readonly maker: Keypair;
  /** The account of wrapped SOL that pays for swaps. */
  readonly vault: PublicKey;
  /** Makes it build false swaps in this way from now on; null: honest ones. */
  lie(how: Lie | null): void;
  /** Makes it pay from a vault whose SOL this wallet may move. So no program of a market is needed. */
  serve(wallet: PublicKey): Promise<void>;
}

/** Starts it with 50 SOL; it ends with the test. */
export async function openDesk(t: Test, scene: SvmScene, tokens: readonly Token[]): Promise<SwapDesk> {
  const jupiter = await startJupiter(t);
  const http = createMarketHttp();
  t.teardown(() => http.close());
  const maker = await scene.funded();
  for (let more = 0; more < 5; more += 1) await scene.svm.airdrop(maker.publicKey.toBase58(), 10_000_000_000n);
  const wrappedOf = (wallet: PublicKey) => getAssociatedTokenAddressSync(NATIVE_MINT, wallet);
  const vault = wrappedOf(maker.publicKey);
  await scene.land(
    await scene.signed(
      [maker],
      createAssociatedTokenAccountIdempotentInstruction(maker.publicKey, vault, maker.publicKey, NATIVE_MINT),
      SystemProgram.transfer({ fromPubkey: maker.publicKey, toPubkey: vault, lamports: 50_000_000_000 }),
      createSyncNativeInstruction(vault),
    ),
  );
  for (const token of tokens) await token.give(maker.publicKey, 1n);
  let lie: Lie | null = null;

  async function build(trade: DeskTrade): Promise<string> {
    const token = tokens.find(({ mint }) => mint.toBase58() === trade.mint);
    if (token === undefined) throw new Error(`${trade.mint} is not traded`);
    const user = new PublicKey(trade.user);
    const [mint, from, to] = [token.mint, token.accountOf(user), token.accountOf(maker.publicKey)];
    const wrapped = wrappedOf(user);
    const honest = [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 300_000 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000 }),
      createAssociatedTokenAccountIdempotentInstruction(user, wrapped, user, NATIVE_MINT),
      createTransferCheckedInstruction(from, mint, to, user, trade.amount, token.decimals, [], token.program),
      createTransferCheckedInstruction(vault, NATIVE_MINT, wrapped, user, trade.out, 9),
      ...(trade.staysWrapped ? [] : [createCloseAccountInstruction(wrapped, user, user)]),
    ];
    const { blockhash: recentBlockhash } = await scene.connection.getLatestBlockhash();
    const instructions = lie === null ? honest : lie(honest, trade);
    const message = new TransactionMessage({ payerKey: user, recentBlockhash, instructions }).compileToV0Message();
    return Buffer.from(new VersionedTransaction(message).serialize()).toString('base64');
  }

  jupiter.trade({ build, land: (signed) => scene.connection.sendRawTransaction(Buffer.from(signed, 'base64')) });
  return {
    jupiter,
    maker,
    vault,
    market: createMarketClient({ url: jupiter.url, apiKey: undefined, http }),
    lie(how) {
      lie = how;
    },
    async serve(wallet) {
      await scene.land(
        await scene.signed([maker], createApproveInstruction(vault, wallet, maker.publicKey, 40_000_000_000n)),
      );
    },
  };
}
