import type { ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import { readPolicy, type SolanaPolicy } from '../configuration/policy.ts';
import { type TokenBurn, type TokenTransfer, tokenBurns, tokenTransfers } from '../guard/tokens.ts';
import type { CompiledMessage } from '../message/compiled-message.ts';
import { resolveLookupTables } from '../message/lookup-tables.ts';
import { isSignatureOf, type WireTransaction } from '../message/transaction.ts';
import { getAccounts } from '../rpc-calls.ts';
import { associatedAccount } from '../tokens/associated.ts';
import { netAfterTransferFee, readMint } from '../tokens/mint.ts';
import { readTokenAccount, type TokenAccount } from '../tokens/token-account.ts';
import { readLamportsTransfer } from '../tokens/transfer.ts';
import { assertAllowed, type SponsoredBuildContext } from './build.ts';
import { GaslessRefusal, isUntraded } from './errors.ts';
import { lamportsInToken, sponsoredPriceOf } from './price.ts';

/** In the reference's words. */
const UNPAID = "Transaction doesn't contain required fee payment instruction or payment amount is insufficient";

/** What a transaction pays to the relayer. */
interface Payment {
  lamports: bigint;
  /** What arrives, by mint, in the token's smallest unit. */
  tokens: ReadonlyMap<string, bigint>;
}

/**
 * Checks that a user's transaction pays the price that the relayer asks. A transaction that the relayer has signed
 * before passes at any price: whoever has its bytes can send them.
 * @throws Refusal
 */
export async function assertPaid(
  read: ReadFromEndpoint,
  { message, messageBytes, signatures }: WireTransaction,
  { account, prices }: SponsoredBuildContext,
): Promise<void> {
  const policy = readPolicy(account.policies);
  const looked = await resolveLookupTables(read, message);
  if (looked.kind === 'fault') throw new GaslessRefusal('validation', looked.reason);
  const keys = [...message.keys, ...looked.addresses];
  const paid = await paymentOf(read, message, keys, account.address);
  for (const [mint, amount] of paid.tokens) {
    // Before the market is asked for its price.
    assertAllowed(policy, { token: mint, tokenFee: { mint, amount } });
  }
  const [own = Buffer.alloc(0)] = signatures;
  if (isSignatureOf(account.address, own, messageBytes)) return;
  const price = await sponsoredPriceOf(read, message, keys, policy);
  if ((await creditOf(paid, price, policy, prices)) < price) throw new GaslessRefusal('params', UNPAID);
}

/**
 * What a payment is worth in lamports. Stops counting once the price is covered, so that the market is asked no more
 * than needed.
 */
async function creditOf(
  { lamports, tokens }: Payment,
  price: bigint,
  policy: SolanaPolicy,
  prices: SponsoredBuildContext['prices'],
): Promise<bigint> {
  let credit = lamports;
  for (const [mint, amount] of tokens) {
    if (credit >= price) break;
    const needed = amount > 0n ? await worthOf(prices, mint, price, policy) : null;
    if (needed !== null) credit += (amount * price) / needed;
  }
  return credit;
}

/** Null for a token that nobody trades. Such a token pays nothing. */
async function worthOf(
  prices: SponsoredBuildContext['prices'],
  mint: string,
  price: bigint,
  policy: SolanaPolicy,
): Promise<bigint | null> {
  try {
    return await lamportsInToken(prices, mint, price, policy);
  } catch (error) {
    if (isUntraded(error)) return null;
    throw error;
  }
}

/**
 * What instructions pay to the relayer, less what they take from its own accounts. Transfers inside programs do not
 * count.
 */
async function paymentOf(
  read: ReadFromEndpoint,
  message: CompiledMessage,
  keys: readonly string[],
  relayer: string,
): Promise<Payment> {
  const lamports = message.instructions
    .map(({ program, accounts, data }) => readLamportsTransfer(keys[program] ?? '', named(accounts, keys), data))
    .filter((transfer) => transfer?.to === relayer && transfer.from !== relayer)
    .reduce((sum, transfer) => sum + (transfer?.lamports ?? 0n), 0n);
  const moves = { transfers: tokenTransfers(message, keys), burns: tokenBurns(message, keys) };
  return { lamports, tokens: await tokensPaid(read, moves, relayer) };
}

function named(accounts: readonly number[], keys: readonly string[]): string[] {
  return accounts.map((place) => keys[place] ?? '');
}

interface Moves {
  transfers: readonly TokenTransfer[];
  burns: readonly TokenBurn[];
}

async function tokensPaid(
  read: ReadFromEndpoint,
  { transfers, burns }: Moves,
  relayer: string,
): Promise<Map<string, bigint>> {
  const paid = new Map<string, bigint>();
  if (transfers.length === 0) return paid;
  const ends = [
    ...new Set([
      ...transfers.flatMap(({ source, destination }) => [source, destination]),
      ...burns.map(({ account }) => account),
    ]),
  ];
  const found = await getAccounts(read, ends);
  const known = new Map(ends.map((end, index) => [end, readTokenAccount(found[index])]));
  // The relayer's accounts may be made by the transaction that pays into them.
  const own = new Map(
    [...transfers, ...burns].flatMap(({ mint, program }): [string, string][] =>
      mint === null ? [] : [[associatedAccount(relayer, { address: mint, program }), mint]],
    ),
  );
  const isOwn = (account: string) => own.has(account) || known.get(account)?.owner === relayer;
  const moves = transfers.map((transfer) => {
    const mint = transfer.mint ?? known.get(transfer.source)?.mint ?? own.get(transfer.source) ?? '';
    const isTo = isPaidTo(transfer, mint, known.get(transfer.destination), relayer);
    return { mint, amount: transfer.amount, isFrom: isOwn(transfer.source), isTo };
  });
  // A permanent delegate can burn what was just paid.
  for (const { account, mint, amount } of burns) moves.push({ mint, amount, isFrom: isOwn(account), isTo: false });
  const mints = [...new Set(moves.filter(({ isFrom, isTo }) => isFrom || isTo).map(({ mint }) => mint))];
  const accounts = mints.length === 0 ? [] : await getAccounts(read, mints);
  for (const [index, address] of mints.entries()) {
    const mint = readMint(address, accounts[index]);
    const own = moves.filter((move) => move.mint === address);
    const sum = own.reduce((total, { amount, isFrom, isTo }) => {
      if (isFrom) return isTo ? total : total - amount;
      return isTo && mint !== undefined ? total + netAfterTransferFee(mint, amount) : total;
    }, 0n);
    paid.set(address, sum);
  }
  return paid;
}

/**
 * Whether a transfer ends on the relayer's associated account of that very token. No other account counts, whoever owns
 * it now: somebody may close it and make it anew for another owner, within the same transaction.
 */
function isPaidTo(
  { destination, program }: TokenTransfer,
  mint: string,
  account: TokenAccount | undefined,
  relayer: string,
): boolean {
  if (mint === '' || destination !== associatedAccount(relayer, { address: mint, program })) return false;
  return account === undefined || account.owner === relayer;
}
