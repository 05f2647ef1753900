/** Sequences to use now, or why there is none yet. */
export type SequencePlan = { kind: 'use'; sequences: bigint[] } | { kind: 'wait'; reason: string };

export interface SequenceFigures {
  /** What the chain says the account uses next, with its pool counted. */
  chain: bigint;
  /** Those of the lane's open transactions. */
  held: ReadonlySet<bigint>;
  /** The sequence after the highest that was ever signed in this lane. */
  known: bigint | null;
  /** The sequence after the highest that was seen in a final block. */
  settled: bigint | null;
}

/** How long the chain must contradict the store before it is believed, in milliseconds. */
export interface Doubts {
  driftMs: number;
  /** Where what was final would have to be lost. */
  lossMs: number;
}

/**
 * Decides which sequences a lane signs next: from the chain's count upwards, those that no open transaction holds.
 *
 * When nothing went wrong this is the one after the highest that was ever signed. A lower one means that a node lags
 * behind, or that the chain lost what we know: a gap below our open transactions (a reorganisation took somebody
 * else's use of the key back), or a development chain that was started anew. A lagging node catches up; so the chain
 * is only believed after it has contradicted us for a while, and then the gap is filled from below. A higher one means
 * that somebody else used the key, and is believed when it is heard twice: a transaction that is signed under a sequence
 * that a node made up waits for ever.
 *
 * The lane itself never makes a gap: a sequence is committed together with the bytes that use it, all of a batch or
 * none, and a signature that fails moves those behind it down before anything is committed.
 */
export class SequencePlanner {
  readonly #doubts: Doubts;
  /** Since when the chain has contradicted this value of `known`. */
  #contradiction: { known: bigint; since: number } | null = null;
  /** The chain's count when it was last beyond this value of `known`, and since when it has been so. */
  #leap: { known: bigint; chain: bigint; since: number } | null = null;

  constructor(doubts: Doubts) {
    this.#doubts = doubts;
  }

  /** `elapsed` in milliseconds on a clock that never goes back. */
  plan(figures: SequenceFigures, count: number, elapsed: number): SequencePlan {
    const sequences = freeSequences(figures, count);
    const { chain, known } = figures;
    const first = sequences[0];
    if (!this.#isLeapBelieved(chain, known ?? 0n, elapsed)) {
      const reason = `The network expects sequence ${chain} of this account, and nothing here led to it; asking once more`;
      return { kind: 'wait', reason };
    }
    if (known === null || first === undefined || first >= known) {
      this.#contradiction = null;
      return { kind: 'use', sequences };
    }
    if (this.#isBelieved(figures, known, elapsed)) {
      return { kind: 'use', sequences };
    }
    return {
      kind: 'wait',
      reason: `The network expects sequence ${chain} of this account, which has signed up to ${known - 1n}; waiting for the two to agree`,
    };
  }

  /**
   * The sequences below the highest held one that nobody holds and the chain waits for; none before the chain has asked
   * for them long enough.
   */
  gaps(figures: SequenceFigures, elapsed: number): bigint[] {
    const highest = [...figures.held].reduce((most, held) => (held > most ? held : most), -1n);
    const gaps: bigint[] = [];
    for (let sequence = figures.chain; sequence < highest && gaps.length < GAPS_AT_ONCE; sequence += 1n) {
      if (!figures.held.has(sequence)) gaps.push(sequence);
    }
    if (gaps.length === 0 || figures.known === null) {
      if (figures.held.size > 0) this.#contradiction = null;
      return [];
    }
    return this.#isBelieved(figures, figures.known, elapsed) ? gaps : [];
  }

  #isBelieved({ chain, settled }: SequenceFigures, known: bigint, elapsed: number): boolean {
    if (this.#contradiction?.known !== known) {
      this.#contradiction = { known, since: elapsed };
    }
    const { driftMs, lossMs } = this.#doubts;
    const isLoss = settled !== null && chain < settled;
    return elapsed - this.#contradiction.since >= (isLoss ? lossMs : driftMs);
  }

  /**
   * Heard twice, also when it went on a little meanwhile, for whoever uses the key may go on using it. A wide leap has
   * to be heard for as long as a contradiction: what is signed beyond one that was made up leaves a gap that costs money.
   */
  #isLeapBelieved(chain: bigint, known: bigint, elapsed: number): boolean {
    const before = this.#leap;
    if (chain <= known) {
      this.#leap = null;
      return true;
    }
    const isSame =
      before?.known === known && chain - before.chain <= FOREIGN_USES && before.chain - chain <= FOREIGN_USES;
    const since = isSame ? before.since : elapsed;
    this.#leap = { known, chain, since };
    const isWide = chain - known > FOREIGN_USES;
    return isSame && (!isWide || known === 0n || elapsed - since >= this.#doubts.driftMs);
  }
}

/** As many uses of the key by others between two questions are credible. */
const FOREIGN_USES = 64n;
const GAPS_AT_ONCE = 32;

function freeSequences({ chain, held }: SequenceFigures, count: number): bigint[] {
  const free: bigint[] = [];
  for (let sequence = chain; free.length < count; sequence += 1n) {
    if (!held.has(sequence)) {
      free.push(sequence);
    }
  }
  return free;
}
