import { amountOf, jsonAmount, largestAmount, smallestAmount } from '../../domain/amount.ts';
import type { Clock } from '../../domain/clock.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import { printable } from '../../domain/printable.ts';
import { type ReadFromEndpoint, type RpcClient, RpcError } from '../../egress/rpc/rpc-client.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import type {
  LaneCommitments,
  ParkedPreparation,
  ReadyPreparation,
  RelayerAccount,
  TransactionPreparation,
} from '../chain-client.ts';
import { answersInTime, confirmRefusal, medianBy, medianOfEndpoints, parkRefusal } from '../quorum.ts';
import type { EvmNetworkSettings } from './configuration/network.ts';
import { type EvmPolicy, readPolicy } from './configuration/policy.ts';
import { classifyEstimateError } from './errors.ts';
import { intrinsicGas } from './price/gas-amount.ts';
import {
  createGasMarket,
  freshShared,
  type GasMarket,
  type GasMarketReading,
  readGasMarket,
} from './price/gas-market.ts';
import { type GasPrice, gasPriceFor, maxPricePerGas, priceFields } from './price/gas-price.ts';
import { createPriceCorroboration } from './price/price-corroboration.ts';
import { rollupDataFee } from './price/rollup.ts';
import { policyViolation } from './request.ts';
import { estimateGas, getBalance, onlyOnChain } from './rpc-calls.ts';
import {
  callForEstimate,
  type EvmFields,
  type EvmRequest,
  readChainFields,
  readStoredRequest,
  storedFields,
} from './schema.ts';

/** What preparing needs of the network's live side. */
export interface PrepareParts {
  /** Reads a figure from one node. With `all`: from all nodes, and takes the middle one, the lower of two. */
  figure(use: (read: ReadFromEndpoint) => Promise<bigint>, of?: 'all'): Promise<bigint>;
  settings: EvmNetworkSettings;
  /** The chain id of the transaction's lane. */
  chainId: bigint;
  market: GasMarketReading;
  /** The gas of a call, by one node or by all. @throws RpcError if no node says anything about the call */
  estimate(call: JsonObject, of?: 'all'): Promise<GasEstimate>;
  /** The balance from one node, or from all. Never of a state older than the call. */
  balance(address: string, of?: 'all'): Promise<bigint>;
  endpoints: Pick<RpcClient, 'endpointCount' | 'onAll'>;
}

/** Opens the parts of one chain. Only endpoints that serve that chain count. */
export function openPrepareParts(
  rpc: RpcClient,
  settings: EvmNetworkSettings,
  chainId: bigint,
  clock: Clock,
): PrepareParts {
  const own = onlyOnChain(chainId, rpc);
  const byOne = freshShared((address: string) => own.onOne((one) => getBalance(one, address)));
  const byAll = freshShared(async (address: string) => {
    const answers = await medianOfEndpoints(own, (one) => getBalance(one, address), 'higher');
    return answers ?? byOne(address);
  });
  const read: ReadFromEndpoint = (method, params, parse) => own.onOne((one) => one(method, params, parse));
  let hadTips: boolean | undefined;
  const marketOfOne = async () => {
    const market = await own.onOne((one) => readGasMarket(one, settings, own, hadTips));
    hadTips = market.tips !== undefined;
    return market;
  };
  const guarded = createPriceCorroboration(clock, {
    one: marketOfOne,
    all: () => answersInTime(own.onAll((one) => readGasMarket(one, settings))),
  });
  return {
    figure: async (use, of) => (of === 'all' ? await medianOfEndpoints(own, use, 'lower') : undefined) ?? use(read),
    settings,
    chainId,
    market: createGasMarket(settings, clock, guarded),
    estimate: (call, of) => estimateFrom(own, call, of),
    balance: (address, of) => (of === 'all' ? byAll(address) : byOne(address)),
    endpoints: own,
  };
}

/** How the bytes of a transaction that is signed now are kept private; undefined: they need not. */
export function privacyOf(policy: EvmPolicy, { block }: GasMarket): EvmFields['private'] {
  if (!policy.privateTransactions) return undefined;
  return { from: jsonAmount(block.number), blocks: policy.privateBlocks, after: policy.privateThen };
}

/** The pause before a transaction that waits for a lower price or for funds is tried again. */
const PARKED_FOR_MS = 10_000;

/**
 * Decides a transaction's gas limit and price. Checks that the account's policies allow the transaction and that the
 * balance can pay for it.
 */
