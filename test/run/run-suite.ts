import { spawn } from 'node:child_process';
import { toolEnvironment, toolPath } from '../check/command.ts';
import type { Suite } from './suites.ts';
import { type Failure, TapReader } from './tally.ts';

/** How a suite went. */
export interface SuiteResult {
  readonly passed: number;
  readonly failures: readonly Failure[];
  /** What the tests and tap printed besides results. */
  readonly output: string;
  /** The measured coverage in per cent: statements, branches, functions, lines. */
  readonly coverage?: string;
}

/** What the command asks for. */
export interface RunOptions {
  readonly root: string;
  readonly files: readonly string[];
  readonly secondsPerFile: number;
  readonly measureCoverage: boolean;
}

/** Runs one suite under tap and judges it: what did not run, or ended badly, has failed as well. */
export async function runSuite(suite: Suite, options: RunOptions): Promise<SuiteResult> {
  if (options.files.length === 0) return broken(`${suite.folder} holds no test.`);
  const reader = new TapReader();
  let stderr = '';
  const ended = await runTap(
    options,
    (text) => reader.write(text),
    (text) => {
      stderr += text;
    },
  );
  const tally = reader.end();

  const silent = options.files.filter((file) => !tally.files.includes(file));
  const failures = [...tally.failures, ...silent.map((file) => ({ path: [file], details: { message: 'never ran' } }))];
  // Coverage below its threshold is known by the exit code alone.
  if (ended !== 0 && failures.length === 0)
    failures.push({ path: [suite.name], details: { message: `tap ended with ${ended}` } });
  if (tally.passed === 0 && failures.length === 0) return broken(`${suite.folder} asserts nothing.`);

  const coverage = /^All files[ |]+(.+?)[ |]*$/m.exec(tally.extra)?.[1];
  return {
    passed: tally.passed,
    failures,
    output: `${stderr}${tally.extra}`,
    ...(coverage === undefined ? {} : { coverage: coverage.replaceAll(/\s*\|\s*/g, ' / ') }),
  };
}

function runTap(
  { root, files, secondsPerFile, measureCoverage }: RunOptions,
  onOutput: (text: string) => void,
  onError: (text: string) => void,
): Promise<number | string> {
  const { promise, resolve, reject } = Promise.withResolvers<number | string>();
  const args = ['run', '--reporter=tap', '--show-full-coverage', `--timeout=${secondsPerFile}`];
  if (!measureCoverage) args.push('--disable-coverage');
  const tap = spawn(toolPath('tap'), [...args, ...files], {
    cwd: root,
    env: toolEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  tap.stdout.setEncoding('utf8').on('data', onOutput);
  tap.stderr.setEncoding('utf8').on('data', onError);
  tap.on('error', reject);
  tap.on('close', (code, signal) => resolve(code ?? signal ?? 'no exit code'));
  return promise;
}

function broken(message: string): SuiteResult {
  return { passed: 0, failures: [{ path: [message], details: {} }], output: '' };
}
