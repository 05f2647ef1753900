import { type HeardCount, SequenceLeap } from './sequence-leap.ts';
import { outOfReach, reached, type SignedSequences, signedBelow } from './sequence-reach.ts';

/** Sequences to use now, or why there is none yet, and in how many milliseconds at the latest it has to be asked again. */
export type SequencePlan =
  | { kind: 'use'; sequences: bigint[] }
  | { kind: 'wait'; reason: string; withinMs?: number | undefined };

export interface SequenceFigures extends SignedSequences {
  /** What the chain says the account uses next, with its pool counted. */
  chain: bigint;
  /** How many empty transactions were made below an open one since it was signed. */
  paidFor(sequence: bigint): bigint;
  /** Whether the chain is proved to have lost what was settled, and not just a node to be behind. */
  isLost(): Promise<boolean>;
  /**
   * Whether the account is proved to be no further than `chain` since the open transactions from the given sequence on
   * were signed, and not just a node to be behind.
   */
  isNoFurther(from: bigint): Promise<boolean>;
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
 * it has to prove that as well. A higher one means that somebody else used the key, and has to be heard more than once
 * ({@link SequenceLeap}).
 *
 * Where a count that was made up was believed all the same, what was signed under it is far beyond what the chain counts.
 * That gap is not filled: once the chain has proved its count, those beyond are stranded, and the lane goes on below
 * them as if they were not there. Their sequences stay theirs, so they take effect at most once, when the account gets
 * there.
 *
 * The lane itself never makes a gap: a sequence is committed together with the bytes that use it, all of a batch or
 * none, and a signature that fails moves those behind it down before anything is committed.
 */
export class SequencePlanner {
  readonly #doubts: Doubts;
  /** Since when the chain has contradicted this value of `known`, and whether a loss was proved since. */
  #contradiction: { known: bigint; since: number; isLost: boolean } | null = null;
  readonly #leap: SequenceLeap;
  /** The same of what is told when gaps are looked for, where fewer endpoints may be asked. */
  readonly #gapLeap: SequenceLeap;
  /** Since when the chain has been too far below these open sequences to get there, and whether that was proved since. */
  #beyond: { held: ReadonlySet<bigint>; since: number; isProved: boolean } | null = null;
  /** From where on open transactions are stranded, by what the chain told last. */
  #strandedFrom: bigint | null = null;

  /** @param heard what the chain told before anything was asked for the lane */
  constructor(doubts: Doubts, heard?: HeardCount) {
    this.#doubts = doubts;
    this.#leap = new SequenceLeap(doubts.driftMs, heard);
    this.#gapLeap = new SequenceLeap(doubts.driftMs);
  }

  /** Whether the chain has lately told less than the store knows of. */
  get isContradicted(): boolean {
    return this.#contradiction !== null;
  }

  /** Whether an open transaction with this sequence waits for an account that is far from getting there. */
  isStranded(sequence: bigint | null): boolean {
    return this.#strandedFrom !== null && sequence !== null && sequence >= this.#strandedFrom;
  }

  /** `elapsed` in milliseconds on a clock that never goes back. */
  async plan(figures: SequenceFigures, count: number, elapsed: number): Promise<SequencePlan> {
    const { chain } = figures;
    if (!this.#leap.isBelieved(figures, reached(figures), elapsed)) {
      const reason = `The network expects sequence ${chain} of this account, and nothing here led to it; asking once more`;
      // Often enough that what others use meanwhile does not look like another count.
      return { kind: 'wait', reason, withinMs: Math.ceil(this.#doubts.driftMs / QUESTIONS_IN_DOUBT) };
    }
    const near = await this.#withinReach(figures, elapsed);
    const sequences = freeSequences(figures, count);
    const first = sequences[0];
    const { known, isProved } = near;
    if (isProved && (known === null || first === undefined || first >= known)) {
      this.#contradiction = null;
      return { kind: 'use', sequences };
    }
    if (isProved && known !== null && (await this.#isBelieved(near, known, elapsed)) && isLoss(near)) {
      return { kind: 'use', sequences };
    }
    const last = (figures.known ?? chain) - 1n;
    return {
      kind: 'wait',
      reason: `The network expects sequence ${chain} of this account, which has signed up to ${last}; waiting for the two to agree`,
    };
  }

  /**
   * The sequences below the highest held one within reach that nobody holds and the chain waits for; none before the
   * chain has asked for them long enough.
   */
  async gaps(all: SequenceFigures, elapsed: number): Promise<bigint[]> {
    if (!this.#gapLeap.isBelieved(all, reached(all), elapsed)) return [];
    const figures = await this.#withinReach(all, elapsed);
    const highest = [...figures.held].reduce((most, held) => (held > most ? held : most), -1n);
    const gaps: bigint[] = [];
    for (let sequence = figures.chain; sequence < highest && gaps.length < GAPS_AT_ONCE; sequence += 1n) {
      if (!figures.held.has(sequence)) gaps.push(sequence);
    }
    if (gaps.length === 0 || figures.known === null) {
      // A proof outlasts the moment in which nothing contradicts it, else each sequence would need another.
      if (figures.held.size > 0 && this.#contradiction?.isLost !== true) this.#contradiction = null;
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

  /** The figures without what is beyond reach; `isProved` says whether the chain really is as far from that as it tells. */
  async #withinReach(figures: SequenceFigures, elapsed: number): Promise<SequenceFigures & { isProved: boolean }> {
    const from = outOfReach(figures.chain, figures.held, figures.paidFor);
    this.#strandedFrom = null;
    if (from === undefined) {
      // A proof outlasts the moment in which a node tells another count; a doubt does not.
      if (this.#beyond?.isProved === false) this.#beyond = null;
      return { ...figures, isProved: true };
    }
    // What holds of the lowest of them holds of those above too, but not of what was signed since.
    if (this.#beyond?.held.has(from) !== true) {
      const held = new Set([...figures.held].filter((sequence) => sequence >= from));
      this.#beyond = { held, since: elapsed, isProved: false };
    }
    const beyond = this.#beyond;
    beyond.isProved ||= elapsed - beyond.since >= this.#doubts.lossMs && (await figures.isNoFurther(from));
    if (beyond.isProved) this.#strandedFrom = from;
    const held = new Set([...figures.held].filter((sequence) => sequence < from));
    return { ...figures, held, known: signedBelow(figures, from), isProved: beyond.isProved };
  }
}

/** Whether the chain would have to have lost what was final. */
function isLoss({ chain, settled }: SequenceFigures): boolean {
  return settled !== null && chain < settled;
}

const GAPS_AT_ONCE = 32;

/** How often at least a count that has to be heard for a while is asked for in that time. */
const QUESTIONS_IN_DOUBT = 8;

function freeSequences({ chain, held }: SequenceFigures, count: number): bigint[] {
  const free: bigint[] = [];
  for (let sequence = chain; free.length < count; sequence += 1n) {
    if (!held.has(sequence)) {
      free.push(sequence);
    }
  }
  return free;
}
