import { amountOf, jsonAmount, largestAmount, smallestAmount } from '../../domain/amount.ts';
import { invalidRequest } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import { isNodeError } from '../../egress/rpc/rpc-client.ts';
import type { Attempt } from '../../features/transactions/records/attempt.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import type { LaneCommitments, RelayerAccount, ReplacementPreparation, ReplacementSpec } from '../chain-client.ts';
import { normalAddress } from './address.ts';
import type { EvmNetworkSettings } from './configuration/network.ts';
import { readPolicy } from './configuration/policy.ts';
import { gasCapInRefusal, gasLimitRefusal, gasPriceInRefusal } from './errors.ts';
import {
  blockGasFault,
  capGasToBlock,
  EIP_7825_GAS,
  type GasRequirement,
  gasLimitWithReserve,
  gasRequirementOf,
  gasShortage,
  type PrepareParts,
  parkedPreparation,
  parkIfShortOfFunds,
  preparedCostOf,
  priceMismatch,
  privacyOf,
  readyAttempt,
  transactionGasFault,
  withRemark,
  withSecondOpinion,
} from './prepare.ts';
import type { GasMarket } from './price/gas-market.ts';
import { highestFeeCaps } from './price/gas-price.ts';
import {
  affordablePrice,
  type ReplacementPricePlan,
  replacementPriceFault,
  replacementPriceFor,
} from './price/replacement-price.ts';
import { policyViolation } from './request.ts';
import { toQuantity } from './rpc-calls.ts';
import { type EvmFields, readChainFields, readStoredRequest, type Speed, type StoredEvmRequest } from './schema.ts';

/** What is known of an earlier attempt. */
export type EarlierAttempt = Pick<Attempt, 'purpose' | 'request' | 'fields'>;

/** A transaction and its signed attempts, by ordinal. */
export interface TransactionAttempts {
  transaction: Transaction;
  attempts: readonly EarlierAttempt[];
}

/** One more attempt, as far as it is decided before the network is asked. */
interface Plan extends ReplacementPricePlan {
  stored: JsonObject;
  /** The most that the signed attempts may take: the cost of the dearest. */
  own: bigint;
  /** How many attempts there are. */
  count: number;
  /** What every node said of the latest attempt that they refuse; undefined if they did not. */
  refusal: string | undefined;
  account: RelayerAccount;
  transaction: Transaction;
}

/**
 * Prices one more attempt of a transaction under its nonce. The price exceeds each earlier one by what pools ask for,
 * unless the network has no pool. `lane.committed` counts the most that the dearest attempt may take, by
 * {@link preparedCostOf}. A bump repeats the latest attempt. If a bump is refused, the request can never be mined.
 */
export async function prepareReplacement(
  parts: PrepareParts,
  entry: TransactionAttempts,
  attempt: ReplacementSpec,
  account: RelayerAccount,
  lane: LaneCommitments,
): Promise<ReplacementPreparation> {
  const plan = planOf(entry, attempt, account);
  // Policies do not stop a bump: the attempt that it repeats is already on offer and may take effect anyway.
  const fault =
    plan.purpose === 'replace'
      ? (policyViolation(plan.request, account, parts.settings) ?? replacementPriceFault(plan, parts.settings))
      : gasFault(plan);
  if (fault !== undefined) return { kind: 'refused', reason: fault };
  return withSecondOpinion(parts, (from) => prepareOnce(from, plan, lane));
}

function planOf(
  { transaction, attempts }: TransactionAttempts,
  attempt: ReplacementSpec,
  account: RelayerAccount,
): Plan {
  const last = attempts.at(-1);
  const isSigned = last !== undefined;
  const { purpose } = attempt;
  const refusal = attempt.purpose === 'replace' ? undefined : attempt.refusal;
  const isGasRefused = refusal !== undefined && gasLimitRefusal(refusal) !== undefined;
  const stored = {
    bump: () => last?.request ?? transaction.request,
    replace: () => (attempt.purpose === 'replace' ? attempt.request : transaction.request),
    noop: () => noopRequest(account),
  }[purpose]();
  return {
    purpose,
    stored,
    request: readStoredRequest(stored),
    latest: isSigned ? (readChainFields(last.fields) ?? readChainFields(transaction.fields)) : undefined,
    // An attempt that was stored without its price has at most the transaction's own.
    highest: isSigned ? highestFeeCaps(fieldsOf([...attempts, transaction])) : undefined,
    highestAsked: highestFeeCaps(fieldsOf(attempts.filter(({ purpose: of }) => of !== 'noop')))?.fee,
    firstFee: highestFeeCaps(fieldsOf(attempts.slice(0, 1)))?.fee,
    own: largestAmount(0n, ...attempts.map(preparedCostOf)),
    count: attempts.length,
    refusal,
    isGasRefused,
    isRefused: isGasRefused || (attempt.purpose === 'noop' && attempt.isRefused === true),
    named: refusal === undefined ? undefined : gasPriceInRefusal(refusal),
    policy: readPolicy(account.policies),
    account,
    transaction,
  };
}

