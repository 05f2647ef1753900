import { FOREIGN_USES } from '../chains/chain.ts';

/** What the lane knows of its own sequences. */
export interface SignedSequences {
  /** Those of its open transactions. */
  held: ReadonlySet<bigint>;
  /** The sequence after the highest that was seen in a final block. */
  settled: bigint | null;
  /** The sequence after the highest that is seen in any block now. */
  mined: bigint | null;
  /** The sequence after the highest that was ever signed. */
  known: bigint | null;
}

/**
 * The most sequences below an open transaction that are ever filled with empty transactions, each of which costs a fee.
 * Beyond that the gap is no accident of somebody else's use of the key, but a count that was made up.
 */
export const WIDEST_GAP = 256n;

/**
 * The lowest open sequence that the account cannot get to: more than {@link WIDEST_GAP} below it are nobody's, with those
 * that were filled for it (`paidFor`). Undefined where there is none.
 */
export function outOfReach(
  chain: bigint,
  held: ReadonlySet<bigint>,
  paidFor: (sequence: bigint) => bigint,
): bigint | undefined {
  let [free, next] = [0n, chain];
  for (const sequence of ascending([...held].filter((one) => one >= chain))) {
    free += sequence - next;
    if (free + paidFor(sequence) > WIDEST_GAP) return sequence;
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

/** Whether a sequence between the chain's count and an open one is nobody's. */
export function hasGap(chain: bigint, held: ReadonlySet<bigint>): boolean {
  const above = [...held].filter((sequence) => sequence >= chain);
  return above.some((sequence) => sequence >= chain + BigInt(above.length));
}

/**
 * How far the account has come by what was signed without a wide gap since what is in a block: the sequence after that.
 * What was signed beyond such a gap, or beyond narrow ones that are as wide together, shows only what a node once said.
 */
export function reached({ held, settled, mined, known }: SignedSequences): bigint {
  const first = [settled, mined].reduce<bigint>((most, one) => (one !== null && one > most ? one : most), 0n);
  let [free, next] = [0n, first];
  for (const sequence of ascending([...held].filter((one) => one >= first))) {
    free += sequence - next;
    if (free > FOREIGN_USES) return next;
    next = sequence + 1n;
  }
  return known !== null && known > next ? known : next;
}

function ascending(sequences: readonly bigint[]): bigint[] {
  return sequences.toSorted((one, other) => (one < other ? -1 : 1));
}