export async function prepareTransaction(
  parts: PrepareParts,
  transaction: Transaction,
  account: RelayerAccount,
  lane: LaneCommitments,
): Promise<TransactionPreparation> {
  const violation = policyViolation(readStoredRequest(transaction.request), account, parts.settings);
  if (violation !== undefined) return { kind: 'refused', reason: violation };
  return withSecondOpinion(parts, (from) => prepareOnce(from, transaction, account, lane));
}

/**
 * Decides by one node's figures, and confirms two outcomes with the other nodes. A refusal ends a transaction, and a
 * lack of funds makes it wait. A refusal needs a second node. Both outcomes are decided again by the figures of all
 * nodes, so that no node alone says what is paid.
 */
export async function withSecondOpinion<
  T extends { kind: string; cause?: ParkedPreparation['cause']; reason?: string },
>(parts: PrepareParts, decide: (parts: PrepareParts) => Promise<T>): Promise<T | ParkedPreparation> {
  const decided = await decide(parts);
  if (decided.kind !== 'refused' && decided.cause !== 'balance') return decided;
  const { endpoints } = parts;
  const areSeveral = endpoints.endpointCount > 1;
  if (decided.kind === 'refused' && areSeveral) {
    const held = await confirmRefusal(decided, endpoints, (read) => decide(partsOf(read, parts)));
    if (held.kind === 'refused' || held.kind === 'parked') return held;
  }
  const again = await decide({
    ...parts,
    figure: (use) => parts.figure(use, 'all'),
    estimate: (call) => parts.estimate(call, 'all'),
    market: () => parts.market('all'),
    balance: (address) => parts.balance(address, 'all'),
  });
  return again.kind === 'refused' && areSeveral ? parkRefusal(again) : again;
}

/** The same parts, with every figure read from one node. */
function partsOf(read: ReadFromEndpoint, parts: PrepareParts): PrepareParts {
  return {
    ...parts,
    figure: (use) => use(read),
    estimate: (call) => estimateOn(read, call),
    market: () => readGasMarket(read, parts.settings),
    balance: (address) => getBalance(read, address),
  };
}

async function prepareOnce(
  parts: PrepareParts,
  transaction: Transaction,
  account: RelayerAccount,
  lane: LaneCommitments,
): Promise<TransactionPreparation> {
  const request = readStoredRequest(transaction.request);
  const policy = readPolicy(account.policies);
  const [market, gas, funds] = await Promise.all([
    parts.market(),
    gasRequirementOf(parts, request, policy, account.address),
    parts.balance(account.address),
  ]);

  const gasLimit = capGasToBlock(gas, market);
  const tooMuchGas = transactionGasFault(gasLimit, parts.settings) ?? blockGasFault(gasLimit, market);
  if (tooMuchGas !== undefined) return { kind: 'refused', reason: tooMuchGas };
  const tooDear = policy.gasPriceCap.marketFault(market);
  if (tooDear !== undefined) return parkedPreparation(tooDear);
  if (market.doubt !== undefined && request.price.kind === 'speed') return parkedPreparation(market.doubt);
  const price = policy.gasPriceCap.lower(gasPriceFor(request.price, market, policy, parts.settings.averageBlocktimeMs));
  const baseFee = market.block.baseFeePerGas ?? 0n;
  if (maxPricePerGas(price) < baseFee) {
    // If signed now, it would keep its nonce without being mined, and hold up every transaction behind it.
    return parkedPreparation(
      `The network's base fee is ${baseFee} wei per gas, more than the ${maxPricePerGas(price)} that were offered`,
    );
  }
  const unfit = priceMismatch(request, price);
  if (unfit !== undefined) return { kind: 'refused', reason: unfit };
  const attempt = { request: transaction.request, sequence: null, privacy: privacyOf(policy, market) };
  const ready = await readyAttempt(parts, attempt, account, gasLimit, price);
  const spare = funds - lane.committed - ready.cost - policy.minBalance;
  return (
    parkIfShortOfFunds(funds, ready.cost, policy, lane) ?? gasShortage(gas) ?? withRemark({ ...ready, spare }, gas)
  );
}

/** Parks a transaction whose gas nodes do not estimate because the account cannot pay for it. */
export function gasShortage({ shortage }: GasRequirement): ParkedPreparation | undefined {
  return shortage === undefined ? undefined : parkedPreparation(`Gas cannot be estimated: ${shortage}`, 'balance');
}

/** Adds why the gas limit is no estimate, if it is none. */
export function withRemark<T extends ReadyPreparation>(ready: T, { fallback }: GasRequirement): T {
  return fallback === undefined ? ready : { ...ready, remark: fallback };
}

