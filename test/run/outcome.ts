import type { Failure } from './tally.ts';

/** How test files are run. */
export interface RunOptions {
  readonly root: string;
  readonly filesAtOnce: number;
  /** The path of the test library, bundled as one file. */
  readonly library: string;
}

/** A test file and its time limit in seconds. */
export interface TimedFile {
  readonly file: string;
  readonly seconds: number;
}

/** The result of a suite or of one file. */
export interface Outcome {
  readonly passed: number;
  readonly failures: readonly Failure[];
  /** Other output that may explain a failure. */
  readonly output: string;
}

/** The result of one file, with its start and end in milliseconds of one clock. */
export interface FileOutcome extends Outcome {
  readonly file: string;
  readonly began: number;
  readonly ended: number;
  /** Seconds of processor time, including child processes. Undefined if the system does not report it. */
  readonly spent: number | undefined;
}
