import { amountOf, jsonAmount } from '../../domain/amount.ts';
import { invalidRequest } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Attempt, Transaction } from '../../domain/transaction.ts';
import type { Account, LaneFigures, NewVersion, VersionPreparation } from '../chain.ts';
import { normalAddress } from './address.ts';
import { policyViolation } from './admission.ts';
import {
  type Caps,
  capPrice,
  highestOf,
  laterPriceOf,
  least,
  minimumBump,
  most,
  mostPerGas,
  type Price,
  priceOf,
  raiseTo,
  reaches,
} from './fees.ts';
import type { Market } from './market.ts';
import { type EvmPolicy, readPolicy } from './policy.ts';
import {
  aboveCap,
  beyondBlock,
  costed,
  costOf,
  estimated,
  gasFor,
  misfit,
  type PrepareParts,
  parked,
  shortOfFunds,
  unlessSaidTwice,
  withinBlock,
} from './prepare.ts';
import { toQuantity } from './provider.ts';
import {
  type EvmFields,
  type EvmRequest,
  type EvmSettings,
  readFields,
  readRequest,
  type Speed,
  type StoredRequest,
} from './schema.ts';

/** What is known of an earlier version. */
export type EarlierVersion = Pick<Attempt, 'purpose' | 'request' | 'fields'>;

/** A transaction and its signed versions, by ordinal. */
export interface VersionEntry {
  transaction: Transaction;
  attempts: readonly EarlierVersion[];
}

/** One more version, as far as it is decided before the network is asked. */
interface Plan {
  purpose: NewVersion['purpose'];
  stored: JsonObject;
  request: EvmRequest;
  /** Of the latest version; undefined when there is none. */
  latest: EvmFields | undefined;
  last: Attempt['purpose'] | undefined;
  /** Undefined when there is nothing to beat. */
  highest: Caps | undefined;
  /** The most that the first version pays for a unit of gas; undefined when there is none. */
  firstFee: bigint | undefined;
  /** What the signed versions may take by now: the cost of the dearest. */
  own: bigint;
  policy: EvmPolicy;
  account: Account;
  transaction: Transaction;
}

type Priced = { kind: 'price'; price: Price } | Exclude<VersionPreparation, { kind: 'ready' }>;

/**
 * Prices one more version of a transaction under the nonce it has: dearer than each earlier one by what pools ask for,
 * unless the network has no pool. `lane.committed` counts what the dearest of its versions may take, by {@link costOf}. A
 * bump is of the latest version, so that of a void is a void; where it is refused, what is asked can never be mined.
 */
export async function prepareVersion(
  parts: PrepareParts,
  entry: VersionEntry,
  version: NewVersion,
  account: Account,
  lane: LaneFigures,
): Promise<VersionPreparation> {
  const plan = planOf(entry, version, account);
  // What a bump repeats is on offer already, and policies have no say in whether it takes effect.
  const fault =
    plan.purpose === 'replace'
      ? (policyViolation(plan.request, account) ?? replacementFault(plan, parts.settings))
      : undefined;
  if (fault !== undefined) return { kind: 'refused', reason: fault };
  return unlessSaidTwice(parts, (from) => prepareOnce(from, plan, lane));
}

function planOf({ transaction, attempts }: VersionEntry, version: NewVersion, account: Account): Plan {
  const last = attempts.at(-1);
  const isSigned = last !== undefined;
  const purpose = version.purpose === 'bump' && last?.purpose === 'void' ? 'void' : version.purpose;
  const stored = {
    bump: () => last?.request ?? transaction.request,
    replace: () => (version.purpose === 'replace' ? version.request : transaction.request),
    void: () => voidRequest(account),
  }[purpose]();
  return {
    purpose,
    stored,
    request: readRequest(stored),
    latest: isSigned ? (readFields(last.fields) ?? readFields(transaction.fields)) : undefined,
    last: last?.purpose,
    // Versions that were stored without their prices have at most the transaction's own.
    highest: isSigned ? highestOf(fieldsOf([...attempts, transaction])) : undefined,
    firstFee: highestOf(fieldsOf(attempts.slice(0, 1)))?.fee,
    own: attempts.map(costOf).reduce(most, 0n),
    policy: readPolicy(account.policies),
    account,
    transaction,
  };
}

function fieldsOf(attempts: readonly Pick<Attempt, 'fields'>[]): EvmFields[] {
  return attempts.map(({ fields }) => readFields(fields)).filter((fields) => fields !== undefined);
}

