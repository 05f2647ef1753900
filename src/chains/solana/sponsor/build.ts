import type { TransactionInstruction } from '@solana/web3.js';
import type { ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import type { RelayerAccount } from '../../chain-client.ts';
import { isAddress } from '../address.ts';
import { readPolicy, type SolanaPolicy, type SolanaSubjects } from '../configuration/policy.ts';
import { guardOptionsOf, policyFaultText, policyViolation } from '../guard/policies.ts';
import { tokenFault } from '../guard/tokens.ts';
import { type CompiledMessage, compileLegacyMessage, encodeMessage } from '../message/compiled-message.ts';
import { durableNonceOf } from '../message/durable-nonce.ts';
import { resolveLookupTables } from '../message/lookup-tables.ts';
import { recomposeMessage } from '../message/recompose.ts';
import { decodeTransaction, encodeTransaction, SIGNATURE_LENGTH, transactionSize } from '../message/transaction.ts';
import { SYSTEM_PROGRAM, WRAPPED_SOL } from '../programs.ts';
import { getAccounts, getBalance, latestBlockhash } from '../rpc-calls.ts';
import { associatedAccount, createAssociatedAccountInstruction } from '../tokens/associated.ts';
import { grossBeforeTransferFee, type Mint, readMint } from '../tokens/mint.ts';
import { readTokenAccount } from '../tokens/token-account.ts';
import { lamportsTransfer, tokensTransfer } from '../tokens/transfer.ts';
import { GaslessRefusal } from './errors.ts';
import { lamportsInToken, sponsoredPriceOf, type TokenPriceSources } from './price.ts';

/** What a transaction costs its user, or would. */
export interface SponsoredQuote {
  asset: SponsoredAsset;
  lamports: bigint;
  /** The worth of the lamports, in the smallest unit of the asset. */
  tokens: bigint;
  /** The amount to send so that `tokens` arrive, where the token takes a part of each transfer. */
  gross: bigint;
}

/** A transaction that nobody has signed yet. */
export interface BuiltTransaction {
  /** Base64. */
  transaction: string;
  quote: SponsoredQuote;
  /** Null under a durable nonce. */
  lastValidBlockHeight: bigint | null;
}

/** The relayer's account, and where prices come from. */
export interface SponsoredBuildContext {
  account: RelayerAccount;
  prices: TokenPriceSources;
}

/** Rebuilds a user's transaction with the relayer as its payer. Where users pay, adds the payment of its fee. */
export async function buildPrepared(
  read: ReadFromEndpoint,
  { transaction, feeToken }: { transaction: string; feeToken: string },
  { account, prices }: SponsoredBuildContext,
): Promise<BuiltTransaction> {
  const { message } = decodeTransaction(transaction);
  const policy = readPolicy(account.policies);
  const asset = await readSponsoredAsset(read, feeToken, policy);
  const nonce = durableNonceOf(message);
  const latest = nonce === undefined ? await latestBlockhash(read) : undefined;
  const blockhash = latest?.blockhash ?? message.blockhash;
  const looked = await resolveLookupTables(read, message);
  if (looked.kind === 'fault') throw new GaslessRefusal('validation', looked.reason);
  const recomposition = { payer: account.address, blockhash, lookedUp: looked.addresses };
  const compose = (before: readonly TransactionInstruction[]) =>
    recomposeMessage(message, { ...recomposition, before });
  const [user = ''] = message.keys;
  const priced = await withFee(read, { compose, asset, user, spent: 0n, relayer: account.address, policy, prices });
  return { ...priced, lastValidBlockHeight: latest?.lastValidBlockHeight ?? null };
}

export interface TransferRequest {
  amount: bigint;
  token: string;
  source: string;
  destination: string;
}

/** Builds a transfer between two wallets with the relayer as its payer. */
export async function buildTransfer(
  read: ReadFromEndpoint,
  { amount, token, source, destination }: TransferRequest,
  { account, prices }: SponsoredBuildContext,
): Promise<BuiltTransaction> {
  const policy = readPolicy(account.policies);
  assertAllowed(policy, { accounts: [source, destination] });
  const asset = await readSponsoredAsset(read, token, policy);
  if (amount === 0n) throw new GaslessRefusal('validation', 'Amount must be greater than 0');
  const [isMissing, { blockhash, lastValidBlockHeight }] = await Promise.all([
    isAccountMissing(read, asset, destination),
    latestBlockhash(read),
  ]);
  // A user who pays the relayer back can have it make the account. Where the relayer pays, it pays for fees only.
  const payer = policy.feePaymentStrategy === 'user' ? account.address : source;
  const transfer = [
    ...(isMissing && asset.mint !== null ? [createAssociatedAccountInstruction(payer, destination, asset.mint)] : []),
    transferInstructionOf(asset, source, destination, amount),
  ];
  const compose = (before: readonly TransactionInstruction[]) =>
    compileLegacyMessage({ payer: account.address, blockhash, instructions: [...before, ...transfer] });
  const input = { compose, asset, user: source, spent: amount, relayer: account.address, policy, prices };
  return { ...(await withFee(read, input)), lastValidBlockHeight };
}

interface PricingInput {
  compose(before: readonly TransactionInstruction[]): CompiledMessage;
  asset: SponsoredAsset;
  /** Who pays the fee, where users do. */
  user: string;
  /** How much of the asset the user moves besides the fee. */
  spent: bigint;
  relayer: string;
  policy: SolanaPolicy;
  prices: TokenPriceSources;
}

/** Finds the price of a transaction and, where users pay it, puts the payment into it. */
async function withFee(
  read: ReadFromEndpoint,
  priced: PricingInput,
): Promise<Pick<BuiltTransaction, 'transaction' | 'quote'>> {
  const { compose, asset, user, spent, relayer, policy } = priced;
  if (policy.feePaymentStrategy === 'relayer') {
    const message = compose([]);
    return { transaction: unsigned(message), quote: await quoteOf(read, message, priced) };
  }
  if (user === relayer) throw new GaslessRefusal('params', 'The relayer cannot pay itself');
  // A swap closes the account of wrapped SOL, perhaps before this transaction is in a block.
  const mayClose = asset.address === WRAPPED_SOL && policy.swapConfig !== null;
  const isMissing = mayClose || (await isAccountMissing(read, asset, relayer));
  const making =
    isMissing && asset.mint !== null ? [createAssociatedAccountInstruction(relayer, relayer, asset.mint)] : [];
  const payment = (amount: bigint) => [...making, transferInstructionOf(asset, user, relayer, amount)];
  // The price of a message does not depend on the amounts in it.
  const quote = await quoteOf(read, compose(payment(1n)), priced);
  const held = await walletBalanceOf(read, asset, user);
  if (held < quote.gross + spent) {
    throw new GaslessRefusal('funds', `${user} has ${held} of ${asset.address}, and ${quote.gross + spent} are needed`);
  }
  return { transaction: unsigned(compose(payment(quote.gross))), quote };
}

async function quoteOf(
  read: ReadFromEndpoint,
  message: CompiledMessage,
  { asset, relayer, policy, prices }: PricingInput,
): Promise<SponsoredQuote> {
  const looked = await resolveLookupTables(read, message);
  if (looked.kind === 'fault') throw new GaslessRefusal('validation', looked.reason);
  const keys = [...message.keys, ...looked.addresses];
  const size = transactionSize(message);
  const violation =
    policyViolation({ message, size, lookedUp: looked.addresses }, relayer, policy, guardOptionsOf(policy)) ??
    (await tokenFault(read, message, keys, policy));
  if (violation !== undefined) throw new GaslessRefusal('validation', violation);
  const lamports = await sponsoredPriceOf(read, message, keys, policy);
  const tokens = await lamportsInToken(prices, asset.address, lamports, policy);
  const gross = grossAmountOf(asset, tokens);
  assertAllowed(policy, { tokenFee: { mint: asset.address, amount: gross } });
  return { asset, lamports, tokens, gross };
}

/** @throws Refusal where the policies forbid something */
export function assertAllowed(policy: SolanaPolicy, subjects: Partial<SolanaSubjects>): void {
  const fault = policyFaultText(policy, subjects);
  if (fault !== undefined) throw new GaslessRefusal('validation', fault);
}

/** @throws MalformedTransaction when it does not fit into a packet */
function unsigned(message: CompiledMessage): string {
  const empty = Array.from({ length: message.signers }, () => Buffer.alloc(SIGNATURE_LENGTH));
  return encodeTransaction(empty, encodeMessage(message));
}

/** A token, or the coin itself: fees are paid in it, and transfers move it. */
export interface SponsoredAsset {
  /** The mint. For the coin: the System program's address, as in the reference. */
  address: string;
  decimals: number;
  /** Null for the coin. */
  mint: Mint | null;
}

const COIN: SponsoredAsset = { address: SYSTEM_PROGRAM, decimals: 9, mint: null };

/**
 * Reads the asset that a request names. The coin is always allowed; a token only if the policies allow it.
 * @throws Refusal
 */
export async function readSponsoredAsset(
  read: ReadFromEndpoint,
  address: string,
  policy: SolanaPolicy,
): Promise<SponsoredAsset> {
  if (!isAddress(address))
    throw new GaslessRefusal('params', `${JSON.stringify(address.slice(0, 50))} is not an address`);
  if (address === COIN.address) return COIN;
  assertAllowed(policy, { token: address });
  const [account] = await getAccounts(read, [address]);
  const mint = readMint(address, account);
  if (mint === undefined) throw new GaslessRefusal('token', `${address} is no token`);
  if (mint.hasHook)
    throw new GaslessRefusal('token', `${address} calls a program with each transfer, which is not supported`);
  return { address, decimals: mint.decimals, mint };
}

/** The amount to send so that the net amount arrives. */
export function grossAmountOf({ mint }: SponsoredAsset, net: bigint): bigint {
  return mint === null ? net : grossBeforeTransferFee(mint, net);
}

/** Moves an amount from one wallet to another. A token moves between their associated accounts. */
export function transferInstructionOf(
  { mint }: SponsoredAsset,
  from: string,
  to: string,
  amount: bigint,
): TransactionInstruction {
  if (mint === null) return lamportsTransfer(from, to, amount);
  const [source, destination] = [associatedAccount(from, mint), associatedAccount(to, mint)];
  return tokensTransfer({ mint, source, destination, authority: from, amount });
}

/** How much of the asset a wallet has. @throws Refusal where the wallet has no account for it */
export async function walletBalanceOf(
  read: ReadFromEndpoint,
  { address, mint }: SponsoredAsset,
  wallet: string,
): Promise<bigint> {
  if (mint === null) return getBalance(read, wallet);
  const [account] = await getAccounts(read, [associatedAccount(wallet, mint)]);
  const held = readTokenAccount(account);
  if (held === undefined) throw new GaslessRefusal('token', `${wallet} has no account for ${address}`);
  return held.amount;
}

/** Whether the chain has no account of the wallet for the asset, so that one has to be made. */
export async function isAccountMissing(
  read: ReadFromEndpoint,
  { mint }: SponsoredAsset,
  wallet: string,
): Promise<boolean> {
  if (mint === null) return false;
  const [account] = await getAccounts(read, [associatedAccount(wallet, mint)]);
  return account === null;
}
