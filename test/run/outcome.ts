import type { Failure } from './tally.ts';

/** What a test command is asked to run, and how. */
export interface RunOptions {
  readonly root: string;
  readonly files: readonly string[];
  readonly secondsPerFile: number;
}

/** How a suite, or one file of it, went. */
export interface Outcome {
  readonly passed: number;
  readonly failures: readonly Failure[];
  /** What was printed besides results, where that may explain a failure. */
  readonly output: string;
}
