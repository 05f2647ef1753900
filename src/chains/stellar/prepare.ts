import { xdr } from '@stellar/stellar-sdk/base';
import { amountOf, jsonAmount } from '../../domain/amount.ts';
import type { ReadFromEndpoint, RpcClient } from '../../egress/rpc/rpc-client.ts';
import { chainOfLane } from '../../features/transactions/records/lane.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import type { LaneCommitments, RelayerAccount, TransactionPreparation } from '../chain-client.ts';
import { answersInTime, confirmRefusal, medianBy, medianOf } from '../quorum.ts';
import {
  DEFAULT_MAX_FEE_BID,
  MAX_FEE,
  maxFeeFault,
  policyFault,
  readPolicy,
  type StellarPolicy,
  timeoutSecondsOf,
} from './configuration/policy.ts';
import { BASE_FEE, feeBidFor } from './fees.ts';
import { CLOCK_TOLERANCE_SECONDS } from './guard/gasless.ts';
import { missingMemoFault } from './guard/memo.ts';
import { draftTransaction, preparedDraft, type TransactionDraft } from './message/draft.ts';
import { consentedLumens, lumensOutflow, totalLumensOutflow } from './message/outflow.ts';
import { transactionHash } from './message/transaction.ts';
import { accountOfMuxed, isSoroban, readEnvelope, timeBoundsOf } from './message/transaction-envelope.ts';
import { contractNeeds } from './price/contract-call.ts';
import {
  getPayer,
  getTransaction,
  type LatestLedger,
  type LedgerAccount,
  latestLedger,
  type Payer,
  usualFee,
} from './rpc-calls.ts';
import {
  type FeeBumpRequest,
  readChainFields,
  readStoredRequest,
  type StellarFields,
  type StellarRequest,
} from './schema.ts';

const TOO_LATE = 'Its valid_until passed on the chain before it was in a ledger';

/** Decides fee and time of a transaction, and whether the account can pay it. */
export async function prepareTransaction(
  rpc: RpcClient,
  transaction: Transaction,
  account: RelayerAccount,
  lane: LaneCommitments,
): Promise<TransactionPreparation> {
  const request = readStoredRequest(transaction.request);
  if ('swap' in request) throw new TypeError('what a swap does is decided elsewhere');
  const { minBalance } = readPolicy(account.policies);
  const context = {
    latest: await medianLatestLedger(rpc),
    transaction,
    account,
    committed: lane.committed,
    minBalance,
  };
  return 'inner' in request
    ? prepareFeeBump(rpc, request, context)
    : prepareDraft(rpc, draftTransaction(request, account.address), context);
}

/**
 * Decides by one endpoint, and asks the others where that endpoint does not let the transaction pass. Each of the
 * others goes by its own ledger where that is older: one endpoint may have told all of them of a later ledger.
 */
async function withSecondOpinion(
  rpc: RpcClient,
  context: DraftContext,
  prepareOn: (context: NodeContext) => Promise<TransactionPreparation>,
): Promise<TransactionPreparation> {
  const decided = await rpc.onOne((read) => prepareOn({ read, ...context }));
  return confirmRefusal(decided, rpc, async (read) => {
    const own = await latestLedger(read);
    const latest = {
      ...(own.closedAt < context.latest.closedAt ? own : context.latest),
      baseReserve: context.latest.baseReserve,
    };
    return prepareOn({ read, ...context, latest });
  });
}

/**
 * The newest ledger and the base reserve, by the middle of what the endpoints tell. No endpoint alone decides them: a
 * transaction that is valid for too long holds up the account.
 */
export async function medianLatestLedger(rpc: RpcClient): Promise<LatestLedger> {
  const answers = rpc.endpointCount < 2 ? [] : await answersInTime(rpc.onAll(latestLedger));
  const middle = medianBy(answers, 'lower', ({ closedAt }) => BigInt(closedAt));
  if (middle === undefined) return rpc.onOne(latestLedger);
  const reserves = answers.map(({ baseReserve }) => baseReserve);
  return { ...middle, baseReserve: medianOf(reserves, 'lower') ?? middle.baseReserve };
}

/** What preparing a transaction of the account needs. */
interface DraftContext {
  latest: LatestLedger;
  transaction: Transaction;
  account: RelayerAccount;
  committed: bigint;
  /** The balance that stays on the account, in stroops. */
  minBalance: bigint;
}

/** The same, with the node that is asked. */
interface NodeContext extends DraftContext {
  read: ReadFromEndpoint;
}

