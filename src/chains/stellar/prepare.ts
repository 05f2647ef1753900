import { xdr } from '@stellar/stellar-sdk/base';
import { amountOf, jsonAmount } from '../../domain/amount.ts';
import { chainOfLane } from '../../domain/transaction/lane.ts';
import type { Transaction } from '../../domain/transaction/transaction.ts';
import type { ReadOne, RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Account } from '../account.ts';
import type { LaneFigures, Preparation } from '../chain-client.ts';
import { answersInTime, middleBy, middleOf, unlessRefusedAlone } from '../quorum.ts';
import { readPolicy, type StellarPolicy } from './configuration/policy.ts';
import { BASE_FEE, bidFor, MOST_FEE, USUAL_CAP } from './fees.ts';
import { CLOCKS_APART } from './guard/gasless.ts';
import { type Draft, draftOf, preparedDraft } from './message/draft.ts';
import { lumensConsented, lumensTaken } from './message/lumens.ts';
import { hashOf } from './message/transaction.ts';
import { accountOf, boundsOf, isSoroban, readEnvelope } from './message/transaction-envelope.ts';
import { contractNeeds } from './price/contract-call.ts';
import { parkedForFunds, shortage } from './price/funds.ts';
import { accountAt, type LatestLedger, latestLedger, usualFee } from './provider.ts';
import { type FeeBumpRequest, readFields, readRequest, type StellarFields } from './schema.ts';

const TOO_LATE = 'Its valid_until passed on the chain before it was in a ledger';

/** Decides fee and time of a transaction, and whether the account can pay it. */
export async function prepare(
  rpc: RpcClient,
  transaction: Transaction,
  account: Account,
  lane: LaneFigures,
): Promise<Preparation> {
  const request = readRequest(transaction.request);
  if ('swap' in request) throw new TypeError('what a swap does is decided elsewhere');
  const { minBalance } = readPolicy(account.policies);
  const asked = { latest: await newestLedger(rpc), transaction, account, committed: lane.committed, minBalance };
  return 'inner' in request
    ? prepareFeeBump(rpc, request, asked)
    : prepareDraft(rpc, draftOf(request, account.address), asked);
}

/** Where others are asked as well, each goes by a ledger that it knows itself: one may have told all of a later one. */
async function decidedBy(
  rpc: RpcClient,
  asked: AskedDraft,
  prepareOn: (asked: Asked) => Promise<Preparation>,
): Promise<Preparation> {
  const decided = await rpc.onOne((read) => prepareOn({ read, ...asked }));
  return unlessRefusedAlone(decided, rpc, async (read) => {
    const own = await latestLedger(read);
    const latest = {
      ...(own.closedAt < asked.latest.closedAt ? own : asked.latest),
      baseReserve: asked.latest.baseReserve,
    };
    return prepareOn({ read, ...asked, latest });
  });
}

/** No endpoint alone says how late it is, or what accounts keep: what is good for too long holds the account up. */
export async function newestLedger(rpc: RpcClient): Promise<LatestLedger> {
  const told = rpc.endpointCount < 2 ? [] : await answersInTime(rpc.onAll(latestLedger));
  const middle = middleBy(told, 'lower', ({ closedAt }) => BigInt(closedAt));
  if (middle === undefined) return rpc.onOne(latestLedger);
  const reserves = told.map(({ baseReserve }) => baseReserve);
  return { ...middle, baseReserve: middleOf(reserves, 'lower') ?? middle.baseReserve };
}

/** What is to be prepared of an account's own. */
export interface AskedDraft {
  latest: LatestLedger;
  transaction: Transaction;
  account: Account;
  committed: bigint;
  /** What stays on the account, in stroops. */
  minBalance: bigint;
}

/** What one node is asked about a transaction. */
interface Asked extends AskedDraft {
  read: ReadOne;
}

/** {@link prepare} for what is known already: the chain does not say any more what it does. */
export async function prepareDraft(rpc: RpcClient, draft: Draft, asked: AskedDraft): Promise<Preparation> {
  const cap = capOf(readPolicy(asked.account.policies));
  // No endpoint has a word in this.
  if (BASE_FEE * BigInt(draft.operations.length) > cap) {
    return { kind: 'refused', reason: `Max fee exceeded: ${cap}` };
  }
  return decidedBy(rpc, asked, (one) => prepareOwn(draft, one));
}

function capOf({ maxFee }: StellarPolicy): bigint {
  return maxFee ?? USUAL_CAP;
}

async function prepareOwn(draft: Draft, asked: Asked): Promise<Preparation> {
  const { read, latest, transaction, account } = asked;
  const { policies } = account;
  const policy = readPolicy(policies);
  const cap = capOf(policy);
  const maxTime = endOf(draft, latest, policy, transaction.validUntil);
  if (maxTime === undefined) return { kind: 'refused', reason: TOO_LATE, end: 'expired' };
  const early = startFault(draft, latest);
  if (early !== undefined) return { kind: 'refused', reason: early };
  const isContracts = isSoroban(draft);
  const [usual, needs] = await Promise.all([
    usualFee(read, isContracts ? 'sorobanInclusionFee' : 'inclusionFee'),
    isContracts ? contractNeeds(read, draft, latest.sequence) : undefined,
  ]);
  if (needs !== undefined && needs.kind !== 'needs') return needs;
  const resources = needs?.fee ?? 0n;
  const ceiling = policy.maxFee ?? MOST_FEE;
  if (BASE_FEE + resources > ceiling) {
    return { kind: 'refused', reason: `Max fee exceeded: ${ceiling}, of which its resources take ${resources}` };
  }
  const most = policy.maxFee === null && cap + resources <= ceiling ? cap : ceiling - resources;
  const wanted = bidFor(draft.operations.length, usual, most);
  const own = policy.maxFee !== null && draft.bid > most ? most : draft.bid;
  const fee = resources + (own > wanted ? own : wanted);
  const contract = needs === undefined ? {} : { contract: needs.fields };
  const fields = { ...fieldsFor(asked, fee, BigInt(maxTime)), ...contract };
  return billed(asked, fields, fee + lumensOf(draft, fields));
}

