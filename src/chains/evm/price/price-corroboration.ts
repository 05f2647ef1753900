import { largestAmount } from '../../../domain/amount.ts';
import type { Clock } from '../../../domain/clock.ts';
import { medianBy, medianOf } from '../../quorum.ts';

import type { GasMarket } from './gas-market.ts';

/** Where markets come from. */
export interface GasMarketSources {
  /** The market by any one node. */
  one(): Promise<GasMarket>;
  /** The markets by all nodes that answer well and in time. */
  all(): Promise<readonly GasMarket[]>;
}

/**
 * A price more than this many times the one before is a leap. Twenty full blocks raise a base fee tenfold (EIP-1559),
 * so a leap seldom happens between two readings.
 */
const LEAP = 10n;
/**
 * A lower price than this, in wei per gas, counts as this much when a later price is compared with it. Such prices cost
 * little, and small figures leap by nature.
 */
const NO_LEAP_BELOW = 1_000_000_000n;
/**
 * How long a leap has to last before it is believed. By then a wrong answer is gone most often, and a true one still
 * there. Shorter than the wait of a parked transaction.
 */
const TOLD_AGAIN_AFTER_MS = 5_000;

/**
 * Keeps one node's wrong answer from deciding what is paid. A market is believed when its prices, tips included, do not
 * leap. All nodes are asked about the first market, and about a market that leaps. If only one node answers, it has to
 * show the leap again some seconds later. Until then the market before is returned, with a doubt. The policy's caps do
 * the rest.
 */
export function createPriceCorroboration(
  clock: Clock,
  { one, all }: GasMarketSources,
): (of: 'one' | 'all') => Promise<GasMarket> {
  let believed: GasMarket | undefined;
  let doubtedSince: number | undefined;

  function believe(market: GasMarket): GasMarket {
    believed = market;
    doubtedSince = undefined;
    return market;
  }

  return async (of) => {
    if (of === 'one' && believed !== undefined) {
      const market = await one();
      if (!leaps(market, believed)) return believe(market);
    }
    const markets = await all();
    const market = quorumOf(markets) ?? (await one());
    if (markets.length > 1 || believed === undefined || !leaps(market, believed)) return believe(market);
    doubtedSince ??= clock.elapsed();
    if (clock.elapsed() - doubtedSince >= TOLD_AGAIN_AFTER_MS) return believe(market);
    const doubt =
      `The only endpoint that answers tells of a price of ${dearest(market)} wei per gas, ` +
      `after ${dearest(believed)} before; it is asked again before that is believed`;
    return { ...believed, doubt };
  };
}

function leaps(market: GasMarket, before: GasMarket): boolean {
  return dearest(market) > LEAP * largestAmount(dearest(before), NO_LEAP_BELOW);
}

/** The most that a market asks for a unit of gas. */
function dearest({ block, gasPrice, tips }: GasMarket): bigint {
  return largestAmount(gasPrice, (block.baseFeePerGas ?? 0n) + (tips?.fastest ?? 0n));
}

/**
 * The middle one of several markets. Of two, the lower price and the higher gas limit count: no node alone makes a
 * transaction dear or impossible. Of two nodes, the one that knows EIP-1559 counts.
 */
function quorumOf(markets: readonly GasMarket[]): GasMarket | undefined {
  const isModern = ({ tips }: GasMarket) => tips !== undefined;
  const kind = medianBy(markets, 'higher', (market) => (isModern(market) ? 1n : 0n));
  if (kind === undefined) return undefined;
  const gasLimit = medianOf(
    markets.map(({ block }) => block.gasLimit),
    'higher',
  );
  const alike = markets.filter((market) => isModern(market) === isModern(kind));
  const chosen = medianBy(alike, 'lower', dearest) ?? kind;
  return { ...chosen, block: { ...chosen.block, gasLimit: gasLimit ?? chosen.block.gasLimit } };
}
