/** The percentile by nearest rank; NaN if there are no values. @param share from 0 to 1 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** A point of a measured curve. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * The Theil–Sen slope: the median of the slopes of all pairs of points. It stays stable if up to about 29 % of the
 * points are outliers. 0 for fewer than two points.
 */
export function slopeOf(points: readonly Point[]): number {
  const slopes: number[] = [];
  for (const [index, a] of points.entries()) {
    for (const b of points.slice(index + 1)) if (b.x !== a.x) slopes.push((b.y - a.y) / (b.x - a.x));
  }
  return slopes.length === 0 ? 0 : percentile(slopes, 0.5);
}
