import { type LaneStep, latestOf, unmined } from './lane-step.ts';
import type { OpenEntry } from './ledger.ts';

/**
 * The most transactions offered at once after nodes had no room. Pools that limit the transactions of an account hold
 * 16 (reth, geth). If room appears during a round of at most 16, some of it is left for lower sequences.
 */
const CROWDED_ROUND = 16;

/** Which of the due transactions are offered now, and which later. */
export interface OfferRound {
  now: OpenEntry[];
  /** The transactions to offer later, lowest sequence first. */
  later: OpenEntry[];
  /** The lowest transaction that nodes had no room for and that is not offered now. Those above it wait with it. */
  blocker: OpenEntry | undefined;
}

/**
 * Chooses what to offer now. Once nodes have had no room, few transactions are offered at a time, and none above one
 * that waits for room. It would take room there and get into no block.
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

/** Whether the transaction gets into a block only after lower sequences, and no node has it. */
export function isOrdered(entry: OpenEntry): boolean {
  return entry.transaction.anchorKind === 'sequence' && latestOf(entry)?.acceptedAt === null;
}

function lacksRoom(step: LaneStep, entry: OpenEntry): boolean {
  return isOrdered(entry) && step.memory.offers.hasHeard(entry.transaction.id, 'busy');
}