function fieldsOf(attempts: readonly Pick<Attempt, 'fields'>[]): EvmFields[] {
  return attempts.map(({ fields }) => readChainFields(fields)).filter((fields) => fields !== undefined);
}

async function prepareOnce(parts: PrepareParts, plan: Plan, lane: LaneCommitments): Promise<ReplacementPreparation> {
  const { account, purpose, request } = plan;
  const isForced = purpose === 'noop';
  const [market, gas, funds] = await Promise.all([
    // Without a pool, only the latest base fee counts.
    parts.market(parts.settings.lacksMempool ? 'fresh' : undefined),
    gasOf(parts, plan),
    parts.balance(account.address),
  ]);
  const gasLimit = isForced ? withinLimit(gas.limit, market) : capGasToBlock(gas, market);
  const tooMuchGas = isForced
    ? undefined
    : (transactionGasFault(gasLimit, parts.settings) ?? blockGasFault(gasLimit, market));
  if (tooMuchGas !== undefined) return { kind: 'refused', reason: tooMuchGas };

  const priced = replacementPriceFor(plan, market, gasLimit, parts.settings);
  if (priced.kind !== 'price') return priced;
  const unfit = priceMismatch(request, priced.price);
  if (unfit !== undefined) return { kind: 'refused', reason: unfit };

  // What began in private stays so, whatever the policies are by now. A noop that fills a gap follows the policies.
  const privacy = plan.latest === undefined ? privacyOf(plan.policy, market) : plan.latest.private;
  const attempt = { request: plan.stored, sequence: plan.transaction.sequence, privacy };
  const prepared = await readyAttempt(parts, attempt, account, gasLimit, priced.price);
  const price = isForced
    ? affordablePrice(plan, priced.price, market, { funds, gasLimit, cost: prepared.cost })
    : priced.price;
  const ready = price === priced.price ? prepared : await readyAttempt(parts, attempt, account, gasLimit, price);
  const later = unpayable(plan, funds, ready.cost, lane) ?? (isForced ? undefined : gasShortage(gas));
  return later ?? withRemark({ ...ready, request: plan.stored }, gas);
}

/** After so many attempts, no further gas limit is tried in place of one that nodes refuse. */
const MAX_GAS_LIMITS = 6;

/** Why a refused gas limit ends the request: it is the request's own, or none of those tried was taken. */
function gasFault({ purpose, isGasRefused, refusal, request, count }: Plan): string | undefined {
  if (purpose !== 'bump' || !isGasRefused) return undefined;
  return request.gasLimit !== null || count >= MAX_GAS_LIMITS ? `No node takes it: ${refusal}` : undefined;
}

/**
 * The gas in place of a limit that nodes refused. Nothing was executed, so the call is estimated anew. A limit that was
 * too low grows by a quarter at least. One that was too high is lowered to the figure that the refusal names, else to
 * that of EIP-7825, but never below the estimate.
 */
async function gasAfterRefusal(
  parts: PrepareParts,
  plan: Plan,
  refused: bigint,
  refusal: string,
): Promise<GasRequirement> {
  const now = await gasRequirementOf(parts, plan.request, plan.policy, plan.account.address);
  if (gasLimitRefusal(refusal) === 'too low') return { ...now, limit: largestAmount(now.limit, (refused * 5n) / 4n) };
  const cap = gasCapInRefusal(refusal, refused) ?? (EIP_7825_GAS < refused ? EIP_7825_GAS : now.used);
  return { ...now, limit: largestAmount(now.used, smallestAmount(now.limit, cap)) };
}

/**
 * The gas of the new attempt. On Arbitrum it is estimated again, because the share of gas for data moves there. Nodes
 * would keep dropping an attempt whose gas limit is too low, and that would hold the account up.
 */
async function gasOf(parts: PrepareParts, plan: Plan): Promise<GasRequirement> {
  const { purpose, request, latest, policy, account } = plan;
  if (purpose === 'noop') {
    const need = await noopGas(parts, account);
    const isTooLow = latest !== undefined && plan.refusal !== undefined && gasLimitRefusal(plan.refusal) === 'too low';
    return isTooLow ? { ...need, limit: largestAmount(need.limit, (amountOf(latest.gas_limit) * 5n) / 4n) } : need;
  }
  if (purpose === 'replace' || latest === undefined) return gasRequirementOf(parts, request, policy, account.address);
  const before = amountOf(latest.gas_limit);
  if (plan.isGasRefused && plan.refusal !== undefined) return gasAfterRefusal(parts, plan, before, plan.refusal);
  if (!parts.settings.isArbitrum || request.gasLimit !== null) return fixedGas(before);
  const now = await gasRequirementOf(parts, request, policy, account.address);
  return now.limit > before ? now : fixedGas(before);
}

function fixedGas(limit: bigint): GasRequirement {
  return { used: limit, limit };
}

/**
 * Parks an attempt that the balance cannot pay for. Only one attempt of a transaction takes effect, so the cost of the
 * earlier ones is not needed on top.
 */
