import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import { isAddress } from '../address.ts';
import type { SolanaPolicy } from '../configuration/policy.ts';
import type { Instruction } from '../message/compile.ts';
import { SYSTEM_PROGRAM } from '../programs.ts';
import { accountsAt, balance } from '../provider.ts';
import { associatedAccount } from '../tokens/associated.ts';
import { grossFor, type Mint, readMint } from '../tokens/mint.ts';
import { readTokenAccount } from '../tokens/token-account.ts';
import { lamportsTransfer, tokensTransfer } from '../tokens/transfer.ts';
import { Refusal } from './errors.ts';

/** What fees are paid in and transfers move: a token, or the coin itself. */
export interface Asset {
  /** Of the coin, that of the System program, as in the reference. */
  address: string;
  decimals: number;
  /** Null of the coin. */
  mint: Mint | null;
}

const COIN: Asset = { address: SYSTEM_PROGRAM, decimals: 9, mint: null };

/**
 * Reads a token that was named, as far as the policies allow it; the coin is always taken.
 * @throws Refusal
 */
export async function assetOf(
  read: ReadOne,
  address: string,
  { allowedTokens }: Pick<SolanaPolicy, 'allowedTokens'>,
): Promise<Asset> {
  if (!isAddress(address)) throw new Refusal('params', `${JSON.stringify(address.slice(0, 50))} is no address`);
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

/** What has to be sent so that so much of it arrives. */
export function grossOf({ mint }: Asset, net: bigint): bigint {
  return mint === null ? net : grossFor(mint, net);
}

/** Moves some of it from a wallet to a wallet, between the accounts that both have for it. */
export function transferOf({ mint }: Asset, from: string, to: string, amount: bigint): Instruction {
  if (mint === null) return lamportsTransfer(from, to, amount);
  const [source, destination] = [associatedAccount(from, mint), associatedAccount(to, mint)];
  return tokensTransfer({ mint, source, destination, authority: from, amount });
}

/** How much of it a wallet has. @throws Refusal where it has no account for it */
export async function holdings(read: ReadOne, { address, mint }: Asset, wallet: string): Promise<bigint> {
  if (mint === null) return balance(read, wallet);
  const [account] = await accountsAt(read, [associatedAccount(wallet, mint)]);
  const held = readTokenAccount(account);
  if (held === undefined) throw new Refusal('token', `${wallet} has no account for ${address}`);
  return held.amount;
}

/** Whether a wallet's account for it is known not to be there, so that it has to be made. */
export async function isAccountMissing(read: ReadOne, { mint }: Asset, wallet: string): Promise<boolean> {
  if (mint === null) return false;
  const [account] = await accountsAt(read, [associatedAccount(wallet, mint)]);
  return account === null;
}
