import type { BroadcastOutcome } from '../chains/chain.ts';
import type { Attempt } from '../domain/transaction.ts';
import { applyToOpen, isDue, type LaneStep, reasonOf, unmined } from './lane-step.ts';
import type { Change, OpenEntry } from './ledger.ts';
import { backOff, nextLook } from './timing.ts';

/** What came of a round of offers. */
export interface Offers {
  offered: number;
  /** Those that no node took, to be looked for on the chain: one of their versions may be there. */
  notTaken: OpenEntry[];
}

/**
 * Offers stored bytes to the nodes, lowest sequence first, one after the other: what is due and was never taken, and
 * what a node took long ago and is in no block. Only bytes that are committed ever get here.
 */
export async function offer(step: LaneStep): Promise<Offers> {
  const round = new OfferRound(step);
  const entries = unmined(step).filter((entry) => needsOffer(step, entry));
  for (const entry of entries) {
    if (step.isEnding() || !(await round.place(entry))) {
      break;
    }
  }
  await round.commit(entries);
  const notTaken = round.notTaken.map((id) => step.open.get(id)).filter((entry) => entry !== undefined);
  return { offered: entries.length, notTaken };
}

/** Looking leaves a transaction due when a node has been silent about it for too long. */
function needsOffer(step: LaneStep, entry: OpenEntry): boolean {
  const { id, status } = entry.transaction;
  return isDue(step, entry) && (status === 'sent' || step.offers.isStale(id, step.elapsed(), step.timing.reofferMs));
}

class OfferRound {
  readonly notTaken: string[] = [];
  readonly #step: LaneStep;
  readonly #changes: Change[] = [];
  #lowerOffered = false;
  /** Until when those behind one that could not be placed have to wait. */
  #blockedUntil: number | null = null;

  constructor(step: LaneStep) {
    this.#step = step;
  }

  /** @returns false when those with higher sequences need not be tried now */
  async place(entry: OpenEntry): Promise<boolean> {
    let outcome = await this.#broadcast(entry);
    if (outcome.kind === 'sequence-ahead' && !this.#lowerOffered) {
      await this.#offerLower(entry);
      outcome = await this.#broadcast(entry);
    }
    return this.#note(entry, outcome);
  }

  /** Writes what came of the round. Those that were not reached wait with the one that stopped it. */
  async commit(entries: readonly OpenEntry[]): Promise<void> {
    const nextActionAt = this.#blockedUntil;
    const noted = new Set(this.#changes.map(({ transaction }) => transaction.id));
    const behind = nextActionAt === null ? [] : entries.filter(({ transaction }) => !noted.has(transaction.id));
    const waiting = behind.map(({ transaction }): Change => ({ transaction, set: { nextActionAt } }));
    await applyToOpen(this.#step, [...this.#changes, ...waiting]);
  }

  #note({ transaction, attempts }: OpenEntry, outcome: BroadcastOutcome): boolean {
    const step = this.#step;
    const now = step.now();
    if (outcome.kind === 'accepted') {
      step.offers.accepted(transaction.id, step.elapsed());
      const ordinal = attempts.at(-1)?.ordinal ?? 1;
      const set = {
        ...(transaction.status === 'sent' ? ({ status: 'submitted' } as const) : {}),
        statusReason: null,
        sentAt: transaction.sentAt ?? now,
        nextActionAt: nextLook(now, now, step.timing),
      };
      this.#changes.push({ transaction, set, accepted: { ordinal, at: now } });
      return true;
    }
    const { kind, reason } = outcome;
    step.log.warn({ transaction: transaction.id, lane: step.key, outcome: kind, reason }, 'bytes not taken');
    const nextActionAt = now + backOff(step.offers.failed(transaction.id), step.timing, step.random);
    this.#changes.push({ transaction, set: { statusReason: reason, nextActionAt } });
    this.notTaken.push(transaction.id);
    // A taken sequence stops nobody: those behind it have others. Whatever else happened would happen to them as well.
    const goesOn = kind === 'sequence-used' || kind === 'underpriced';
    if (!goesOn) {
      this.#blockedUntil = nextActionAt;
    }
    return goesOn;
  }

  /** A node misses something below: all that we have below goes to it once more, lowest first. */
  async #offerLower({ transaction: { sequence } }: OpenEntry): Promise<void> {
    this.#lowerOffered = true;
    for (const lower of unmined(this.#step)) {
      if (sequence !== null && lower.transaction.sequence !== null && lower.transaction.sequence < sequence) {
        await this.#broadcast(lower);
      }
    }
  }

  async #broadcast({ transaction, attempts }: OpenEntry): Promise<BroadcastOutcome> {
    const attempt: Attempt | undefined = attempts.at(-1);
    if (attempt === undefined) {
      return { kind: 'refused', reason: 'No signed bytes are stored for it' };
    }
    try {
      const { client } = await this.#step.senders.of(transaction.relayerId);
      return await client.broadcast(attempt);
    } catch (error) {
      return { kind: 'unknown', reason: reasonOf(error) };
    }
  }
}
