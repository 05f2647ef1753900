import type { Clock } from '../../../domain/clock.ts';
import { middleBy, middleOf } from '../../quorum.ts';
import { most } from '../fees.ts';
import type { Market } from './market.ts';

/** Where markets come from. */
export interface MarketSources {
  /** By one node, whichever. */
  one(): Promise<Market>;
  /** By each node that answers well and in time. */
  all(): Promise<readonly Market[]>;
}

/**
 * A price of more than so many times the one before is a leap. Full blocks raise a base fee tenfold in twenty of them
 * (EIP-1559), so that seldom happens between two readings.
 */
const LEAP = 10n;
/** Below this, in wei per gas, nothing is a leap: so little costs nobody dearly, and small figures leap by nature. */
const NO_LEAP_BELOW = 1_000_000_000n;
/** A wrong answer is gone by then most often, and a true one still there. Shorter than what is parked waits. */
const TOLD_AGAIN_AFTER_MS = 5_000;

/**
 * Keeps one node's wrong answer from deciding what is paid. A market is believed when its prices, tips included, do not
 * leap. For one that does, and for the first one, all nodes are asked. Where only one answers, it has to tell of the
 * leap again some seconds later: until then the market before is told, with a doubt. The policy's caps do the rest.
 */
export function createPriceGuard(clock: Clock, { one, all }: MarketSources): (of: 'one' | 'all') => Promise<Market> {
  let believed: Market | undefined;
  let doubtedSince: number | undefined;

  function believe(market: Market): Market {
    believed = market;
    doubtedSince = undefined;
    return market;
  }

  return async (of) => {
    if (of === 'one' && believed !== undefined) {
      const market = await one();
      if (!leaps(market, believed)) return believe(market);
    }
    const told = await all();
    const market = quorumOf(told) ?? (await one());
    if (told.length > 1 || believed === undefined || !leaps(market, believed)) return believe(market);
    doubtedSince ??= clock.elapsed();
    if (clock.elapsed() - doubtedSince >= TOLD_AGAIN_AFTER_MS) return believe(market);
    const doubt =
      `The only endpoint that answers tells of a price of ${dearest(market)} wei per gas, ` +
      `after ${dearest(believed)} before; it is asked again before that is believed`;
    return { ...believed, doubt };
  };
}

function leaps(market: Market, before: Market): boolean {
  return dearest(market) > LEAP * most(dearest(before), NO_LEAP_BELOW);
}

/** The most that a market asks for a unit of gas. */
function dearest({ block, gasPrice, tips }: Market): bigint {
  return most(gasPrice, (block.baseFeePerGas ?? 0n) + (tips?.fastest ?? 0n));
}

/**
 * By price the lower of two, by gas limit the higher: neither makes dear or impossible by itself. Nor does a node that
 * knows no EIP-1559 beside one that does.
 */
function quorumOf(told: readonly Market[]): Market | undefined {
  const isModern = ({ tips }: Market) => tips !== undefined;
  const kind = middleBy(told, 'higher', (market) => (isModern(market) ? 1n : 0n));
  if (kind === undefined) return undefined;
  const gasLimit = middleOf(
    told.map(({ block }) => block.gasLimit),
    'higher',
  );
  const alike = told.filter((market) => isModern(market) === isModern(kind));
  const chosen = middleBy(alike, 'lower', dearest) ?? kind;
  return { ...chosen, block: { ...chosen.block, gasLimit: gasLimit ?? chosen.block.gasLimit } };
}