async function prepareOnce(parts: PrepareParts, plan: Plan, lane: LaneFigures): Promise<VersionPreparation> {
  const { account, purpose, request } = plan;
  const isForced = purpose === 'void';
  const [market, gas, funds] = await Promise.all([
    // Where there is no pool, the latest base fee is all that counts.
    parts.market(parts.settings.lacksMempool ? 'fresh' : undefined),
    gasOf(parts, plan),
    parts.balance(account.address),
  ]);
  const gasLimit = isForced ? withinLimit(gas.limit, market) : withinBlock(gas, market);
  const tooMuchGas = isForced ? undefined : beyondBlock(gasLimit, market);
  if (tooMuchGas !== undefined) return { kind: 'refused', reason: tooMuchGas };

  const priced = pricedFor(plan, market, gasLimit, parts.settings);
  if (priced.kind !== 'price') return priced;
  const unfit = misfit(request, priced.price);
  if (unfit !== undefined) return { kind: 'refused', reason: unfit };

  const version = { request: plan.stored, sequence: plan.transaction.sequence };
  const wanted = await costed(parts, version, account, gasLimit, priced.price);
  const price = isForced ? payable(plan, priced.price, market, { funds, gasLimit, cost: wanted.cost }) : priced.price;
  const ready = price === priced.price ? wanted : await costed(parts, version, account, gasLimit, price);
  return unpayable(plan, funds, ready.cost, lane) ?? { ...ready, request: plan.stored };
}

/**
 * A void's price, lowered to what the balance pays: as far as the reserve allows while that can be mined and beats the
 * earlier versions, else as far as there is money. A void that is silently put off would leave in effect what nobody
 * wants.
 */
function payable(
  { highest, policy }: Plan,
  price: Price,
  market: Market,
  { funds, gasLimit, cost }: { funds: bigint; gasLimit: bigint; cost: bigint },
): Price {
  if (funds - policy.minBalance >= cost) return price;
  const extra = cost - mostPerGas(price) * gasLimit;
  const perGas = (money: bigint) => most((money - extra) / gasLimit, 0n);
  const outbid = highest === undefined ? { fee: 0n, tip: 0n } : minimumBump(highest);
  const beating = most(outbid.fee, outbid.tip);
  const mined = market.block.baseFeePerGas ?? market.gasPrice;
  const kept = capPrice(price, most(perGas(funds - policy.minBalance), most(beating, mined)));
  if (mostPerGas(kept) * gasLimit + extra <= funds) return kept;
  const floor = highest === undefined ? mined : beating;
  return capPrice(kept, most(perGas(funds), floor));
}

/** A version that a node keeps dropping for its gas limit would hold the account up, so rollups' moving share counts. */
async function gasOf(parts: PrepareParts, plan: Plan): Promise<{ used: bigint; limit: bigint }> {
  const { purpose, request, latest, policy, account } = plan;
  if (purpose === 'void') return exactly(await voidGas(parts, plan));
  if (purpose === 'replace' || latest === undefined) return gasFor(parts, request, policy, account.address);
  const before = amountOf(latest.gas_limit);
  if (!parts.settings.isArbitrum || request.gasLimit !== null) return exactly(before);
  const now = await gasFor(parts, request, policy, account.address);
  return now.limit > before ? now : exactly(before);
}

function exactly(limit: bigint): { used: bigint; limit: bigint } {
  return { used: limit, limit };
}

const TRANSFER_GAS = 21_000n;
/** What a transfer takes on Arbitrum, where gas also pays for data, when its node does not say. */
const ARBITRUM_TRANSFER_GAS = 50_000n;

/** A void's gas is this many transfers' at most, where no version says more: one wrong estimate is not to rule it. */
const VOID_TRANSFERS = 10n;
/** By how much a void's gas may exceed that of a void before it, which was not enough, or there would be no other. */
const VOID_STEP = 10n;

/** Gas for nothing: more than a transfer's on chains that charge more, and where the account has code (EIP-7702). */
async function voidGas(parts: PrepareParts, { account, latest, last }: Plan): Promise<bigint> {
  const usual = parts.settings.isArbitrum ? ARBITRUM_TRANSFER_GAS : TRANSFER_GAS;
  const self = normalAddress(account.address);
  const call = { from: self, to: self, value: toQuantity(0n) };
  const told = await estimated(parts, call);
  if (told === undefined) return usual;
  // What an earlier version may take is on offer already, and on chains with other measures it is of their size.
  const before = latest === undefined ? 0n : amountOf(latest.gas_limit);
  const bound = most(VOID_TRANSFERS * usual, last === 'void' ? VOID_STEP * before : before);
  const wanted = withReserve(told);
  if (wanted <= bound) return wanted;
  const again = withReserve((await estimated(parts, call, 'all')) ?? told);
  return least(least(wanted, again), bound);
}

