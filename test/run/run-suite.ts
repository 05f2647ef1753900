import type { Outcome, RunOptions } from './outcome.ts';
import { runPlain } from './plain-runner.ts';
import type { Suite } from './suites.ts';

/** Runs one suite; one that holds or asserts nothing has failed. */
export async function runSuite(suite: Suite, options: RunOptions): Promise<Outcome> {
  if (options.files.length === 0) return broken(`${suite.folder} holds no test.`);
  const outcome = await runPlain(options);
  return outcome.passed === 0 && outcome.failures.length === 0 ? broken(`${suite.folder} asserts nothing.`) : outcome;
}

function broken(message: string): Outcome {
  return { passed: 0, failures: [{ path: [message], details: {} }], output: '' };
}
