import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import { longBefore } from '../form/draft.ts';
import { BLOCKHASH_LIFE } from '../inclusion/chain-height.ts';
import { accountsAt, isBlockhashValid, type OnChainAccount, simulate, standing } from '../provider.ts';
import { rentPaid } from '../tokens/associated.ts';
import { readTokenAccount } from '../tokens/token-account.ts';
import type { OwnAccounts } from './guard.ts';
import { mostFee, type Plan, type Swapping, trialOf } from './plan.ts';
import { wrappedAccount } from './wrapped.ts';

/**
 * Checks the market's message as it is, since the market takes back no other message. A trial shows what the message
 * would leave. Its parts do the same when they are executed, or fail. Returns a text that says why where it is not
 * signed.
 */
export async function asOrdered(
  read: ReadOne,
  swapping: Swapping,
  own: OwnAccounts,
  keys: readonly string[],
): Promise<Plan | string> {
  const { relayer, offer, stock } = swapping;
  const { message } = offer.transaction;
  const others = [...own].filter(([account]) => account !== stock.account && account !== wrappedAccount(relayer));
  const filled = others.find(([, { amount }]) => amount > 0n);
  if (filled !== undefined) return `it may write ${filled[0]}, which is another account of the relayer`;
  const watched = [relayer, wrappedAccount(relayer), stock.account];
  const [isValid, { slot, height }, before, tried, rent] = await Promise.all([
    isBlockhashValid(read, message.blockhash, 'processed'),
    standing(read, 'processed'),
    accountsAt(read, watched),
    simulate(read, trialOf(message), { replacesBlockhash: false, after: watched }),
    rentPaid(read, message, keys),
  ]);
  if (!isValid) return 'its blockhash is not known, or too old';
  const plan = {
    message,
    tried,
    rent,
    lent: rent,
    lastValidBlockHeight: height + BLOCKHASH_LIFE,
    slot: longBefore(slot),
  };
  if (tried.error !== null) return plan;
  return outcomeFault(swapping, before, tried.accounts) ?? plan;
}

type Accounts = readonly (OnChainAccount | null | undefined)[];

/**
 * What is wrong with the trial's outcome, by the relayer's accounts before and after it; undefined where it is fine.
 */
function outcomeFault(swapping: Swapping, before: Accounts, after: Accounts): string | undefined {
  const { relayer, offer, stock } = swapping;
  if (after.length < before.length) return 'the node does not tell what it would leave';
  const [wallet] = after;
  if (wallet == null || wallet.owner !== before[0]?.owner || wallet.data.length > 0)
    return 'it takes the account itself';
  const brought = solIn(after, relayer) + mostFee(swapping) - solIn(before, relayer);
  if (brought < offer.least) return `it brings less than ${offer.least} lamports`;
  const source = readTokenAccount(after[2]);
  const kept = stock.held - stock.swapped;
  if (source === undefined) return kept > 0n ? `it takes more than ${stock.swapped} of the token` : undefined;
  if (source.owner !== relayer || source.delegate !== null) return 'it leaves the token account to somebody else';
  return source.amount < kept ? `it takes more than ${stock.swapped} of the token` : undefined;
}

/** The relayer's SOL, in lamports: on the account, and in wrapped SOL, with the rent of the latter's account. */
function solIn([wallet, wrapped]: Accounts, relayer: string): bigint {
  const held = readTokenAccount(wrapped);
  const isOwn = held?.owner === relayer && held.delegate === null;
  return (wallet?.lamports ?? 0n) + (isOwn ? (wrapped?.lamports ?? 0n) : 0n);
}
