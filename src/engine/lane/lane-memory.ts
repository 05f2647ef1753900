import { PoolWatch } from '../sequencing/pool-watch.ts';
import { SequencePlanner } from '../sequencing/sequence-planner.ts';
import { Ages } from './ages.ts';
import { BroadcastHistory } from './broadcast-history.ts';

/** What a lane remembers from step to step and the store does not hold. Losing it costs time and repeated offers only. */
export class LaneMemory {
  readonly planner: SequencePlanner;
  readonly offers = new BroadcastHistory();
  readonly pool = new PoolWatch();
  /** How old transactions are, by id, and intents, by their position. */
  readonly ages = new Ages();

  /** @param driftMs how long the chain must contradict what is known here before it is believed, in milliseconds */
  constructor(driftMs: number) {
    this.planner = new SequencePlanner(driftMs);
  }
}
