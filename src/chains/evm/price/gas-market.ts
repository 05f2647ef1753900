import { largestAmount } from '../../../domain/amount.ts';
import type { Clock } from '../../../domain/clock.ts';
import type { ReadFromEndpoint, RpcClient } from '../../../egress/rpc/rpc-client.ts';
import { askOptionalFigure, type OptionalFigure } from '../../optional-figure.ts';
import type { EvmNetworkSettings } from '../configuration/network.ts';
import { type Block, feeRewards, gasPrice, latestBlock, parseGasPrice as priceIn, toQuantity } from '../rpc-calls.ts';
import { type Speed, speedSchema } from '../schema.ts';
import { zkEvmGasPrice } from './rollup.ts';

/** What the network charges at the moment, in wei. */
export interface GasMarket {
  block: Block;
  /** What the node would pay in a legacy transaction. */
  gasPrice: bigint;
  /** Priority fee by speed; undefined on a network without EIP-1559. */
  tips: Readonly<Record<Speed, bigint>> | undefined;
  /** Why not to make a price of this market now: the network may ask for much more, or a node may be wrong. */
  doubt?: string;
}

/**
 * Reads the market. Without an argument, the answer may be a recent one. `fresh` asks one node anew and never gives an
 * answer from before the question. `all` does the same with every node.
 */
export type GasMarketReading = (freshness?: 'fresh' | 'all') => Promise<GasMarket>;

const HISTORY_BLOCKS = 4;
const GWEI = 1_000_000_000n;

/** The percentile of paid priority fees that a speed asks for. */
const PERCENTILES: Readonly<Record<Speed, number>> = { safeLow: 30, average: 50, fast: 85, fastest: 99 };
const SPEEDS = speedSchema.options.toSorted((one, other) => PERCENTILES[one] - PERCENTILES[other]);

/** What blocks paid lately in tips, one row per block, one column per speed. */
const PAID: OptionalFigure<bigint[][]> = {
  method: 'eth_feeHistory',
  params: [toQuantity(BigInt(HISTORY_BLOCKS)), 'latest', SPEEDS.map((speed) => PERCENTILES[speed])],
  parse: feeRewards,
  cost: 'Tips are those that the node suggests, else the usual ones',
};

const SUGGESTED: OptionalFigure<bigint> = {
  method: 'eth_maxPriorityFeePerGas',
  params: [],
  parse: priceIn,
  cost: 'Tips are those that blocks paid, which some nodes refuse as too low',
};

/**
 * Asks a node what the network charges. If the settings leave EIP-1559 open, the latest block decides. Tips are only
 * advice: what that node does not tell is asked of the others, and then done without.
 * @param hadTips whether the network had tips lately: then they are asked for together with the rest
 */
export async function readGasMarket(
  read: ReadFromEndpoint,
  settings: Pick<EvmNetworkSettings, 'hasEip1559' | 'isZkEvm'>,
  others?: Pick<RpcClient, 'onOthers'>,
  hadTips?: boolean,
): Promise<GasMarket> {
  const advice = () => Promise.all([askOptionalFigure(read, PAID, others), askOptionalFigure(read, SUGGESTED, others)]);
  const [block, price, early] = await Promise.all([
    latestBlock(read),
    settings.isZkEvm ? zkEvmGasPrice(read) : gasPrice(read),
    (settings.hasEip1559 ?? hadTips) === true ? advice() : undefined,
  ]);
  if (!(settings.hasEip1559 ?? block.baseFeePerGas !== null)) return { block, gasPrice: price, tips: undefined };
  const base = block.baseFeePerGas ?? 0n;
  const [rewards = [], suggested] = early ?? (await advice());
  // A network that charges nothing gets nothing, whatever the node suggests.
  const isFree = base === 0n && price === 0n;
  return { block, gasPrice: price, tips: isFree ? tipsOf(() => 0n) : tipsFrom(rewards, suggested, price - base) };
}

/**
 * The mean of the fees that were really paid in a percentile's column, or the tip that the node suggests where that is
 * more: some nodes refuse less, although blocks hold it. `safeLow` takes the mean alone. If nobody paid, as many
 * hundredths of a gwei as the percentile, or what the node suggests if that is more. A node that says nothing of tips
 * has a price that contains one (`left`).
 */
function tipsFrom(rewards: readonly bigint[][], suggested: bigint | undefined, left: bigint): Record<Speed, bigint> {
  const isSilent = rewards.every((row) => row.every((fee) => fee === 0n));
  return tipsOf((speed, column) => {
    const paid = rewards.map((row) => row[column] ?? 0n).filter((fee) => fee > 0n);
    if (paid.length === 0)
      return largestAmount((BigInt(PERCENTILES[speed]) * GWEI) / 100n, suggested ?? (isSilent ? left : 0n));
    const mean = paid.reduce((sum, fee) => sum + fee, 0n) / BigInt(paid.length);
    return speed === 'safeLow' ? mean : largestAmount(mean, suggested ?? 0n);
  });
}

