import { availableParallelism } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { listFiles } from '../check/project.ts';
import type { FileOutcome } from './outcome.ts';
import { describeSuite, describeTimes } from './report.ts';
import { makeRunFolder } from './run-folder.ts';
import { runSuites, type SuiteFiles } from './run-suites.ts';
import { suiteOf, suites } from './suites.ts';
import { writeTestLibrary } from './test-library.ts';

const USAGE =
  'npm test [-- [--timeout=<seconds per file>] [--times] [--slow | <test files or folders>...]]\n' +
  '--slow runs test/slow too, which is left out otherwise';
const root = join(import.meta.dirname, '..', '..');
const { values, positionals } = readArguments();

const given = positionals.flatMap((path) => {
  const place = relative(root, resolve(path)).replaceAll('\\', '/');
  const found = place.endsWith('.test.ts') ? [place] : listFiles(root, [place], '**/*.test.ts');
  if (found.length === 0 || found.some((file) => suiteOf(file) === undefined)) fail(`No suite runs ${path}.`);
  return found;
});
if (given.length > 0 && values.slow === true)
  fail('--slow is for a run without names of files: those run wherever they are.');
const seconds = values.timeout === undefined ? undefined : Number(values.timeout);
if (seconds !== undefined && !(seconds > 0)) fail(`"${values.timeout}" is not a number of seconds.`);

const folder = makeRunFolder();
process.env['ISOLAYER_TEST_FOLDER'] = folder;
// Hundreds of processes load the same modules. The compile cache lets them share the work.
process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled');

const all = suites.map(
  (suite): SuiteFiles => ({ suite, files: listFiles(root, [suite.folder], '**/*.test.ts'), secondsPerFile: seconds }),
);
const leftOut = given.length > 0 || values.slow === true ? [] : all.filter(({ suite }) => suite.onRequest === true);
const chosen =
  given.length === 0
    ? all.filter((one) => !leftOut.includes(one))
    : all
        .map((one) => ({ ...one, files: given.filter((file) => suiteOf(file) === one.suite) }))
        .filter(({ files }) => files.length > 0);
const library = await writeTestLibrary(folder);
const options = { root, filesAtOnce: filesAtOnce(), library };

let passed = 0;
let failed = 0;
const ran: FileOutcome[] = [];
for await (const { suite, files, outcome, seconds, each } of runSuites(chosen, options)) {
  console.log(describeSuite(suite.name, outcome, files.length, seconds));
  passed += outcome.passed;
  failed += outcome.failures.length;
  ran.push(...each);
}
if (values.times === true) console.log(describeTimes(ran));
for (const { suite, files } of leftOut) {
  console.log(`left out: ${suite.name} (${files.length} files); npm test -- --slow runs them too`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

/** Two more than the processors, because files also wait. At most eight, because memory is the next limit. */
function filesAtOnce(): number {
  return Math.min(availableParallelism() + 2, 8);
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