function withReserve(estimate: bigint): bigint {
  return estimate > TRANSFER_GAS ? (estimate * 110n) / 100n : TRANSFER_GAS;
}

/** More than the block's limit no node takes, and less than a transfer's gas neither. */
function withinLimit(gas: bigint, { block }: Market): bigint {
  return block.gasLimit === 0n ? gas : most(least(gas, block.gasLimit), TRANSFER_GAS);
}

/**
 * How far above the first version's price the market may take bumps and voids where the policy has no cap: no market
 * rises so far while a transaction waits. Cheap first versions count as one gwei, so that these can be outbid.
 */
const MOST_TIMES_FIRST = 100n;
const CHEAP = 1_000_000_000n;

function capOf({ policy, firstFee }: Plan): bigint | null {
  if (policy.gasPriceCap !== null || firstFee === undefined) return policy.gasPriceCap;
  return MOST_TIMES_FIRST * most(firstFee, CHEAP);
}

function pricedFor(plan: Plan, market: Market, gasLimit: bigint, settings: EvmSettings): Priced {
  const { request, policy, highest } = plan;
  const { averageBlocktimeMs, lacksMempool } = settings;
  const outbid = highest === undefined ? undefined : minimumBump(highest);
  switch (plan.purpose) {
    case 'void':
      return voidPrice(plan, market, averageBlocktimeMs);
    case 'replace': {
      if (request.price.kind !== 'speed') return priced(request.price);
      if (market.doubt !== undefined) return parked(market.doubt);
      const wanted = raised(priceOf(request.price, market, policy, averageBlocktimeMs), outbid);
      return priced(capPrice(wanted, policy.gasPriceCap));
    }
    case 'bump': {
      const tooDear = aboveCap(policy, market) ?? market.doubt;
      if (tooDear !== undefined) return parked(tooDear);
      const asked = laterPriceOf(request.price, market, policy, averageBlocktimeMs);
      const cap = capOf(plan);
      if (lacksMempool) return followed(plan, capPrice(raised(asked, highest), cap), gasLimit);
      const price = capPrice(raised(asked, outbid), cap);
      if (outbid === undefined || reaches(price, outbid)) return priced(price);
      return parked(policy.gasPriceCap === null ? ceilingReason(outbid) : capReason(policy, outbid));
    }
  }
}

/**
 * The market's price, lowered to the cap, or the least that takes the place of the earlier versions where that is more:
 * so a void goes beyond the cap step by step, each only after the cheaper one was not enough. The least it is as well
 * while the market is in doubt.
 */
function voidPrice(plan: Plan, market: Market, averageBlocktimeMs: number): Priced {
  const { request, policy, highest } = plan;
  const cap = capOf(plan);
  const asked = capPrice(priceOf(request.price, market, policy, averageBlocktimeMs), cap);
  if (highest === undefined) return market.doubt === undefined ? priced(asked) : parked(market.doubt);
  const outbid = minimumBump(highest);
  const needed = most(outbid.fee, outbid.tip);
  const limit = market.doubt !== undefined ? needed : cap === null ? null : most(cap, needed);
  // A higher priority fee takes the room for the base fee along, beyond the cap where that is not held down again.
  return priced(capPrice(raiseTo(asked, outbid), limit));
}

/** Without a pool nothing has to be outbid: another version is worth it when the network asks for more by now. */
function followed({ highest, latest }: Plan, price: Price, gasLimit: bigint): Priced {
  if (highest === undefined || latest === undefined) return priced(price);
  const isBetter = mostPerGas(price) > highest.fee || gasLimit > amountOf(latest.gas_limit);
  if (isBetter && reaches(price, highest)) return priced(price);
  return parked(`The network's price is not above the ${highest.fee} wei per gas that were offered before`);
}

function raised(price: Price, outbid: Caps | undefined): Price {
  return outbid === undefined ? price : raiseTo(price, outbid);
}

function priced(price: Price): Priced {
  return { kind: 'price', price };
}