function tipsOf(tip: (speed: Speed, column: number) => bigint): Record<Speed, bigint> {
  return Object.fromEntries(SPEEDS.map((speed, column) => [speed, tip(speed, column)])) as Record<Speed, bigint>;
}

/**
 * The greatest age of a price where the network asks for no cache. A quarter of a block's time counts where that is
 * shorter.
 */
const OLDEST_MARKET_MS = 2_000;

/** Serves the market from `load`, which asks one node or all. Keeps it for as long as the network's settings allow. */
export function createGasMarket(
  settings: Pick<EvmNetworkSettings, 'averageBlocktimeMs' | 'gasPriceCache'>,
  clock: Clock,
  load: (of: 'one' | 'all') => Promise<GasMarket>,
): GasMarketReading {
  const anew = freshShared(load);
  const loadOne = () => load('one');
  const briefly = Math.min(settings.averageBlocktimeMs / 4, OLDEST_MARKET_MS);
  const { gasPriceCache } = settings;
  const lately =
    gasPriceCache === null ? cachedFor(briefly, clock, loadOne) : staleWhileRevalidate(gasPriceCache, clock, loadOne);
  return async (freshness) => {
    if (freshness !== undefined) return anew(freshness === 'fresh' ? 'one' : 'all');
    const market = await lately();
    // A cached market may be kept for hours, but a doubt lasts only seconds.
    return market.doubt === undefined ? market : anew('one');
  };
}

/** The time after which a refresh that has not ended no longer keeps another from being started. */
const REFRESH_GIVEN_UP_AFTER_MS = 30_000;

/**
 * Serves a value until it is stale. Then one load in the background renews the value, and the old one is served until
 * it expires. The age counts from the start of the load, so no value is served that was asked for longer ago than
 * `expireAfterMs`. A failed load fails the callers that wait for it, and is not remembered.
 */
export function staleWhileRevalidate<T>(
  bounds: { staleAfterMs: number; expireAfterMs: number },
  clock: Clock,
  load: () => Promise<T>,
): () => Promise<T> {
  let cached: { value: T; askedAt: number } | undefined;
  let refresh: { result: Promise<T>; askedAt: number } | undefined;

  function start(): Promise<T> {
    const started = { result: load(), askedAt: clock.elapsed() };
    refresh = started;
    const end = () => {
      if (refresh === started) refresh = undefined;
    };
    started.result.then((value) => {
      // A refresh that was given up may still end, after its successor.
      if (cached === undefined || cached.askedAt < started.askedAt) cached = { value, askedAt: started.askedAt };
      end();
    }, end);
    return started.result;
  }

  return async () => {
    const now = clock.elapsed();
    const age = cached === undefined ? Number.POSITIVE_INFINITY : now - cached.askedAt;
    if (cached !== undefined && age < bounds.staleAfterMs) return cached.value;
    // The time since the refresh began. Further callers do not extend it.
    const runsFor = refresh === undefined ? Number.POSITIVE_INFINITY : now - refresh.askedAt;
    const isRunning = runsFor < REFRESH_GIVEN_UP_AFTER_MS;
    if (cached !== undefined && age < bounds.expireAfterMs) {
      if (!isRunning) void start();
      return cached.value;
    }
    return refresh !== undefined && isRunning && runsFor < bounds.expireAfterMs ? refresh.result : start();
  };
}

/**
 * Loads at most once per `ttlMs`, and callers share a load that is under way. So a burst of transactions asks a node
 * once. A failure reaches the callers that wait for it and is not remembered.
 */
export function cachedFor<T>(ttlMs: number, clock: Clock, load: () => Promise<T>): () => Promise<T> {
  let flight: Promise<T> | undefined;
  let expiresAt = 0;
  return () => {
    if (flight !== undefined && clock.elapsed() < expiresAt) return flight;
    const started = load();
    flight = started;
    expiresAt = Number.POSITIVE_INFINITY;
    started.then(
      () => {
        if (flight === started) expiresAt = clock.elapsed() + ttlMs;
      },
      () => {
        if (flight === started) flight = undefined;
      },
    );
    return started;
  };
}

/**
 * Shares loads among callers, but never gives a caller the result of a load that began before it asked. A caller that
 * comes while a load is under way gets the next one. So no caller decides on a state older than its question.
 */
export function freshShared<K, T>(load: (key: K) => Promise<T>): (key: K) => Promise<T> {
  const running = new Map<K, Promise<T>>();
  const waiting = new Map<K, Promise<T>>();

  function start(key: K): Promise<T> {
    waiting.delete(key);
    const flight = load(key);
    running.set(key, flight);
    const land = () => {
      if (running.get(key) === flight) running.delete(key);
    };
    flight.then(land, land);
    return flight;
  }

  return (key) => {
    const current = running.get(key);
    if (current === undefined) return start(key);
    const queued = waiting.get(key);
    if (queued !== undefined) return queued;
    const next = current.then(
      () => start(key),
      () => start(key),
    );
    waiting.set(key, next);
    return next;
  };
}
