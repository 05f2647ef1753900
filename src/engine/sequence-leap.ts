import { FOREIGN_USES } from '../chains/chain.ts';

/** A count that the chain told, and since when it has told about the same, on a clock that never goes back. */
export interface HeardCount {
  chain: bigint;
  since: number;
}

/** How often a wide leap has to be heard, however much time has passed: one lie may be heard again after a pause. */
const TIMES_WIDE = 3;

/**
 * Whether a count beyond what the lane knows of is believed. A narrow leap is when it is heard twice, also when it went
 * on a little meanwhile, for whoever uses the key may go on using it. A wide one has to be heard more often and for as
 * long as a contradiction, also of an account of which nothing is known: what is signed beyond a count that was made up
 * waits for sequences that nobody has used.
 */
export class SequenceLeap {
  readonly #driftMs: number;
  /** The last count beyond `from`, which is null while it is not known from where it leapt. */
  #heard: (HeardCount & { from: bigint | null; times: number }) | null;

  /** @param heard what the chain told before anything was asked for the lane */
  constructor(driftMs: number, heard?: HeardCount) {
    this.#driftMs = driftMs;
    this.#heard = heard === undefined ? null : { ...heard, from: null, times: 1 };
  }

  /** @param from the count that the lane itself knows of */
  isBelieved({ chain, held }: { chain: bigint; held: ReadonlySet<bigint> }, from: bigint, elapsed: number): boolean {
    const before = this.#heard;
    if (chain <= from) {
      this.#heard = null;
      return true;
    }
    const isSame = before !== null && (before.from ?? from) === from && isCloseTo(before.chain, chain, held);
    const [since, times] = isSame ? [before.since, before.times + 1] : [elapsed, 1];
    this.#heard = { from, chain, since, times };
    if (chain - from <= FOREIGN_USES) return isSame;
    return times >= TIMES_WIDE && elapsed - since >= this.#driftMs;
  }
}

/** Whether two counts are about the same: the lane's own transactions between them do not count. */
export function isCloseTo(one: bigint, other: bigint, held: ReadonlySet<bigint> = new Set()): boolean {
  const [low, high] = one < other ? [one, other] : [other, one];
  const own = [...held].filter((sequence) => sequence >= low && sequence < high).length;
  return high - low - BigInt(own) <= FOREIGN_USES;
}
