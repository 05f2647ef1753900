/**
 * `npm test`. Runs test files as plain programs, several to a process, so that common modules load once. A file that
 * fails is the last one in its process. tap's own runner takes a new process and a new load of its library for each.
 */
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { inspect, parseArgs } from 'node:util';
import { listFiles, root, sideBySide } from '../check/project.ts';
import { SHORT_LIVED } from '../support/run-folder.ts';
import type { Failure } from './test-files.ts';
import { writeTestLibrary } from './test-library.ts';
import { type FileOutcome, TestProcess } from './test-process.ts';

interface Suite {
  readonly name: string;
  readonly folders: readonly string[];
  /** The time limit of one file. */
  readonly seconds: number;
}

/** In the order of their runs. The largest that always runs comes last, so that the end does not wait for a long file. */
const SUITES: readonly Suite[] = [
  { name: 'architecture', folders: ['test/architecture'], seconds: 120 },
  { name: 'unit', folders: ['test/unit', 'sandbox/test/unit'], seconds: 180 },
  { name: 'e2e', folders: ['test/e2e'], seconds: 240 },
  { name: 'integration', folders: ['test/integration', 'sandbox/test/integration'], seconds: 240 },
  { name: 'slow', folders: ['test/slow', 'sandbox/test/slow'], seconds: 240 },
];
/** Files that look at their whole process, for example at the modules that it has loaded. */
const ALONE = /^test\/(architecture\/|slow\/alerts-plugins|unit\/src\/services\/settings\/signer-directory)/;
const USAGE =
  'npm test [-- [--timeout=<seconds per file>] [--times] [--slow | <test files or folders>...]]\n' +
  '--slow runs test/slow too, which is left out otherwise';
/** Databases of parallel files may use up to a quarter of this. */
const ROOM_BYTES = 4 * 2 ** 30;
const SLOWEST = 30;
const MAX_OUTPUT = 20_000;
const MAX_VALUE = 3_000;
/** Details about how tap runs files, or that repeat the assertion's place. */
const NOISE = new Set(['stdio', 'cwd', 'externalID', 'command', 'args', 'jobId', 'isToplevel', 'compare', 'source']);

const { values, positionals } = readArguments();
const isNamed = positionals.length > 0;
if (isNamed && values.slow === true) fail('--slow is for a run without names of files: those run wherever they are.');
const limit = values.timeout === undefined ? undefined : Number(values.timeout);
if (limit !== undefined && !(limit > 0)) fail(`"${values.timeout}" is not a number of seconds.`);

const folder = makeRunFolder();
process.env['ISOLAYER_TEST_FOLDER'] = folder;
// Kept from run to run: a test process that has to compile what it loads takes two seconds more, and a service one.
const compiled = join(root, 'node_modules', '.cache', 'tests');
process.env['NODE_COMPILE_CACHE'] = compiled;
const library = await writeTestLibrary(compiled);
const running = new Set<TestProcess>();
const idle: { options: string; process: TestProcess }[] = [];
const interrupted = () => {
  for (const one of running) one.kill();
  process.exit(130);
};
process.once('SIGINT', interrupted).once('SIGTERM', interrupted);

const named = isNamed ? new Set(positionals.flatMap(filesNamed)) : undefined;
const all = SUITES.map((suite) => {
  const files = listFiles(root, suite.folders, '**/*.test.ts').filter((file) => named?.has(file) ?? true);
  return { suite, files };
});
const isLeftOut = ({ name }: Suite) => !isNamed && values.slow !== true && name === 'slow';
const chosen = all.filter(({ suite, files }) => !isLeftOut(suite) && (!isNamed || files.length > 0));
const jobs = chosen.flatMap(({ suite, files }) => files.map((file) => ({ file, seconds: limit ?? suite.seconds })));
// Two more than the processors, because files also wait. At most eight, because memory is the next limit.
const outcomes = sideBySide(jobs, Math.min(availableParallelism() + 2, 8), run);

