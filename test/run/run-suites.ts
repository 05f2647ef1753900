import type { FileOutcome, Outcome, RunOptions } from './outcome.ts';
import { runPlain } from './plain-runner.ts';
import type { Suite } from './suites.ts';

/** A suite and the files of it to run. */
export interface SuiteFiles {
  readonly suite: Suite;
  readonly files: readonly string[];
  /** The time limit of one file, if it differs from the suite's. */
  readonly secondsPerFile?: number | undefined;
}

/** The result of a suite, and the seconds from its first start to its last end. Suites can overlap. */
export interface SuiteOutcome extends SuiteFiles {
  readonly outcome: Outcome;
  readonly seconds: number;
  /** The result of each file. */
  readonly each: readonly FileOutcome[];
}

/**
 * Runs suites in order and yields each result as soon as it is complete. Files of the next suite start while the last
 * files of the previous one still run. A suite without files or assertions fails.
 */
export async function* runSuites(all: readonly SuiteFiles[], options: RunOptions): AsyncGenerator<SuiteOutcome> {
  const files = all.flatMap(({ suite, files, secondsPerFile: seconds = suite.secondsPerFile }) =>
    files.map((file) => ({ file, seconds })),
  );
  const outcomes = runPlain(files, options);
  for (const one of all) yield { ...one, ...(await collect(outcomes, one)) };
  // Lets the runner end its idle processes.
  await outcomes.next();
}

type Collected = Pick<SuiteOutcome, 'outcome' | 'seconds' | 'each'>;

async function collect(outcomes: AsyncGenerator<FileOutcome>, { suite, files }: SuiteFiles): Promise<Collected> {
  if (files.length === 0) return { outcome: broken(`${suite.folder} holds no test.`), seconds: 0, each: [] };
  const all: FileOutcome[] = [];
  while (all.length < files.length) {
    const { done, value } = await outcomes.next();
    if (done === true) throw new Error(`${suite.folder} was not run to its end.`);
    all.push(value);
  }
  const began = Math.min(...all.map((outcome) => outcome.began));
  const ended = Math.max(...all.map((outcome) => outcome.ended));
  return { outcome: together(all, suite.folder), seconds: (ended - began) / 1000, each: all };
}

function together(all: readonly Outcome[], folder: string): Outcome {
  const failures = all.flatMap((outcome) => outcome.failures);
  const passed = all.reduce((sum, outcome) => sum + outcome.passed, 0);
  if (passed === 0 && failures.length === 0) return broken(`${folder} asserts nothing.`);
  const output = all.filter((outcome) => outcome.failures.length > 0).map((outcome) => outcome.output);
  return { passed, failures, output: output.join('') };
}

function broken(message: string): Outcome {
  return { passed: 0, failures: [{ path: [message], details: {} }], output: '' };
}