/** {@link prepareTransaction} for a draft whose operations are known already, as those of a swap. */
export async function prepareDraft(
  rpc: RpcClient,
  draft: TransactionDraft,
  context: DraftContext,
): Promise<TransactionPreparation> {
  const ownFee = BASE_FEE * BigInt(draft.operations.length);
  // This check needs no endpoint, so no second endpoint has to confirm it.
  const tooDear = policyFault(readPolicy(context.account.policies), { ownFee });
  if (tooDear !== undefined) return { kind: 'refused', reason: tooDear.reason };
  return withSecondOpinion(rpc, context, (one) => prepareOwn(draft, one));
}

async function prepareOwn(draft: TransactionDraft, context: NodeContext): Promise<TransactionPreparation> {
  const { read, latest, transaction, account } = context;
  const { policies } = account;
  const policy = readPolicy(policies);
  const cap = policy.maxFee ?? DEFAULT_MAX_FEE_BID;
  const maxTime = endOf(draft, latest, policy, transaction.validUntil);
  if (maxTime === undefined) return { kind: 'refused', reason: TOO_LATE, end: 'expired' };
  const early = startFault(draft, latest);
  if (early !== undefined) return { kind: 'refused', reason: early };
  const isContracts = isSoroban(draft);
  const [usual, needs, payer] = await Promise.all([
    usualFee(read, isContracts ? 'sorobanInclusionFee' : 'inclusionFee'),
    isContracts ? contractNeeds(read, draft, latest.sequence) : undefined,
    getPayer(read, account.address, draft),
  ]);
  if (needs !== undefined && needs.kind !== 'needs') return needs;
  const resources = needs?.fee ?? 0n;
  const ceiling = policy.maxFee ?? MAX_FEE;
  const tooDear = maxFeeFault(BASE_FEE + resources, ceiling);
  if (tooDear !== undefined) {
    return { kind: 'refused', reason: `${tooDear}, of which its resources take ${resources}` };
  }
  const most = policy.maxFee === null && cap + resources <= ceiling ? cap : ceiling - resources;
  const wanted = feeBidFor(draft.operations.length, usual, most);
  const own = policy.maxFee !== null && draft.bid > most ? most : draft.bid;
  const fee = resources + (own > wanted ? own : wanted);
  const contract = needs === undefined ? {} : { contract: needs.fields };
  const fields = { ...fieldsFor(context, fee, BigInt(maxTime)), ...contract };
  return checkFunds(context, fields, fee + lumensOf(draft, fields), payer);
}

/**
 * The end of the time bounds, in Unix seconds; undefined where it is past. The policy's timeout counts from the
 * signing, however long the request has waited.
 */
function endOf(
  { maxTime, ledgers }: TransactionDraft,
  latest: LatestLedger,
  policy: StellarPolicy,
  validUntil: number | null,
): number | undefined {
  const end = latest.closedAt + timeoutSecondsOf(policy) * 1_000;
  const seconds = Math.floor(Math.min(end, validUntil ?? end) / 1_000);
  const last = maxTime !== null && maxTime < BigInt(seconds) ? Number(maxTime) : seconds;
  const isLast = ledgers !== null && ledgers.maxLedger !== 0 && latest.sequence + 1n >= BigInt(ledgers.maxLedger);
  return latest.closedAt >= last * 1_000 || isLast ? undefined : last;
}

/**
 * Why no ledger takes the transaction yet. Until then its sequence would hold up all other transactions of the account.
 */
function startFault({ minTime, ledgers }: TransactionDraft, { closedAt, sequence }: LatestLedger): string | undefined {
  const now = BigInt(closedAt) / 1_000n;
  if (minTime > now + CLOCK_TOLERANCE_SECONDS)
    return `Its time bounds begin at ${minTime}, and it is ${now} on the chain`;
  const first = BigInt(ledgers?.minLedger ?? 0);
  return first > sequence + 1n ? `It is good from ledger ${first}, and the last is ${sequence}` : undefined;
}

/** Prepares a fee bump. The client has signed everything but the fee. */
async function prepareFeeBump(
  rpc: RpcClient,
  request: FeeBumpRequest,
  context: DraftContext,
): Promise<TransactionPreparation> {
  // This check needs no endpoint either.
  const tooDear = policyFault(readPolicy(context.account.policies), { fee: amountOf(request.max_fee) });
  if (tooDear !== undefined) return { kind: 'refused', reason: tooDear.reason };
  return withSecondOpinion(rpc, context, (one) => feeBump(request, one));
}