let passed = 0;
let failed = 0;
const ran: FileOutcome[] = [];
for (const { suite, files } of chosen) {
  const own: FileOutcome[] = [];
  while (own.length < files.length) own.push((await outcomes.next()).value as FileOutcome);
  console.log(describeSuite(suite, own));
  passed += own.reduce((sum, one) => sum + one.passed, 0);
  failed += own.length === 0 ? 1 : own.reduce((sum, one) => sum + one.failures.length, 0);
  ran.push(...own);
}
for (const { process } of idle) process.end();
if (values.times === true) console.log(describeTimes(ran));
for (const { suite, files } of all.filter(({ suite }) => isLeftOut(suite))) {
  console.log(`left out: ${suite.name} (${files.length} files); npm test -- --slow runs them too`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

async function run({ file, seconds }: { file: string; seconds: number }): Promise<FileOutcome> {
  // isolated-vm needs a heap without Node's snapshot, which starts more slowly.
  const options = file.startsWith('test/unit/src/') ? SHORT_LIVED : ['--no-node-snapshot', ...SHORT_LIVED];
  const isLast = ALONE.test(file);
  const at = isLast ? -1 : idle.findIndex((one) => one.options === options.join(' '));
  const process = (at === -1 ? undefined : idle.splice(at, 1)[0]?.process) ?? new TestProcess(options, library);
  running.add(process);
  const outcome = await process.run(file, seconds, isLast);
  if (!isLast && outcome.failures.length === 0) idle.push({ options: options.join(' '), process });
  else {
    process.kill();
    running.delete(process);
  }
  return outcome;
}

function filesNamed(path: string): string[] {
  const place = relative(root, resolve(path)).replaceAll('\\', '/');
  const found = place.endsWith('.test.ts') ? [place] : listFiles(root, [place], '**/*.test.ts');
  const isInSuite = (file: string) => SUITES.some(({ folders }) => folders.some((one) => file.startsWith(`${one}/`)));
  return found.length > 0 && found.every(isInSuite) ? found : fail(`No suite runs ${path}.`);
}

/** Makes the folder for the files that a run shares and writes, in memory if there is room. */
function makeRunFolder(): string {
  const made = mkdtempSync(join(hasRoomInMemory() ? '/dev/shm' : tmpdir(), 'isolayer-test-'));
  // PostgreSQL runs as another user.
  chmodSync(made, 0o755);
  process.once('exit', () => rmSync(made, { recursive: true, force: true, maxRetries: 5 }));
  return made;
}

function hasRoomInMemory(): boolean {
  try {
    accessSync('/dev/shm', constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    return false;
  }
}

/** One line for a suite that passed, and all details for one that failed. */
function describeSuite({ name, folders }: Suite, files: readonly FileOutcome[]): string {
  if (files.length === 0) return `FAILED ${name} (${folders.join(' and ')} hold no test)`;
  const passed = files.reduce((sum, one) => sum + one.passed, 0);
  const bad = files.filter(({ failures }) => failures.length > 0);
  const failures = bad.reduce((sum, one) => sum + one.failures.length, 0);
  const seconds = (Math.max(...files.map((one) => one.ended)) - Math.min(...files.map((one) => one.began))) / 1000;
  const figures = `${files.length} files, ${passed} passed, ${failures} failed, ${seconds.toFixed(1)} s`;
  return [
    `${failures === 0 ? 'ok    ' : 'FAILED'} ${name} (${figures})`,
    ...bad.flatMap(({ file, failures }) => failures.map((failure) => describeFailure(file, failure))),
    ...bad.map(({ file, output }) => indent(`${file} printed:\n${output.trim().slice(-MAX_OUTPUT)}`)),
  ].join('\n');
}

function describeFailure(file: string, { path, details }: Failure): string {
  const lines = Object.entries(details)
    .filter(([key, value]) => !NOISE.has(key) && value !== null && value !== '')
    .map(([key, value]) => indent(`${key}: ${describeValue(value)}`));
  return [`  ✗ ${[file, ...path].join(' › ')}`, ...lines].join('\n');
}

function describeValue(value: unknown): string {
  const text = typeof value === 'string' ? value.trimEnd() : inspect(value, { depth: 4, breakLength: 200 });
  const start = text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)} …` : text;
  return start.includes('\n') ? `\n${indent(start)}` : start;
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '      ');
}

/** The files that took the most processor time, which does not depend on other load. */
function describeTimes(files: readonly FileOutcome[]): string {
  const line = (spent: number, ms: number, name: string) =>
    `${spent.toFixed(1).padStart(8)} ${(ms / 1000).toFixed(1).padStart(8)}  ${name}`;
  const sum = (of: (one: FileOutcome) => number) => files.reduce((total, one) => total + of(one), 0);
  const slowest = files.toSorted((a, b) => b.spent - a.spent).slice(0, SLOWEST);
  return [
    'cpu secs     secs  file',
    ...slowest.map(({ file, spent, began, ended }) => line(spent, ended - began, file)),
    line(
      sum(({ spent }) => spent),
      sum(({ began, ended }) => ended - began),
      `all ${files.length}`,
    ),
  ].join('\n');
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { timeout: { type: 'string' }, times: { type: 'boolean' }, slow: { type: 'boolean' } },
    });
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

function fail(message: string): never {
  console.log(`${message}\n${USAGE}\n0 passed, 1 failed`);
  process.exit(1);
}
