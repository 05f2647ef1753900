import type { AssetName, OfferEntry } from '../ledger/entry.ts';

/** Horizon's default limits: the assets on a path, and the paths to one asset. */
const MAX_HOPS = 3;
const MAX_PATHS = 5;

export interface Found {
  /** The assets of the path, from the start of the search to its end. */
  readonly assets: readonly AssetName[];
  readonly amount: bigint;
}

export interface Search {
  readonly start: AssetName;
  readonly amount: bigint;
  /** The offers of each market that leads on from an asset, the cheapest first. */
  readonly markets: (asset: AssetName) => ReadonlyMap<AssetName, readonly OfferEntry[]>;
  /** The result of trading an amount in a market; undefined if the market cannot trade it. */
  readonly quote: (offers: readonly OfferEntry[], amount: bigint) => bigint | undefined;
  readonly isEnd: (asset: AssetName) => boolean;
  readonly isPossible: (asset: AssetName, amount: bigint) => boolean;
  readonly isBetter: (amount: bigint, than: bigint) => boolean;
}

/**
 * Horizon's search. At each hop it follows only the best path to each asset. It returns each path that was once the
 * best.
 */
export function searchPaths(search: Search): Found[] {
  const { start, amount, isEnd, isPossible } = search;
  const beginning = { assets: [start], amount };
  const found: Found[] = isEnd(start) && isPossible(start, amount) ? [beginning] : [];
  let best = new Map<AssetName, Found>([[start, beginning]]);
  for (let hop = 1; hop <= MAX_HOPS; hop += 1) {
    const next = new Map(best);
    for (const way of best.values()) {
      for (const step of stepsFrom(search, way, hop === MAX_HOPS)) {
        const asset = endOf(step);
        const known = next.get(asset);
        if (known !== undefined && !search.isBetter(step.amount, known.amount)) continue;
        next.set(asset, step);
        if (isEnd(asset) && isPossible(asset, step.amount)) found.push(step);
      }
    }
    best = next;
  }
  return sorted(found, search.isBetter);
}

function* stepsFrom({ markets, quote, isEnd }: Search, way: Found, isLast: boolean): Iterable<Found> {
  for (const [asset, offers] of markets(endOf(way))) {
    if ((isLast && !isEnd(asset)) || way.assets.includes(asset)) continue;
    const amount = quote(offers, way.amount);
    if (amount !== undefined && amount > 0n) yield { assets: [...way.assets, asset], amount };
  }
}

export function endOf({ assets }: Found): AssetName {
  const end = assets.at(-1);
  if (end === undefined) throw new Error('A way begins with an asset.');
  return end;
}

/** Sorts by the last asset, then by the best result, then by the shortest path. */
function sorted(found: readonly Found[], isBetter: Search['isBetter']): Found[] {
  const groups = Map.groupBy(found, endOf);
  return [...groups.keys()].sort().flatMap((asset) =>
    (groups.get(asset) ?? [])
      .sort((one, other) => {
        if (one.amount === other.amount) return one.assets.length - other.assets.length;
        return isBetter(one.amount, other.amount) ? -1 : 1;
      })
      .slice(0, MAX_PATHS),
  );
}
