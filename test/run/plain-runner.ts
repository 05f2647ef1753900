import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { toolEnvironment } from '../check/command.ts';
import { sideBySide } from '../check/side-by-side.ts';
import type { FileOutcome, RunOptions, TimedFile } from './outcome.ts';
import { isGroupAlive, killGroup } from './process-group.ts';
import { spentByChildren } from './spent.ts';
import { nodeOptions } from './suites.ts';
import { type Failure, TapReader } from './tally.ts';

const entry = join(import.meta.dirname, 'test-file.ts');

/** A file that is out of time first gets the chance to say which test hung. */
const GRACE_MS = 2_000;

/** How long what a file started may take to be gone after it. */
const LEFTOVER_MS = 1_000;

/** How long it may take to be gone once it is killed. */
const KILLED_MS = 10_000;

const POLL_MS = 50;

/** How long the output may take to end after that; what holds it longer has left the file's group. */
const OUTPUT_MS = 5_000;

/**
 * Runs test files as plain programs and tells of each, in their order, how it went. Each is a process group of its own,
 * so that nothing it started outlives it.
 */
export async function* runPlain(files: readonly TimedFile[], options: RunOptions): AsyncGenerator<FileOutcome> {
  const running = new Set<number>();
  const spent = spentMeter();
  const interrupted = () => {
    for (const group of running) killGroup(group);
    process.exit(130);
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  yield* sideBySide(files, options.filesAtOnce, (file) => runFile(file, options, { running, spent }));
  process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
}

interface Run {
  /** The groups of the files that run. */
  readonly running: Set<number>;
  readonly spent: () => number | undefined;
}

/** Tells at each end of a child what the ended ones took since the last time. */
function spentMeter(): () => number | undefined {
  let last = spentByChildren() ?? 0;
  return () => {
    const sum = spentByChildren();
    if (sum === undefined) return undefined;
    const spent = sum - last;
    last = sum;
    return spent;
  };
}

async function runFile({ file, seconds }: TimedFile, options: RunOptions, run: Run): Promise<FileOutcome> {
  const { running } = run;
  const began = performance.now();
  const child = spawn(process.execPath, [...nodeOptions(file), entry, options.library, file], {
    cwd: options.root,
    env: { ...toolEnvironment(), TAP: '1', TAP_TIMEOUT: String(seconds) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const group = child.pid;
  if (group === undefined) throw new Error(`${file} could not be started.`);
  running.add(group);
  const reader = new TapReader(file);
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => reader.write(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });

  const { promise: exited, resolve } = Promise.withResolvers<number | string>();
  child.on('exit', (code, signal) => resolve(code ?? signal ?? 'no exit code'));
  const closed = new Promise((resolveClosed) => child.once('close', resolveClosed));
  const outOfTime = setTimeout(() => killGroup(group), seconds * 1000 + GRACE_MS);
  const exit = await exited;
  const spent = run.spent();
  clearTimeout(outOfTime);
  const leftover = await endLeftover(group);
  // What the file started may have held its output open until now.
  const held = setTimeout(() => {
    child.stdout.destroy();
    child.stderr.destroy();
  }, OUTPUT_MS);
  await closed;
  clearTimeout(held);
  const isHeld = !child.stdout.readableEnded || !child.stderr.readableEnded;
  running.delete(group);

  const { passed, failures, extra } = reader.end();
  const found: Failure[] = [...failures];
  const add = (message: string) => found.push({ path: [file], details: { message } });
  if (exit !== 0 && found.length === 0) add(`ended with ${exit}`);
  if (passed === 0 && found.length === 0) add('asserts nothing');
  if (leftover) add('left a process running');
  if (isHeld) add('left a process running that holds its output');
  const output = `${file} printed:\n${stderr}${extra}\n`;
  return { file, passed, failures: found, output, began, ended: performance.now(), spent };
}

/** Whether something of the file's group outlived it; it does not any more. */
async function endLeftover(group: number): Promise<boolean> {
  if (await isGone(group, LEFTOVER_MS)) return false;
  killGroup(group);
  // Its output ends before it does: a process that is killed gives its files back first, and its memory last.
  await isGone(group, KILLED_MS);
  return true;
}

async function isGone(group: number, withinMs: number): Promise<boolean> {
  for (let waited = 0; waited < withinMs; waited += POLL_MS) {
    if (!isGroupAlive(group)) return true;
    await sleep(POLL_MS);
  }
  return !isGroupAlive(group);
}