function unpayable(plan: Plan, funds: bigint, cost: bigint, lane: LaneCommitments): ReplacementPreparation | undefined {
  if (plan.purpose === 'noop') {
    if (funds >= cost) return undefined;
    return parkedPreparation(
      `Insufficient balance: Relayer balance ${funds} is insufficient to cover ${cost}`,
      'balance',
    );
  }
  const others = lane.committed - plan.own;
  return parkIfShortOfFunds(funds, cost, plan.policy, { committed: others > 0n ? others : 0n });
}

/**
 * Checks, without asking the network, a request that is to replace signed attempts.
 * @param request in the stored form
 * @throws AppError `INVALID_REQUEST`
 */
export function checkReplacement(
  attempts: readonly Pick<Attempt, 'fields'>[],
  request: JsonObject,
  account: RelayerAccount,
  settings: EvmNetworkSettings,
): void {
  const replacement = { request: readStoredRequest(request), policy: readPolicy(account.policies) };
  const { gasLimit } = replacement.request;
  const tooMuchGas = gasLimit === null ? undefined : transactionGasFault(gasLimit, settings);
  const fault =
    tooMuchGas ?? replacementPriceFault({ ...replacement, highest: highestFeeCaps(fieldsOf(attempts)) }, settings);
  if (fault !== undefined) throw invalidRequest(fault);
}

/** Prepared fields with one more unit of gas. Unused gas costs nothing. */
export function withDistinctBytes(fields: JsonObject): JsonObject {
  const known = readChainFields(fields);
  return known === undefined ? fields : { ...fields, gas_limit: jsonAmount(amountOf(known.gas_limit) + 1n) };
}

const MINUTE_MS = 60_000;
const PATIENCE_MS: Readonly<Record<Speed, number>> = {
  fastest: 2 * MINUTE_MS,
  fast: 3 * MINUTE_MS,
  average: 5 * MINUTE_MS,
  safeLow: 10 * MINUTE_MS,
};
const MAX_PATIENCE_MS = 60 * MINUTE_MS;
const POOLLESS_PATIENCE_MS = 20_000;

/**
 * How long to wait for an attempt that a node took before the next, dearer one, in milliseconds. The time depends on
 * the speed and doubles with each signed attempt.
 */
export function replacementDelayMs(settings: EvmNetworkSettings, transaction: Transaction, attempts: number): number {
  if (settings.lacksMempool) return POOLLESS_PATIENCE_MS;
  const { price } = readStoredRequest(transaction.request);
  const isUrgent = price.kind !== 'speed' || transaction.noopEnd !== null;
  const base = PATIENCE_MS[isUrgent ? 'fast' : price.speed];
  // Beyond six doublings every speed has reached the longest.
  return Math.min(base * 2 ** Math.min(Math.max(attempts - 1, 0), 6), MAX_PATIENCE_MS);
}

/** A request that uses up a nonce of the account and does nothing else, in the stored form. */
export function noopRequest(account: RelayerAccount): JsonObject {
  return {
    to: account.address,
    value: '0x0',
    data: '0x',
    gas_limit: null,
    gas_price: null,
    max_fee_per_gas: null,
    max_priority_fee_per_gas: null,
    speed: 'fast',
  } satisfies StoredEvmRequest;
}

const TRANSFER_GAS = 21_000n;
/** The gas of a transfer on Arbitrum, where gas also pays for data. Used when the node gives no estimate. */
const ARBITRUM_TRANSFER_GAS = 50_000n;

/**
 * The gas of a noop. It is more than a transfer's on chains that charge more, and where the account has code
 * (EIP-7702). All nodes are asked, so that one wild estimate does not decide. A node's error leads to the usual gas,
 * whatever it says: a noop with too little gas does no harm, and one that is not sent blocks the account.
 */
async function noopGas(parts: PrepareParts, account: RelayerAccount): Promise<GasRequirement> {
  const self = normalAddress(account.address);
  const call = { from: self, to: self, value: toQuantity(0n) };
  const estimate = await parts.estimate(call, 'all').catch(nodeError);
  if ('used' in estimate) {
    const limit = estimate.used > TRANSFER_GAS ? gasLimitWithReserve(estimate.used, parts.settings) : TRANSFER_GAS;
    return { used: limit, limit };
  }
  const usual = parts.settings.isArbitrum ? ARBITRUM_TRANSFER_GAS : TRANSFER_GAS;
  const fallback = `Its gas limit is ${usual}, as nodes could not estimate it: ${estimate.reason}`;
  return { used: usual, limit: usual, fallback };
}

function nodeError(error: unknown): { reason: string } {
  if (isNodeError(error)) return { reason: error.message };
  throw error;
}

/** Keeps gas between a transfer's gas and the block's limit. Nodes take nothing outside of that. */
function withinLimit(gas: bigint, { block }: GasMarket): bigint {
  return block.gasLimit === 0n ? gas : largestAmount(smallestAmount(gas, block.gasLimit), TRANSFER_GAS);
}
