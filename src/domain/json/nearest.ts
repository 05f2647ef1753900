/** `Did you mean "paused"?` for a misspelled known name, else undefined. */
export function didYouMean(name: string, known: Iterable<string>): string | undefined {
  const nearest = nearestName(name, known);
  return nearest === undefined ? undefined : `Did you mean "${nearest}"?`;
}

/**
 * The longest name that is compared. No known name is near a longer one, and comparing takes time for each pair of
 * letters.
 */
const MAX_COMPARED = 64;

/** The shortest name that is taken for the beginning of a known one. Shorter ones begin too many names. */
const MIN_STEM = 4;

/**
 * The known name with the fewest slips. The slips must be at most a third of the name's letters, or the name must begin
 * like the known one.
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > MAX_COMPARED) return undefined;
  let best: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    const distance = distanceOf(name.toLowerCase(), candidate.toLowerCase());
    const isNear = distance <= Math.max(1, Math.floor(name.length / 3)) || isStem(name, candidate);
    if (isNear && distance < (best?.distance ?? Infinity)) {
      best = { name: candidate, distance };
    }
  }
  return best?.name;
}

/** Whether a known name is a longer form: `policy` and `policies`, `memory` and `memory_mb`. */
function isStem(name: string, candidate: string): boolean {
  return name.length >= MIN_STEM && candidate.toLowerCase().startsWith(name.slice(0, -1).toLowerCase());
}

/** Letters added, dropped, changed, or exchanged with the next one (the distance of optimal string alignment). */
function distanceOf(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const changed = (row[j] ?? 0) + (from[i] === to[j] ? 0 : 1);
      const isExchanged = i > 0 && j > 0 && from[i] === to[j - 1] && from[i - 1] === to[j];
      const exchanged = isExchanged ? (before[j - 1] ?? 0) + 1 : Infinity;
      next.push(Math.min(changed, exchanged, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}
