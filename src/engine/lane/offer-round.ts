import { type LaneStep, latestOf, unmined } from './lane-step.ts';
import type { OpenEntry } from './ledger.ts';

/**
 * How many are offered at once after nodes had no room. Pools that hold few transactions of an account hold 16 (reth,
 * geth): a round of no more leaves room for what is below, where room appears amid it.
 */
const CROWDED_ROUND = 16;

/** What is offered now, of what is to be offered. */
export interface OfferRound {
  now: OpenEntry[];
  /** What is left for later, lowest sequence first. */
  later: OpenEntry[];
  /** The lowest that nodes had no room for and that is not offered now: what is above it waits with it. */
  blocker: OpenEntry | undefined;
}

/**
 * A transaction above one that nodes have no room for would take room there and get into no block. So once nodes have had
 * no room, few are offered at a time, and nothing above one that waits for room.
 */
export function offerRound(step: LaneStep, due: readonly OpenEntry[]): OfferRound {
  const isDue = new Set(due);
  const open = unmined(step);
  const most = open.some((entry) => lacksRoom(step, entry)) ? CROWDED_ROUND : Number.POSITIVE_INFINITY;
  const round: OfferRound = { now: [], later: [], blocker: undefined };
  for (const entry of open) {
    if (!isDue.has(entry)) {
      if (lacksRoom(step, entry)) round.blocker ??= entry;
    } else if (round.now.length < most && (round.blocker === undefined || !isOrdered(entry))) {
      round.now.push(entry);
    } else {
      round.later.push(entry);
    }
  }
  return round;
}

/** Whether it gets into a block only after what has a lower sequence, and no node has it. */
export function isOrdered(entry: OpenEntry): boolean {
  return entry.transaction.anchorKind === 'sequence' && latestOf(entry)?.acceptedAt === null;
}

function lacksRoom(step: LaneStep, entry: OpenEntry): boolean {
  return isOrdered(entry) && step.memory.offers.hasHeard(entry.transaction.id, 'busy');
}
