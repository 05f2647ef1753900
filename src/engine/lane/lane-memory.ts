import type { Timestamp } from '../../domain/transaction/transaction.ts';
import { PoolWatch } from '../sequencing/pool-watch.ts';
import { SequencePlanner } from '../sequencing/sequence-planner.ts';
import { Ages } from './ages.ts';
import { BroadcastHistory } from './broadcast-history.ts';
import { RestoredStore } from './restored-store.ts';

/** What a lane keeps from step to step outside the store. Losing it costs only time and repeated offers. */
export class LaneMemory {
  readonly planner: SequencePlanner;
  readonly offers = new BroadcastHistory();
  readonly pool = new PoolWatch();
  /** The ages of transactions, by their id, and of intents, by their position. */
  readonly ages = new Ages();
  /** The attempt signed last of those that were seen in a block: its sequence, and when it was signed. */
  newestInBlock: { sequence: bigint; signedAt: Timestamp } | null = null;
  /** What was in the store when the lane began, and how far it was compared with the chain. */
  restored = RestoredStore.NOTHING;

  /** @param driftMs how long the chain must contradict what is known here before it is believed, in milliseconds */
  constructor(driftMs: number) {
    this.planner = new SequencePlanner(driftMs);
  }
}
