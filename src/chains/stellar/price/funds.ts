import type { Preparation } from '../../chain-client.ts';
import type { LedgerAccount } from '../provider.ts';

/** How soon a transaction that waits for money is tried again. */
const SHORT_OF_FUNDS_MS = 10_000;

/** The account's balance and what it has to cover, in stroops. */
export interface Bill {
  account: Pick<LedgerAccount, 'balance' | 'promised' | 'reserves'>;
  /** What other transactions of the lane may still take. */
  committed: bigint;
  cost: bigint;
  /** The minimum balance of the policy. */
  minBalance: bigint;
  /** What the ledger keeps for each of the account's entries. */
  baseReserve: bigint;
}

/** Why the account has too little; undefined where it has enough. Money that the ledger keeps back cannot be spent. */
export function shortage({ account, committed, cost, minBalance, baseReserve }: Bill): string | undefined {
  const { balance, promised, reserves } = account;
  const kept = reserves * baseReserve + promised;
  const stays = kept > minBalance ? kept : minBalance;
  if (balance >= stays + committed + cost) return undefined;
  const underWay = committed > 0n ? `, Under way: ${committed}` : '';
  return `Insufficient balance: Required: ${cost}, Available: ${balance}, Stays: ${stays}${underWay}`;
}

export function parkedForFunds(reason: string): Preparation {
  return { kind: 'parked', cause: 'balance', reason, retryInMs: SHORT_OF_FUNDS_MS };
}