/** Unix seconds; undefined where that is past. What waits long is good from when it is signed. */
function endOf(
  { maxTime, ledgers }: Draft,
  latest: LatestLedger,
  { timeoutSeconds }: StellarPolicy,
  validUntil: number | null,
): number | undefined {
  const end = latest.closedAt + timeoutSeconds * 1_000;
  const seconds = Math.floor(Math.min(end, validUntil ?? end) / 1_000);
  const last = maxTime !== null && maxTime < BigInt(seconds) ? Number(maxTime) : seconds;
  const isLast = ledgers !== null && ledgers.maxLedger !== 0 && latest.sequence + 1n >= BigInt(ledgers.maxLedger);
  return latest.closedAt >= last * 1_000 || isLast ? undefined : last;
}

/** Why no ledger takes it yet: under its sequence it would keep all others of the account from theirs. */
function startFault({ minTime, ledgers }: Draft, { closedAt, sequence }: LatestLedger): string | undefined {
  const now = BigInt(closedAt) / 1_000n;
  if (minTime > now + CLOCKS_APART) return `Its time bounds begin at ${minTime}, and it is ${now} on the chain`;
  const first = BigInt(ledgers?.minLedger ?? 0);
  return first > sequence + 1n ? `It is good from ledger ${first}, and the last is ${sequence}` : undefined;
}

/** The client has signed all but the fee. */
async function prepareFeeBump(rpc: RpcClient, request: FeeBumpRequest, asked: AskedDraft): Promise<Preparation> {
  const { maxFee } = readPolicy(asked.account.policies);
  // Nor in this.
  if (maxFee !== null && amountOf(request.max_fee) > maxFee) {
    return { kind: 'refused', reason: `Max fee exceeded: ${maxFee}` };
  }
  return decidedBy(rpc, asked, (one) => feeBump(request, one));
}

async function feeBump({ inner, max_fee: bid }: FeeBumpRequest, asked: Asked): Promise<Preparation> {
  const { latest, transaction } = asked;
  const fee = amountOf(bid);
  const { transaction: within } = readEnvelope(inner);
  const { maxTime } = boundsOf(within);
  if (maxTime !== 0n && BigInt(latest.closedAt) > maxTime * 1_000n) {
    return { kind: 'refused', reason: TOO_LATE, end: 'expired' };
  }
  const source = accountOf(within.sourceAccount);
  const { seqNum: sequence } = within;
  const hash = hashOf(within, chainOfLane(transaction.lane)).toString('hex');
  const fields = { ...fieldsFor(asked, fee, maxTime), inner: { hash, source, sequence: jsonAmount(sequence) } };
  const billing = await billed(asked, fields, fee);
  return billing.kind === 'ready' ? { ...billing, anchor: { kind: 'text', text: `${source}:${sequence}` } } : billing;
}

function fieldsFor({ transaction, account, latest }: Asked, fee: bigint, maxTime: bigint): StellarFields {
  return {
    passphrase: chainOfLane(transaction.lane),
    source: account.address,
    fee: jsonAmount(fee),
    max_time: jsonAmount(maxTime),
    ledger: jsonAmount(latest.sequence),
  };
}

/** Ready where the account has the money. */
async function billed(
  { read, account, latest, committed, minBalance }: Asked,
  fields: StellarFields,
  cost: bigint,
): Promise<Preparation> {
  const { address } = account;
  const { account: payer } = await accountAt(read, address);
  if (payer === null) return parkedForFunds(`Insufficient balance: account ${address} does not exist`);
  const short = shortage({ account: payer, committed, cost, minBalance, baseReserve: latest.baseReserve });
  return short === undefined ? { kind: 'ready', fields, cost } : parkedForFunds(short);
}

/** {@link import('../chain-client.ts').ReadyPreparation.cost} of what was prepared before; zero of what was not. */
export function costOf({ request, fields }: Pick<Transaction, 'request' | 'fields'>): bigint {
  const known = readFields(fields);
  if (known === undefined) return 0n;
  const asked = readRequest(request);
  const taken = 'inner' in asked ? 0n : lumensOf(preparedDraft(asked, known), known);
  return amountOf(known.fee) + taken;
}

/** What a transaction of its own takes from the account beside its fee, at the most. */
function lumensOf(draft: Draft, { source, passphrase, contract }: StellarFields): bigint {
  const consents = contract?.consents.map((text) => xdr.SorobanAuthorizationEntry.fromXdr(text, 'base64')) ?? [];
  return lumensTaken(draft, source) + lumensConsented(consents, passphrase);
}
