import { AccountLayout, MintLayout, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import type { NodeAccount } from './solana-node.ts';

/** A token's mint as the chain keeps it. */
export function mintAccount(decimals: number): NodeAccount {
  const data = Buffer.alloc(MintLayout.span);
  MintLayout.encode(
    {
      mintAuthorityOption: 0 as const,
      mintAuthority: PublicKey.default,
      supply: 0n,
      decimals,
      isInitialized: true,
      freezeAuthorityOption: 0 as const,
      freezeAuthority: PublicKey.default,
    },
    data,
  );
  return { owner: TOKEN_PROGRAM_ID.toBase58(), data };
}

/** An account of tokens as the chain keeps it. */
export function tokensAccount(mint: string, owner: string, amount: bigint): NodeAccount {
  const data = Buffer.alloc(AccountLayout.span);
  AccountLayout.encode(
    {
      mint: new PublicKey(mint),
      owner: new PublicKey(owner),
      amount,
      delegateOption: 0 as const,
      delegate: PublicKey.default,
      state: 1,
      isNativeOption: 0 as const,
      isNative: 0n,
      delegatedAmount: 0n,
      closeAuthorityOption: 0 as const,
      closeAuthority: PublicKey.default,
    },
    data,
  );
  return { owner: TOKEN_PROGRAM_ID.toBase58(), data };
}
