import type { Failure } from './tally.ts';

/** How test files are run. */
export interface RunOptions {
  readonly root: string;
  readonly filesAtOnce: number;
  /** The test library as one file. */
  readonly library: string;
}

/** A test file, and how long it may take. */
export interface TimedFile {
  readonly file: string;
  readonly seconds: number;
}

/** How a suite, or one file of it, went. */
export interface Outcome {
  readonly passed: number;
  readonly failures: readonly Failure[];
  /** What was printed besides results, where that may explain a failure. */
  readonly output: string;
}

/** How one file went, and when: in milliseconds of one clock. */
export interface FileOutcome extends Outcome {
  readonly file: string;
  readonly began: number;
  readonly ended: number;
  /** Seconds of processor time, with those of processes that it started; absent where the system does not tell. */
  readonly spent: number | undefined;
}