/** The fields that an attempt is signed with, and the most that it can cost, the fee of its data included. */
export async function readyAttempt(
  parts: PrepareParts,
  attempt: Pick<Transaction, 'request' | 'sequence'> & { privacy: EvmFields['private'] },
  account: RelayerAccount,
  gasLimit: bigint,
  price: GasPrice,
): Promise<ReadyPreparation> {
  const request = readStoredRequest(attempt.request);
  const gas = { chain_id: jsonAmount(parts.chainId), from: account.address, gas_limit: jsonAmount(gasLimit) };
  const fields: EvmFields = { ...gas, ...priceFields(price) };
  const call = callForEstimate(request, account.address);
  const extra = await parts.figure((read) => rollupDataFee(read, parts.settings, { ...attempt, fields, call }));
  return {
    kind: 'ready',
    fields: storedFields({
      ...fields,
      ...(extra === 0n ? {} : { data_fee: jsonAmount(extra) }),
      ...(attempt.privacy === undefined ? {} : { private: attempt.privacy }),
    }),
    cost: maxPricePerGas(price) * gasLimit + request.value + extra,
  };
}

/** The cost that {@link prepareTransaction} found for a transaction; zero for one that was not prepared. */
export function preparedCostOf(transaction: Pick<Transaction, 'request' | 'fields'>): bigint {
  const fields = readChainFields(transaction.fields);
  if (fields === undefined) return 0n;
  const perGas = fields.max_fee_per_gas ?? fields.gas_price ?? 0;
  const gas = amountOf(perGas) * amountOf(fields.gas_limit);
  return gas + amountOf(fields.data_fee ?? 0) + readStoredRequest(transaction.request).value;
}

/**
 * Parks a transaction that the balance cannot pay for. Money that other transactions of the lane may still take does
 * not count. The transaction waits until they are through, or until the account is funded.
 */
export function parkIfShortOfFunds(
  funds: bigint,
  cost: bigint,
  policy: EvmPolicy,
  lane: LaneCommitments,
): ParkedPreparation | undefined {
  if (funds - lane.committed >= cost + policy.minBalance) return undefined;
  const reserve = policy.minBalance > 0n && funds >= cost;
  const reason = [
    `Insufficient balance: Relayer balance ${funds} is insufficient to cover ${cost}`,
    reserve ? `, with an enforced minimum balance of ${policy.minBalance}` : '',
    lane.committed > 0n ? ` while up to ${lane.committed} may be taken by transactions under way` : '',
  ];
  return parkedPreparation(reason.join(''), 'balance');
}

export function parkedPreparation(
  reason: string,
  cause: NonNullable<ParkedPreparation['cause']> = 'price',
): ParkedPreparation {
  return { kind: 'parked', reason, cause, retryInMs: PARKED_FOR_MS };
}

/** Why no block could hold so much gas. Some chains show blocks with a limit of zero, which says nothing. */
export function blockGasFault(gasLimit: bigint, market: GasMarket): string | undefined {
  const { gasLimit: most } = market.block;
  if (most === 0n || gasLimit <= most) return undefined;
  return `Transaction gas limit (${gasLimit}) exceeds block gas limit (${most})`;
}

/** Why no transaction of the network may have so much gas (EIP-7825), as far as the network's settings say. */
export function transactionGasFault(gasLimit: bigint, { maxTransactionGas }: EvmNetworkSettings): string | undefined {
  if (maxTransactionGas === null || gasLimit <= maxTransactionGas) return undefined;
  return `Transaction gas limit (${gasLimit}) exceeds the network's limit for one transaction (${maxTransactionGas})`;
}

/** Why the network's prices do not fit the request: an authorization list requires EIP-1559 fees (EIP-7702). */
export function priceMismatch(request: EvmRequest, price: GasPrice): string | undefined {
  if (price.kind !== 'legacy' || request.authorizationList.length === 0) return undefined;
  return 'authorization_list requires EIP-1559 fees, and the network has none';
}

/** The gas that a call needs by estimate, and the gas limit that it gets. */
export interface GasRequirement {
  used: bigint;
  limit: bigint;
  /** Why the limit is a usual one and no estimate. */
  fallback?: string;
  /** Why there is no estimate before the account has more money. */
  shortage?: string;
}

/**
 * Lowers a gas limit to the block's limit. Otherwise the reserve on top of an estimate could make a transaction
 * impossible that fits into a block.
 */
export function capGasToBlock({ used, limit }: GasRequirement, market: GasMarket): bigint {
  const most = market.block.gasLimit;
  if (most === 0n || limit <= most) return limit;
  return used > most ? used : most;
}

/** The most gas of one transaction by EIP-7825, on the chains that have it. */
export const EIP_7825_GAS = 16_777_216n;

/**
 * The gas limit for an estimate: a tenth more, and half more on Arbitrum, where a call's gas follows the price of data
 * on the chain below. The reserve does not lift it beyond what one transaction may have. Where that is not known,
 * EIP-7825's limit counts: less reserve does less harm than a transaction that no node takes.
 */
