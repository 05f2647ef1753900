import { amountOf, jsonAmount } from '../../domain/amount.ts';
import { chainOfLane } from '../../domain/transaction/lane.ts';
import type { Transaction } from '../../domain/transaction/transaction.ts';
import type { ReadOne, RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Account } from '../account.ts';
import type { LaneFigures, Preparation } from '../client.ts';
import { answersInTime, middleBy } from '../quorum.ts';
import { BASE_FEE, bidFor } from './fees.ts';
import { readPolicy, type StellarPolicy } from './policy.ts';
import { accountAt, type LatestLedger, type LedgerAccount, latestLedger, usualFee } from './provider.ts';
import { readFields, readRequest, type StellarFields, type StellarOperation } from './schema.ts';

/** How soon a transaction looks again that waits for money. */
const SHORT_OF_FUNDS_MS = 10_000;

const TOO_LATE = 'Its valid_until passed on the chain before it was in a ledger';

/** What an account keeps for itself and for each of its entries, in stroops. */
const BASE_RESERVE = 5_000_000n;

/**
 * Decides fee and time of a transaction, and whether the account can pay it. What one node alone refuses counts when no
 * other one would let it pass.
 */
export async function prepare(
  rpc: RpcClient,
  transaction: Transaction,
  account: Account,
  lane: LaneFigures,
): Promise<Preparation> {
  const latest = await newestLedger(rpc);
  const prepareOn = (read: ReadOne) => prepareOnce(read, latest, transaction, account, lane);
  const decided = await rpc.onOne(prepareOn);
  if (decided.kind === 'ready' || rpc.endpointCount < 2) return decided;
  const isReady = ({ kind }: Preparation) => kind === 'ready';
  const told = await answersInTime(rpc.onAll(prepareOn), { isEnough: isReady });
  return told.find(isReady) ?? decided;
}

/** No endpoint alone says how late it is: what is good for too long holds the account up. */
async function newestLedger(rpc: RpcClient): Promise<LatestLedger> {
  const told = rpc.endpointCount < 2 ? [] : await answersInTime(rpc.onAll(latestLedger));
  return middleBy(told, 'lower', ({ closedAt }) => BigInt(closedAt)) ?? rpc.onOne(latestLedger);
}

async function prepareOnce(
  read: ReadOne,
  latest: LatestLedger,
  { request, validUntil, lane: key }: Transaction,
  { address, policies }: Account,
  { committed }: LaneFigures,
): Promise<Preparation> {
  const { operations } = readRequest(request);
  const policy = readPolicy(policies);
  if (BASE_FEE * BigInt(operations.length) > policy.maxFee) {
    return { kind: 'refused', reason: `Max fee exceeded: ${policy.maxFee}` };
  }
  const end = latest.closedAt + policy.timeoutSeconds * 1_000;
  const maxTime = Math.floor(Math.min(end, validUntil ?? end) / 1_000);
  if (latest.closedAt >= maxTime * 1_000) return { kind: 'refused', reason: TOO_LATE, end: 'expired' };
  const [usual, { account }] = await Promise.all([usualFee(read), accountAt(read, address)]);
  if (account === null) return parkedForFunds(`Insufficient balance: account ${address} does not exist`);
  const fee = bidFor(operations.length, usual, policy.maxFee);
  const cost = fee + paidBy(operations);
  const short = shortage({ account, committed, cost, policy });
  if (short !== undefined) return parkedForFunds(short);
  const fields: StellarFields = {
    passphrase: chainOfLane(key),
    source: address,
    fee: jsonAmount(fee),
    max_time: maxTime,
    ledger: jsonAmount(latest.sequence),
  };
  return { kind: 'ready', fields, cost };
}

/** In stroops, of the account's own. */
function paidBy(operations: readonly StellarOperation[]): bigint {
  return operations.reduce((sum, operation) => {
    const isPaid = operation.type === 'payment' && operation.asset.type === 'native';
    return isPaid ? sum + amountOf(operation.amount) : sum;
  }, 0n);
}

/** What the account's money has to bear. */
interface Bill {
  account: LedgerAccount;
  committed: bigint;
  cost: bigint;
  policy: StellarPolicy;
}

/** What the ledger keeps cannot be spent, nor what other transactions of the lane may still take. */
function shortage({ account, committed, cost, policy: { minBalance } }: Bill): string | undefined {
  const { balance, promised, reserves } = account;
  const kept = reserves * BASE_RESERVE + promised;
  const stays = kept > minBalance ? kept : minBalance;
  if (balance >= stays + committed + cost) return undefined;
  const underWay = committed > 0n ? `, Under way: ${committed}` : '';
  return `Insufficient balance: Required: ${cost}, Available: ${balance}, Stays: ${stays}${underWay}`;
}

function parkedForFunds(reason: string): Preparation {
  return { kind: 'parked', cause: 'balance', reason, retryInMs: SHORT_OF_FUNDS_MS };
}

/** {@link import('../client.ts').ReadyPreparation.cost} of what was prepared before; zero of what was not. */
export function costOf({ request, fields }: Pick<Transaction, 'request' | 'fields'>): bigint {
  const known = readFields(fields);
  return known === undefined ? 0n : amountOf(known.fee) + paidBy(readRequest(request).operations);
}
