import type { Clock } from '../../domain/clock.ts';
import { levelOf, type Market } from './market.ts';

/** Where markets come from. */
export interface MarketSources {
  /** By one node, whichever. */
  one(): Promise<Market>;
  /** By each node that answers well and in time. */
  all(): Promise<readonly Market[]>;
}

/**
 * More than this many times what is known needs a second word. Full blocks raise a base fee tenfold in twenty of them
 * (EIP-1559), so that seldom happens between two readings, and a wrong answer below it costs no more than that.
 */
const JUMP = 10n;
/** Below this, in wei per gas, nothing is a jump: so little costs nobody dearly, and small figures leap by nature. */
const NO_JUMP_BELOW = 1_000_000_000n;
/** A wrong answer is gone by then most often, and a true one still there. Shorter than what is parked waits. */
const SEEN_AGAIN_AFTER_MS = 5_000;
/** Two wrong answers that are further apart than this do not bear each other out. */
const FORGOTTEN_AFTER_MS = 60_000;

/**
 * Keeps one node's wrong answer from deciding what is paid. A market is believed when its prices are within reason of
 * those believed before. Otherwise, and for the first one, all nodes are asked and the middle one counts, the lower of
 * two. Where there is only one node, it has to say so again some seconds later; until then what was believed before is
 * told, with a doubt. The first of an only node has to agree with itself instead.
 */
export function createBelief(clock: Clock, { one, all }: MarketSources): (of: 'one' | 'all') => Promise<Market> {
  let believed: Market | undefined;
  let suspected: { market: Market; since: number; seenAt: number } | undefined;

  function accept(market: Market): Market {
    believed = market;
    suspected = undefined;
    return market;
  }

  function judge(market: Market): Market {
    if (believed === undefined ? isConsistent(market) : !exceeds(levelOf(market), levelOf(believed))) {
      return accept(market);
    }
    const now = clock.elapsed();
    const before = suspected;
    if (
      before === undefined ||
      now - before.seenAt > FORGOTTEN_AFTER_MS ||
      exceeds(levelOf(market), levelOf(before.market))
    ) {
      suspected = { market, since: now, seenAt: now };
    } else if (now - before.since >= SEEN_AGAIN_AFTER_MS) {
      return accept(market);
    } else {
      before.seenAt = now;
    }
    const told = `The only endpoint that answers tells of a price of ${levelOf(market)} wei per gas`;
    const doubt =
      believed === undefined
        ? `${told}, which its other figures contradict; it is asked again before that is believed`
        : `${told}, after ${levelOf(believed)} before; it is asked again before that is believed`;
    return { ...(believed ?? market), doubt };
  }

  return async (of) => {
    if (of === 'one' && believed !== undefined) {
      const market = await one();
      if (!exceeds(levelOf(market), levelOf(believed))) return accept(market);
    }
    const told = await all();
    if (told.length > 1) return accept(middleOf(of === 'all' ? modernOf(told) : told));
    return judge(told[0] ?? (await one()));
  };
}

/** A node's price for a legacy transaction is made of base fee and priority fees, so neither leaves the other behind. */
function isConsistent(market: Market): boolean {
  const baseFee = market.block.baseFeePerGas;
  if (baseFee === null || market.tips === undefined) return !exceeds(baseFee ?? 0n, market.gasPrice);
  return !exceeds(baseFee, market.gasPrice) && !exceeds(market.gasPrice, baseFee + market.tips.fastest);
}

function exceeds(price: bigint, known: bigint): boolean {
  return price > JUMP * (known > NO_JUMP_BELOW ? known : NO_JUMP_BELOW);
}

/** Those with EIP-1559 where any has it: a second look is there to find what speaks against a refusal. */
function modernOf(markets: readonly Market[]): readonly Market[] {
  const modern = markets.filter(({ tips }) => tips !== undefined);
  return modern.length > 0 ? modern : markets;
}

/** By price the lower of two middle ones, and by gas limit the higher: neither makes dear or impossible by itself. */
function middleOf(markets: readonly Market[]): Market {
  const byPrice = markets.toSorted((a, b) => Number(offerOf(a) - offerOf(b)));
  const limits = markets.map(({ block }) => block.gasLimit).toSorted((a, b) => Number(a - b));
  const chosen = byPrice[Math.floor((markets.length - 1) / 2)];
  const gasLimit = limits[Math.floor(markets.length / 2)];
  if (chosen === undefined || gasLimit === undefined) throw new RangeError('the middle of nothing');
  return { ...chosen, block: { ...chosen.block, gasLimit } };
}

function offerOf(market: Market): bigint {
  const dynamic = (market.block.baseFeePerGas ?? 0n) + (market.tips?.fast ?? 0n);
  return dynamic > market.gasPrice ? dynamic : market.gasPrice;
}
