/** The value below which the given share of the values lies (nearest rank); NaN where there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** One value at one time. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * The slope of a line through points after Theil and Sen: the median of the slopes of all pairs, which a third of wild
 * points does not move. 0 for fewer than two points.
 */
export function slopeOf(points: readonly Point[]): number {
  const slopes: number[] = [];
  for (const [index, a] of points.entries()) {
    for (const b of points.slice(index + 1)) if (b.x !== a.x) slopes.push((b.y - a.y) / (b.x - a.x));
  }
  return slopes.length === 0 ? 0 : percentile(slopes, 0.5);
}
