import { PoolWatch } from '../sequencing/pool-watch.ts';
import { SequencePlanner } from '../sequencing/sequence-planner.ts';
import { Ages } from './ages.ts';
import { BroadcastHistory } from './broadcast-history.ts';

/** What a lane keeps from step to step outside the store. Losing it costs only time and repeated offers. */
export class LaneMemory {
  readonly planner: SequencePlanner;
  readonly offers = new BroadcastHistory();
  readonly pool = new PoolWatch();
  /** The ages of transactions, by their id, and of intents, by their position. */
  readonly ages = new Ages();

  /** @param driftMs how long the chain must contradict what is known here before it is believed, in milliseconds */
  constructor(driftMs: number) {
    this.planner = new SequencePlanner(driftMs);
  }
}
