import type { TransactionInstruction } from '@solana/web3.js';
import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import { isAddress } from '../address.ts';
import type { SolanaPolicy } from '../configuration/policy.ts';
import { SYSTEM_PROGRAM } from '../programs.ts';
import { accountsAt, balance } from '../provider.ts';
import { associatedAccount } from '../tokens/associated.ts';
import { grossFor, type Mint, readMint } from '../tokens/mint.ts';
import { readTokenAccount } from '../tokens/token-account.ts';
import { lamportsTransfer, tokensTransfer } from '../tokens/transfer.ts';
import { Refusal } from './errors.ts';

/** A token, or the coin itself: fees are paid in it, and transfers move it. */
export interface Asset {
  /** The mint. For the coin: the System program's address, as in the reference. */
  address: string;
  decimals: number;
  /** Null for the coin. */
  mint: Mint | null;
}

const COIN: Asset = { address: SYSTEM_PROGRAM, decimals: 9, mint: null };

/**
 * Reads the asset that a request names. The coin is always allowed; a token only if the policies allow it.
 * @throws Refusal
 */
export async function assetOf(
  read: ReadOne,
  address: string,
  { allowedTokens }: Pick<SolanaPolicy, 'allowedTokens'>,
): Promise<Asset> {
  if (!isAddress(address)) throw new Refusal('params', `${JSON.stringify(address.slice(0, 50))} is not an address`);
  if (address === COIN.address) return COIN;
  if (allowedTokens.length > 0 && !allowedTokens.some(({ mint }) => mint === address)) {
    throw new Refusal('validation', `Policy violation: Token ${address} not allowed for transfers`);
  }
  const [account] = await accountsAt(read, [address]);
  const mint = readMint(address, account);
  if (mint === undefined) throw new Refusal('token', `${address} is no token`);
  if (mint.hasHook) throw new Refusal('token', `${address} calls a program with each transfer, which is not supported`);
  return { address, decimals: mint.decimals, mint };
}

/** The amount to send so that the net amount arrives. */
export function grossOf({ mint }: Asset, net: bigint): bigint {
  return mint === null ? net : grossFor(mint, net);
}

/** Moves an amount from one wallet to another. A token moves between their associated accounts. */
export function transferOf({ mint }: Asset, from: string, to: string, amount: bigint): TransactionInstruction {
  if (mint === null) return lamportsTransfer(from, to, amount);
  const [source, destination] = [associatedAccount(from, mint), associatedAccount(to, mint)];
  return tokensTransfer({ mint, source, destination, authority: from, amount });
}

/** How much of the asset a wallet has. @throws Refusal where the wallet has no account for it */
export async function holdings(read: ReadOne, { address, mint }: Asset, wallet: string): Promise<bigint> {
  if (mint === null) return balance(read, wallet);
  const [account] = await accountsAt(read, [associatedAccount(wallet, mint)]);
  const held = readTokenAccount(account);
  if (held === undefined) throw new Refusal('token', `${wallet} has no account for ${address}`);
  return held.amount;
}

/** Whether the chain has no account of the wallet for the asset, so that one has to be made. */
export async function isAccountMissing(read: ReadOne, { mint }: Asset, wallet: string): Promise<boolean> {
  if (mint === null) return false;
  const [account] = await accountsAt(read, [associatedAccount(wallet, mint)]);
  return account === null;
}