/** Only one version of a transaction takes effect, so what the earlier ones may take is not needed twice. */
function unpayable(plan: Plan, funds: bigint, cost: bigint, lane: LaneFigures): VersionPreparation | undefined {
  if (plan.purpose === 'void') {
    if (funds >= cost) return undefined;
    return parked(`Insufficient balance: Relayer balance ${funds} is insufficient to cover ${cost}`, 'balance');
  }
  const others = lane.committed - plan.own;
  const short = shortOfFunds(funds, cost, plan.policy, { committed: others > 0n ? others : 0n });
  // The version that a node has already stays good.
  return plan.purpose === 'bump' && short?.kind === 'refused' ? parked(short.reason, 'balance') : short;
}

/**
 * Checks what can be told without asking the network of a request that is to take the place of signed versions.
 * @param request in the stored form
 * @throws AppError `INVALID_REQUEST`
 */
export function checkReplacement(
  attempts: readonly Pick<Attempt, 'fields'>[],
  request: JsonObject,
  account: Account,
  settings: EvmSettings,
): void {
  const asked = { request: readRequest(request), policy: readPolicy(account.policies) };
  const fault = replacementFault({ ...asked, highest: highestOf(fieldsOf(attempts)) }, settings);
  if (fault !== undefined) throw invalidRequest(fault);
}

function replacementFault(
  { request, policy, highest }: Pick<Plan, 'request' | 'policy' | 'highest'>,
  settings: EvmSettings,
): string | undefined {
  const { price } = request;
  const cap = policy.gasPriceCap;
  const outbid = highest === undefined ? undefined : minimumBump(highest);
  if (price.kind === 'speed') {
    const isOpen = outbid === undefined || cap === null || (outbid.fee <= cap && outbid.tip <= cap);
    return isOpen
      ? undefined
      : `Unable to calculate sufficient price bump for speed-based replacement: ${capReason(policy, outbid)}`;
  }
  if (cap !== null && mostPerGas(price) > cap) {
    const name = price.kind === 'legacy' ? 'Gas price' : 'Max fee per gas';
    return `${name} ${mostPerGas(price)} exceeds gas price cap ${cap}`;
  }
  if (outbid === undefined || settings.lacksMempool || reaches(price, outbid)) return undefined;
  return 'Gas price increase does not meet minimum bump requirement';
}

function capReason({ gasPriceCap }: EvmPolicy, { fee, tip }: Caps): string {
  const needed = most(fee, tip);
  return `a version in the place of the earlier ones has to offer ${needed} wei per gas, and the gas_price_cap is ${gasPriceCap}`;
}

function ceilingReason({ fee, tip }: Caps): string {
  const needed = most(fee, tip);
  return `a version in the place of the earlier ones has to offer ${needed} wei per gas, more than ${MOST_TIMES_FIRST} times the first`;
}

/** A request that takes a nonce of the account and does nothing else, in the stored form. */
export function voidRequest(account: Account): JsonObject {
  return {
    to: account.address,
    value: '0x0',
    data: '0x',
    gas_limit: null,
    gas_price: null,
    max_fee_per_gas: null,
    max_priority_fee_per_gas: null,
    speed: 'fast',
  } satisfies StoredRequest;
}

/** Prepared fields with one more unit of gas: what is not used costs nothing. */
export function vary(fields: JsonObject): JsonObject {
  const known = readFields(fields);
  return known === undefined ? fields : { ...fields, gas_limit: jsonAmount(amountOf(known.gas_limit) + 1n) };
}

const MINUTE_MS = 60_000;
const PATIENCE_MS: Readonly<Record<Speed, number>> = {
  fastest: 2 * MINUTE_MS,
  fast: 3 * MINUTE_MS,
  average: 5 * MINUTE_MS,
  safeLow: 10 * MINUTE_MS,
};
const LONGEST_PATIENCE_MS = 60 * MINUTE_MS;
const POOLLESS_PATIENCE_MS = 20_000;

/**
 * How long a version that a node took may be silent before the next, dearer one, in milliseconds: by speed, twice as
 * long after each of the signed versions so far.
 */
export function patienceMs(settings: EvmSettings, transaction: Transaction, attempts: number): number {
  if (settings.lacksMempool) return POOLLESS_PATIENCE_MS;
  const { price } = readRequest(transaction.request);
  const isUrgent = price.kind !== 'speed' || transaction.voidAs !== null;
  const base = PATIENCE_MS[isUrgent ? 'fast' : price.speed];
  // Beyond six doublings every speed has reached the longest.
  return Math.min(base * 2 ** Math.min(Math.max(attempts - 1, 0), 6), LONGEST_PATIENCE_MS);
}