async function feeBump(
  { inner, max_fee: bid, own }: FeeBumpRequest,
  context: NodeContext,
): Promise<TransactionPreparation> {
  const { latest, transaction } = context;
  const fee = amountOf(bid);
  const { transaction: within } = readEnvelope(inner);
  const { maxTime } = timeBoundsOf(within);
  const hash = transactionHash(within, chainOfLane(transaction.lane)).toString('hex');
  const isLate = maxTime !== 0n && BigInt(latest.closedAt) > maxTime * 1_000n;
  // It may be in a ledger already, brought there by its client or before the database was put back.
  if (isLate && (await getTransaction(context.read, hash)).inclusion === null) {
    return { kind: 'refused', reason: TOO_LATE, end: 'expired' };
  }
  const source = accountOfMuxed(within.sourceAccount);
  const { seqNum: sequence } = within;
  const fields = { ...fieldsFor(context, fee, maxTime), inner: { hash, source, sequence: jsonAmount(sequence) } };
  const taken = own === undefined ? 0n : totalLumensOutflow(within, own, fields.passphrase);
  const payer = await getPayer(context.read, context.account.address, within);
  const billing = checkFunds(context, fields, fee + taken, payer);
  return billing.kind === 'ready' ? { ...billing, anchor: { kind: 'text', text: `${source}:${sequence}` } } : billing;
}

function fieldsFor({ transaction, account, latest }: NodeContext, fee: bigint, maxTime: bigint): StellarFields {
  return {
    passphrase: chainOfLane(transaction.lane),
    source: account.address,
    fee: jsonAmount(fee),
    max_time: jsonAmount(maxTime),
    ledger: jsonAmount(latest.sequence),
  };
}

/** Ready where the account can pay the cost, and no receiver asks for a memo that is missing; otherwise parked or refused. */
function checkFunds(
  { account: { address }, latest, committed, minBalance }: NodeContext,
  fields: StellarFields,
  cost: bigint,
  { account: payer, memoRequiredBy }: Payer,
): TransactionPreparation {
  if (memoRequiredBy !== undefined) return { kind: 'refused', reason: missingMemoFault(memoRequiredBy) };
  if (payer === null) return parkedForFunds(`Insufficient balance: account ${address} does not exist`);
  const short = fundsShortage({ account: payer, committed, cost, minBalance, baseReserve: latest.baseReserve });
  return short === undefined ? { kind: 'ready', fields, cost } : parkedForFunds(short);
}

/**
 * {@link import('../chain-client.ts').ReadyPreparation.cost} of prepared fields; zero before a transaction is prepared.
 */
export function preparedCostOf({ request, fields }: Pick<Transaction, 'request' | 'fields'>): bigint {
  const known = readChainFields(fields);
  if (known === undefined) return 0n;
  const parsed = readStoredRequest(request);
  return amountOf(known.fee) + requestOutflow(parsed, known);
}

function requestOutflow(parsed: StellarRequest, known: StellarFields): bigint {
  if (!('inner' in parsed)) return lumensOf(preparedDraft(parsed, known), known);
  if (parsed.own === undefined) return 0n;
  return totalLumensOutflow(readEnvelope(parsed.inner).transaction, parsed.own, known.passphrase);
}

/** The most that an own transaction takes from the account beside its fee. */
function lumensOf(draft: TransactionDraft, { source, passphrase, contract }: StellarFields): bigint {
  const consents = contract?.consents.map((text) => xdr.SorobanAuthorizationEntry.fromXdr(text, 'base64')) ?? [];
  return lumensOutflow(draft, source) + consentedLumens(consents, passphrase);
}

/** How soon a transaction that waits for money is tried again. */
const SHORT_OF_FUNDS_MS = 10_000;

/** The account's balance and what it has to cover, in stroops. */
interface Bill {
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
export function fundsShortage({ account, committed, cost, minBalance, baseReserve }: Bill): string | undefined {
  const { balance, promised, reserves } = account;
  const kept = reserves * baseReserve + promised;
  const stays = kept > minBalance ? kept : minBalance;
  if (balance >= stays + committed + cost) return undefined;
  const underWay = committed > 0n ? `, Under way: ${committed}` : '';
  return `Insufficient balance: Required: ${cost}, Available: ${balance}, Stays: ${stays}${underWay}`;
}

export function parkedForFunds(reason: string): TransactionPreparation {
  return { kind: 'parked', cause: 'balance', reason, retryInMs: SHORT_OF_FUNDS_MS };
}