export function gasLimitWithReserve(used: bigint, { isArbitrum, maxTransactionGas }: EvmNetworkSettings): bigint {
  const reserved = (used * (isArbitrum ? 150n : 110n)) / 100n;
  const cap = maxTransactionGas ?? (isArbitrum ? reserved : EIP_7825_GAS);
  return largestAmount(used, smallestAmount(reserved, cap));
}

/** The gas limit of the request, or the node's estimate with a reserve. */
export async function gasRequirementOf(
  parts: PrepareParts,
  request: EvmRequest,
  policy: EvmPolicy,
  from: string,
): Promise<GasRequirement> {
  if (request.gasLimit !== null) return { used: request.gasLimit, limit: request.gasLimit };
  const usual = fallbackGasLimit(request);
  const need = { used: usual, limit: usual };
  if (!policy.gasLimitEstimation) return need;
  const estimate = await parts.estimate(callForEstimate(request, from));
  if (estimate.kind === 'gas')
    return { used: estimate.used, limit: gasLimitWithReserve(estimate.used, parts.settings) };
  if (estimate.kind === 'unfunded') return { ...need, shortage: estimate.reason };
  // The call fails now. It is sent all the same, and the revert shows on chain.
  return { ...need, fallback: `Its gas limit is ${usual}, as nodes could not estimate it: ${estimate.reason}` };
}

/**
 * What nodes say of a call's gas. `fails`: the call itself reverts, or needs more than a block has. `unfunded`: the
 * account cannot pay for it now.
 */
export type GasEstimate = { kind: 'gas'; used: bigint } | { kind: 'fails' | 'unfunded'; reason: string };

const MAX_REASON = 300;

/** @throws RpcError for a failure that says nothing about the call: the estimate is not known yet */
async function estimateOn(read: ReadFromEndpoint, call: JsonObject): Promise<GasEstimate> {
  try {
    const used = await estimateGas(read, call);
    // No call needs no gas: the node has not estimated.
    if (used === 0n) throw new RpcError('node', 'the node answered eth_estimateGas with 0');
    return { kind: 'gas', used };
  } catch (error) {
    const kind = error instanceof RpcError ? classifyEstimateError(error) : undefined;
    if (kind === undefined || !(error instanceof RpcError)) throw error;
    return { kind, reason: printable(error.message, MAX_REASON) };
  }
}

/**
 * Asks one node. If it gives no figure, asks all of them: one that is behind or in trouble must not decide that a call
 * fails. Of several figures the middle one counts, the lower of two.
 */
async function estimateFrom(rpc: RpcClient, call: JsonObject, of?: 'all'): Promise<GasEstimate> {
  const ask = (read: ReadFromEndpoint) => estimateOn(read, call);
  const one = () => rpc.onOne(ask).catch(unknownGas);
  const areSeveral = rpc.endpointCount > 1;
  const first = of === 'all' && areSeveral ? undefined : await one();
  if (!areSeveral && first !== undefined) return estimateOrThrow(first);
  if (first !== undefined && !(first instanceof RpcError) && first.kind === 'gas') return first;
  const answers = await answersInTime(rpc.onAll(ask));
  const figures = answers.filter((answer) => answer.kind === 'gas');
  const failures = answers.filter((answer) => answer.kind !== 'gas');
  const estimate = medianBy(figures, 'lower', ({ used }) => used) ?? failures[0];
  return estimate ?? estimateOrThrow(first ?? (await one()));
}

function unknownGas(error: unknown): RpcError {
  if (!(error instanceof RpcError)) throw error;
  const { kind, code, data, status } = error;
  const detail = { cause: error, ...(code !== undefined && { code }), ...(status !== undefined && { status }) };
  const text = `The gas of the call is not known yet, and is asked for again: ${error.message}`;
  return new RpcError(kind, text, data === undefined ? detail : { ...detail, data });
}

function estimateOrThrow(answer: GasEstimate | RpcError): GasEstimate {
  if (answer instanceof RpcError) throw answer;
  return answer;
}

/** The reference's gas limit for a call without an estimate. Never less than nodes ask for. */
function fallbackGasLimit(request: EvmRequest): bigint {
  const usual = usualGas(request.data);
  const needed = intrinsicGas(request);
  return usual > needed ? usual : needed;
}

function usualGas(data: string | null): bigint {
  if (data === null) return 21_000n;
  if (data.startsWith('0xa9059cbb')) return 65_000n;
  if (data.startsWith('0x23b872dd')) return 80_000n;
  return 200_000n;
}
