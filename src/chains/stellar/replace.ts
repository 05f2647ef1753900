import { amountOf, jsonAmount } from '../../domain/amount.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import type { RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Attempt } from '../../features/transactions/records/attempt.ts';
import type { LaneCommitments, ObservedTransaction, ReplacementPreparation, ReplacementSpec } from '../chain-client.ts';
import { DEFAULT_MAX_FEE_BID, MAX_FEE, maxFeeFault, readPolicy } from './configuration/policy.ts';
import { feeBidFor, preparedResourceFee } from './fees.ts';
import { preparedDraft } from './message/draft.ts';
import { isSoroban } from './message/transaction-envelope.ts';
import { fundsShortage, preparedCostOf, prepareTransaction } from './prepare.ts';
import { getAccount, latestLedger, usualFee } from './rpc-calls.ts';
import { readChainFields, readStoredRequest, type StellarFields } from './schema.ts';

/** A request that takes a sequence and does nothing else: it bumps the account to where it is already (CAP-1). */
export const NOOP_REQUEST: JsonObject = { operations: [{ type: 'bump_sequence', bump_to: 0 }] };

/**
 * Whether one more attempt is possible. Nodes keep one transaction of an account in their queue, and take no other in
 * its place, whatever it pays. After a few ledgers they drop it, and then they take a dearer one. An expired
 * transaction is dead with the next ledger, so nothing is spent on it. Only the client can change what the client
 * signed.
 */
export function canReplace(
  { transaction, attempts, account }: ObservedTransaction,
  purpose: ReplacementSpec['purpose'],
): boolean {
  if (transaction.anchorKind !== 'sequence' || purpose === 'replace') return false;
  if (purpose === 'noop') return transaction.noopEnd !== 'expired';
  // The user who pays for the call pays no more than before.
  if ('forward' in readStoredRequest(transaction.request)) return false;
  const known = knownOf(attempts.at(-1));
  return known !== undefined && amountOf(known.fee) < mostOf(known, readPolicy(account.policies).maxFee);
}

/**
 * Prices one more attempt under the sequence that a transaction has. A bump bids twice as much for its place, or what
 * is usual by now, within the policy's cap. It ends together with the attempt that it repeats.
 */
export async function prepareReplacement(
  rpc: RpcClient,
  entry: ObservedTransaction,
  { purpose }: ReplacementSpec,
  lane: LaneCommitments,
): Promise<ReplacementPreparation> {
  const others = lane.committed - entry.attempts.map(preparedCostOf).reduce(larger, 0n);
  const committed = others > 0n ? others : 0n;
  return purpose === 'noop' ? prepareNoop(rpc, entry, committed) : prepareBump(rpc, entry, committed);
}

async function prepareNoop(
  rpc: RpcClient,
  entry: ObservedTransaction,
  committed: bigint,
): Promise<ReplacementPreparation> {
  const transaction = { ...entry.transaction, request: NOOP_REQUEST, validUntil: null };
  const prepared = await prepareTransaction(rpc, transaction, entry.account, { committed });
  if (prepared.kind === 'first') throw new TypeError('nothing has to be done before nothing');
  return prepared.kind === 'ready' ? { ...prepared, request: NOOP_REQUEST } : prepared;
}

async function prepareBump(
  rpc: RpcClient,
  { attempts, account }: ObservedTransaction,
  committed: bigint,
): Promise<ReplacementPreparation> {
  const latest = attempts.at(-1);
  const known = knownOf(latest);
  if (latest === undefined || known === undefined) throw new TypeError('a signed attempt was prepared');
  const { request } = latest;
  const parsed = readStoredRequest(request);
  if ('inner' in parsed) throw new TypeError('what a client has signed has no other price');
  const draft = preparedDraft(parsed, known);
  const { maxFee, minBalance: kept } = readPolicy(account.policies);
  const minBalance = 'swap' in parsed ? 0n : kept;
  const resources = preparedResourceFee(known);
  const most = mostOf(known, maxFee);
  const before = amountOf(known.fee) - resources;
  return rpc.onOne(async (read) => {
    const [usual, { account: payer }, { baseReserve }] = await Promise.all([
      usualFee(read, isSoroban(draft) ? 'sorobanInclusionFee' : 'inclusionFee'),
      getAccount(read, account.address),
      latestLedger(read),
    ]);
    const bid = resources + larger(2n * before, feeBidFor(draft.operations.length, usual, most));
    const fee = bid < most ? bid : most;
    const tooDear = maxFeeFault(amountOf(known.fee) + 1n, most);
    if (tooDear !== undefined) return { kind: 'parked', cause: 'price', reason: tooDear };
    const fields: StellarFields = { ...known, fee: jsonAmount(fee) };
    const cost = preparedCostOf({ request, fields });
    if (payer === null)
      return { kind: 'parked', cause: 'balance', reason: `Account ${account.address} does not exist` };
    const short = fundsShortage({ account: payer, committed, cost, minBalance, baseReserve });
    if (short !== undefined) return { kind: 'parked', cause: 'balance', reason: short };
    return { kind: 'ready', fields, cost, request };
  });
}

/** How many ledgers a node keeps a transaction (stellar-core, `TRANSACTION_QUEUE_TIMEOUT_LEDGERS`), and two more. */
const LEDGERS_OF_PATIENCE = 6;

export function replacementDelayMs(blockTimeMs: number): number {
  return LEDGERS_OF_PATIENCE * blockTimeMs;
}

/** The fields of an attempt. The sequence is set anew when the next attempt is signed. */
function knownOf(attempt: Attempt | undefined): StellarFields | undefined {
  return attempt === undefined ? undefined : readChainFields(attempt.fields);
}

/** The most that may be bid for a transaction, in stroops. For a swap that is less than it brings. */
function mostOf(fields: StellarFields, maxFee: bigint | null): bigint {
  const usual = DEFAULT_MAX_FEE_BID + preparedResourceFee(fields);
  const most = maxFee ?? (usual < MAX_FEE ? usual : MAX_FEE);
  const brought = fields.swap === undefined ? most : amountOf(fields.swap.least) - 1n;
  return brought < most ? brought : most;
}

const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other);
