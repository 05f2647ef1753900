/** Time as a parameter, so that tests control it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds since some moment; never goes back. For durations. */
  elapsed(): number;
}

/** The machine's clocks. */
export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() };
