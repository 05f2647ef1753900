import type { Clock } from '../../src/domain/clock.ts';

/** The machine's clocks, moved ahead by {@link shift}. */
export class TravelClock implements Clock {
  /** How far the clocks are ahead, in milliseconds. */
  shift = 0;
  readonly now = (): number => Date.now() + this.shift;
  readonly elapsed = (): number => performance.now() + this.shift;
}
