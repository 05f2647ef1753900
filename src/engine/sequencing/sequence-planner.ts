import type { Chain } from '../../chains/chain.ts';
import { chainOfLane } from '../../features/transactions/records/lane.ts';
import type { OpenTransactions } from '../lane/open-transactions.ts';
import type { Sender } from '../lane/sender.ts';

/** Sequences to use now, or why there is none yet. `withinMs` says when to ask again at the latest, in milliseconds. */
export type SequencePlan =
  | { kind: 'use'; sequences: bigint[] }
  | { kind: 'wait'; reason: string; withinMs?: number | undefined };

/** What is known of an account's sequences. */
export interface SequenceFigures {
  /** The sequence that the account uses next according to the chain, with its pool counted. */
  chain: bigint;
  /** The sequences of the lane's open transactions. */
  held: ReadonlySet<bigint>;
  /** The sequence after the highest one that a final transaction has used; null when there is none. */
  settled: bigint | null;
  /** Whether an account's sequences may begin anew: see {@link import('../../chains/chain.ts').Counter.beginsAnew}. */
  beginsAnew?: boolean;
}

/**
 * The most sequences that are filled with noops below an open transaction. Each noop costs a fee. A wider gap does not
 * come from somebody else's use of the key by accident.
 */
export const WIDEST_GAP = 64;

/**
 * Decides which sequences a lane signs next: from the chain's count upwards, those that no open transaction holds.
 *
 * Mostly the next sequence is the one after the highest that is known here.
 *
 * A higher count means that somebody else used the key. The planner believes it when it is heard twice in a row.
 *
 * A lower count means that a node lags behind, or that a reorganisation took sequences back. Payments wait, because
 * they would fail if the node only lags. When the chain has told the lower count for a while, the planner believes it,
 * and the gaps below our open transactions are filled ({@link SequencePlanner.gaps}). Nothing is ever signed below what
 * is settled, unless sequences may begin anew.
 *
 * The lane itself never makes a gap. It commits a sequence together with the bytes that use it, all of a batch or none.
 * A signature that fails moves those behind it down before anything is committed.
 */
export class SequencePlanner {
  readonly #driftMs: number;
  /** The last count beyond `known`. */
  #leap: { known: bigint | null; chain: bigint } | null = null;
  /** Since when the chain has told less than this value of `known`, on a clock that never goes back. */
  #contradiction: { known: bigint; since: number } | null = null;

  /** @param driftMs how long the chain must contradict what is known here before it is believed, in milliseconds */
  constructor(driftMs: number) {
    this.#driftMs = driftMs;
  }

  /** Whether the chain has lately told less than is known here. */
  get isContradicted(): boolean {
    return this.#contradiction !== null;
  }

  /** `elapsed` in milliseconds on a clock that never goes back. */
  plan(figures: SequenceFigures, count: number, elapsed: number): SequencePlan {
    const { chain, settled, beginsAnew } = figures;
    const known = knownOf(figures);
    if (!this.#isLeapBelieved(chain, known)) {
      const reason = `The network expects sequence ${chain} for this account, which its known transactions do not explain; asking again`;
      return { kind: 'wait', reason, withinMs: 0 };
    }
    const sequences = freeSequences(figures, count);
    const [first] = sequences;
    if (known === null || first === undefined || first >= known) {
      this.#contradiction = null;
      return { kind: 'use', sequences };
    }
    const isPast = settled !== null && chain < settled && beginsAnew !== true;
    if (this.#isBelieved(known, elapsed) && !isPast) return { kind: 'use', sequences };
    const reason = `The network expects sequence ${chain} of this account, which has signed up to ${known - 1n}`;
    return { kind: 'wait', reason: `${reason}; waiting for the two to agree` };
  }

  /**
   * The sequences below open transactions that no transaction holds and the chain waits for. None before the chain has
   * asked for them long enough, and none in or above a gap wider than {@link WIDEST_GAP}.
   */
  gaps(figures: SequenceFigures, elapsed: number): bigint[] {
    return this.#belowHeld(figures, elapsed).free;
  }

  /** The sequences of open transactions above a gap that is too wide, when the chain has asked long enough. */
  beyond(figures: SequenceFigures, elapsed: number): bigint[] {
    return this.#belowHeld(figures, elapsed).beyond;
  }

  #belowHeld(figures: SequenceFigures, elapsed: number): BelowHeld {
    const nothing = { free: [], beyond: [] };
    const known = knownOf(figures);
    const [first] = freeSequences(figures, 1);
    if (known === null || first === undefined || first >= known) {
      this.#contradiction = null;
      return nothing;
    }
    const isBelieved = this.#isBelieved(known, elapsed);
    return isBelieved && (figures.settled === null || figures.chain >= figures.settled) ? belowHeld(figures) : nothing;
  }

  #isLeapBelieved(chain: bigint, known: bigint | null): boolean {
    if (chain <= (known ?? 0n)) {
      this.#leap = null;
      return true;
    }
    const before = this.#leap;
    this.#leap = { known, chain };
    // The count may have risen again: whoever uses the key may go on using it.
    return before !== null && before.known === known && chain >= before.chain;
  }

  #isBelieved(known: bigint, elapsed: number): boolean {
    if (this.#contradiction?.known !== known) this.#contradiction = { known, since: elapsed };
    return elapsed - this.#contradiction.since >= this.#driftMs;
  }
}

/** The sequence after the highest that is used or held here; null where none is. */
function knownOf({ held, settled }: Pick<SequenceFigures, 'held' | 'settled'>): bigint | null {
  let known = settled;
  for (const sequence of held) if (known === null || sequence >= known) known = sequence + 1n;
  return known;
}

function freeSequences({ chain, held }: SequenceFigures, count: number): bigint[] {
  const free: bigint[] = [];
  for (let sequence = chain; free.length < count; sequence += 1n) if (!held.has(sequence)) free.push(sequence);
  return free;
}

interface BelowHeld {
  free: bigint[];
  beyond: bigint[];
}

function belowHeld({ chain, held }: SequenceFigures): BelowHeld {
  const free: bigint[] = [];
  let next = chain;
  const above = [...held].filter((one) => one >= chain).toSorted((a, b) => (a < b ? -1 : 1));
  for (const [index, sequence] of above.entries()) {
    if (sequence - next > WIDEST_GAP) return { free, beyond: above.slice(index) };
    if (sequence - next > WIDEST_GAP - free.length) break;
    for (; next < sequence; next += 1n) free.push(next);
    next = sequence + 1n;
  }
  return { free, beyond: [] };
}

/** What the chain and the store say of the account's sequences, as some of the lane's senders see the chain. */
export async function sequenceFigures(
  step: { key: string; chain: Chain; open: OpenTransactions },
  senders: readonly Sender[],
): Promise<SequenceFigures> {
  const held = new Set([...step.open.entries.values()].flatMap(({ transaction: { sequence } }) => sequence ?? []));
  const settled = await step.open.settled();
  const least = knownOf({ held, settled });
  const identity = chainOfLane(step.key);
  const sources = [...new Map(senders.map((sender) => [sender.client, sender])).values()];
  const counts = await Promise.all(
    sources.flatMap(({ client, account }) => client.sequences?.next(account.address, identity, least) ?? []),
  );
  // The highest answer, when relayers of one account use different endpoints: the lower one lags behind.
  const chain = counts.reduce((highest, count) => (count > highest ? count : highest), 0n);
  return { chain, held, settled, ...(step.chain.sequence?.beginsAnew === true && { beginsAnew: true }) };
}
