import type { Clock } from '../../src/domain/clock.ts';

/** The machine's clocks, ahead by what was told to have passed. */
export class TravelClock implements Clock {
  /** In milliseconds. */
  shift = 0;
  readonly now = (): number => Date.now() + this.shift;
  readonly elapsed = (): number => performance.now() + this.shift;
}
