import { spawn } from 'node:child_process';
import { toolEnvironment, toolPath } from '../check/command.ts';
import type { Outcome, RunOptions } from './outcome.ts';
import { type Failure, type Tally, TapReader } from './tally.ts';

/** Runs test files under tap's own runner, which measures coverage. */
export async function runWithCoverage(options: RunOptions): Promise<Outcome> {
  let passed = 0;
  let output = '';
  const failures: Failure[] = [];

  // When a file runs out of time, tap forgets files that were still waiting; those get another turn.
  let waiting = options.files;
  for (let before = Infinity; waiting.length > 0 && waiting.length < before; ) {
    before = waiting.length;
    const { exit, stderr, tally } = await runTap({ ...options, files: waiting });
    passed += tally.passed;
    output += `${stderr}${tally.extra}`;
    failures.push(...tally.failures);
    // Coverage below its threshold is known by the exit code alone.
    if (exit !== 0 && failures.length === 0)
      failures.push({ path: ['tap'], details: { message: `ended with ${exit}` } });
    waiting = waiting.filter((file) => !tally.files.includes(file));
  }
  failures.push(...waiting.map((file) => ({ path: [file], details: { message: 'never ran' } })));

  const coverage = /^All files[ |]+(.+?)[ |]*$/m.exec(output)?.[1];
  return { passed, failures, output, ...(coverage && { coverage: coverage.replaceAll(/\s*\|\s*/g, ' / ') }) };
}

interface TapRun {
  readonly exit: number | string;
  readonly stderr: string;
  readonly tally: Tally;
}

function runTap({ root, files, secondsPerFile, measureCoverage }: RunOptions): Promise<TapRun> {
  const { promise, resolve, reject } = Promise.withResolvers<TapRun>();
  const args = ['run', '--reporter=tap', '--show-full-coverage', `--timeout=${secondsPerFile}`];
  if (!measureCoverage) args.push('--disable-coverage');
  const tap = spawn(toolPath('tap'), [...args, ...files], {
    cwd: root,
    env: toolEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const reader = new TapReader();
  let stderr = '';
  tap.stdout.setEncoding('utf8').on('data', (text: string) => reader.write(text));
  tap.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  tap.on('error', reject);
  tap.on('close', (code, signal) => resolve({ exit: code ?? signal ?? 'no exit code', stderr, tally: reader.end() }));
  return promise;
}
