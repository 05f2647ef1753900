/** What the lane knows of its own sequences. */
export interface SignedSequences {
  /** Those of its open transactions. */
  held: ReadonlySet<bigint>;
  /** The sequence after the highest that was seen in a final block. */
  settled: bigint | null;
  /** The sequence after the highest that was ever signed. */
  known: bigint | null;
}

/**
 * The most sequences below an open transaction that are ever filled with empty transactions, each of which costs a fee.
 * Beyond that the gap is no accident of somebody else's use of the key, but a count that was made up.
 */
export const WIDEST_GAP = 256n;

/**
 * The lowest open sequence that the account cannot get to: more than {@link WIDEST_GAP} below it are nobody's. Undefined
 * where there is none.
 */
export function outOfReach(chain: bigint, held: ReadonlySet<bigint>): bigint | undefined {
  let [free, next] = [0n, chain];
  for (const sequence of ascending([...held].filter((one) => one >= chain))) {
    free += sequence - next;
    if (free > WIDEST_GAP) return sequence;
    next = sequence + 1n;
  }
  return undefined;
}

/** The sequence after the highest that was ever signed below the given one, which is above all that is settled. */
export function signedBelow({ held, settled }: SignedSequences, beyond: bigint): bigint | null {
  let known = settled;
  for (const sequence of held) {
    if (sequence < beyond && (known === null || sequence >= known)) known = sequence + 1n;
  }
  return known;
}

/**
 * How far the account has come by what was signed without a wide gap since what is settled: the sequence after that.
 * What was signed beyond such a gap shows only what a node once said.
 */
export function reached({ held, settled, known }: SignedSequences): bigint {
  const first = settled ?? 0n;
  const last = known ?? first;
  // All gaps together are narrow.
  if (held.size === 0 || last - first <= BigInt(held.size) + WIDEST_GAP) return last;
  let next = first;
  for (const sequence of ascending([...held])) {
    if (sequence - next > WIDEST_GAP) return next;
    if (sequence >= next) next = sequence + 1n;
  }
  return last;
}

function ascending(sequences: readonly bigint[]): bigint[] {
  return sequences.toSorted((one, other) => (one < other ? -1 : 1));
}
