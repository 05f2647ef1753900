import type { FileOutcome, Outcome, RunOptions } from './outcome.ts';
import { runPlain } from './plain-runner.ts';
import type { Suite } from './suites.ts';

/** The files of a suite that are to be run. */
export interface SuiteFiles {
  readonly suite: Suite;
  readonly files: readonly string[];
  /** How long one file may take, where that is not the suite's own limit. */
  readonly secondsPerFile?: number | undefined;
}

/** How a suite went, with the seconds from its first file's start to its last one's end: other suites may run within. */
export interface SuiteOutcome extends SuiteFiles {
  readonly outcome: Outcome;
  readonly seconds: number;
  /** Each of its files. */
  readonly each: readonly FileOutcome[];
}

/**
 * Runs suites in their order and tells of each as soon as it is over; a file of the next begins where one of the last
 * leaves room. A suite that holds or asserts nothing has failed.
 */
export async function* runSuites(all: readonly SuiteFiles[], options: RunOptions): AsyncGenerator<SuiteOutcome> {
  const files = all.flatMap(({ suite, files, secondsPerFile: seconds = suite.secondsPerFile }) =>
    files.map((file) => ({ file, seconds })),
  );
  const outcomes = runPlain(files, options);
  for (const one of all) yield { ...one, ...(await collect(outcomes, one)) };
  // Its end is what waits for nothing any more.
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
