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
  /** Whether the chain is proved to have lost what was settled, and not just a node to be behind. */
  isLost(): Promise<boolean>;
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
 * behind, or that the chain lost what we know. A payment that is signed under a sequence of the past would be lost
 * itself once the node has caught up, so it waits. Where the chain lost only somebody else's use of the key, below our
 * open transactions (by a reorganisation), it is believed after it has contradicted us for a while, and gaps are filled
 * by transactions that pay nobody. Where it would have lost what was final (a development chain that was started anew),
 * it has to prove that as well. A higher one means that somebody else used the key, and is believed when it is heard
 * twice: a transaction that is signed under a sequence that a node made up waits for ever.
 *
 * The lane itself never makes a gap: a sequence is committed together with the bytes that use it, all of a batch or
 * none, and a signature that fails moves those behind it down before anything is committed.
 */
export class SequencePlanner {
  readonly #doubts: Doubts;
  /** Since when the chain has contradicted this value of `known`, and whether a loss was proved since. */
  #contradiction: { known: bigint; since: number; isLost: boolean } | null = null;
  /** The chain's count when it was last beyond this value of `known`, and since when it has been so. */
  #leap: { known: bigint; chain: bigint; since: number } | null = null;

  constructor(doubts: Doubts) {
    this.#doubts = doubts;
  }

  /** Whether the chain has lately told less than the store knows of. */
  get isContradicted(): boolean {
    return this.#contradiction !== null;
  }

  /** `elapsed` in milliseconds on a clock that never goes back. */
  async plan(figures: SequenceFigures, count: number, elapsed: number): Promise<SequencePlan> {
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
    if ((await this.#isBelieved(figures, known, elapsed)) && isLoss(figures)) {
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
  async gaps(figures: SequenceFigures, elapsed: number): Promise<bigint[]> {
    const highest = [...figures.held].reduce((most, held) => (held > most ? held : most), -1n);
    const gaps: bigint[] = [];
    for (let sequence = figures.chain; sequence < highest && gaps.length < GAPS_AT_ONCE; sequence += 1n) {
      if (!figures.held.has(sequence)) gaps.push(sequence);
    }
    if (gaps.length === 0 || figures.known === null) {
      if (figures.held.size > 0) this.#contradiction = null;
      return [];
    }
    return (await this.#isBelieved(figures, figures.known, elapsed)) ? gaps : [];
  }

  async #isBelieved(figures: SequenceFigures, known: bigint, elapsed: number): Promise<boolean> {
    if (this.#contradiction?.known !== known) {
      this.#contradiction = { known, since: elapsed, isLost: false };
    }
    const contradiction = this.#contradiction;
    const { driftMs, lossMs } = this.#doubts;
    const lasts = elapsed - contradiction.since;
    if (!isLoss(figures)) return lasts >= driftMs;
    contradiction.isLost ||= lasts >= lossMs && (await figures.isLost());
    return contradiction.isLost;
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

/** Whether the chain would have to have lost what was final. */
function isLoss({ chain, settled }: SequenceFigures): boolean {
  return settled !== null && chain < settled;
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
