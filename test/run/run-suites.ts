import type { Outcome, RunOptions } from './outcome.ts';
import { runPlain } from './plain-runner.ts';
import type { Suite } from './suites.ts';

/** The files of a suite that are to be run. */
export interface SuiteFiles {
  readonly suite: Suite;
  readonly files: readonly string[];
  /** How long one file may take, where that is not the suite's own limit. */
  readonly secondsPerFile?: number | undefined;
}

/** How a suite went. The seconds are those since the suite before it was over. */
export interface SuiteOutcome extends SuiteFiles {
  readonly outcome: Outcome;
  readonly seconds: number;
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
  let start = performance.now();
  for (const one of all) {
    const outcome = await collect(outcomes, one);
    const end = performance.now();
    yield { ...one, outcome, seconds: (end - start) / 1000 };
    start = end;
  }
  // Its end is what waits for nothing any more.
  await outcomes.next();
}

async function collect(outcomes: AsyncGenerator<Outcome>, { suite, files }: SuiteFiles): Promise<Outcome> {
  if (files.length === 0) return broken(`${suite.folder} holds no test.`);
  const all: Outcome[] = [];
  while (all.length < files.length) {
    const { done, value } = await outcomes.next();
    if (done === true) throw new Error(`${suite.folder} was not run to its end.`);
    all.push(value);
  }
  const failures = all.flatMap((outcome) => outcome.failures);
  const passed = all.reduce((sum, outcome) => sum + outcome.passed, 0);
  if (passed === 0 && failures.length === 0) return broken(`${suite.folder} asserts nothing.`);
  const output = all.filter((outcome) => outcome.failures.length > 0).map((outcome) => outcome.output);
  return { passed, failures, output: output.join('') };
}

function broken(message: string): Outcome {
  return { passed: 0, failures: [{ path: [message], details: {} }], output: '' };
}
