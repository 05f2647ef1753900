import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { listFiles } from '../check/project-files.ts';
import { describeSuite } from './report.ts';
import { runSuite } from './run-suite.ts';
import { suiteOf, suites } from './suites.ts';

const USAGE = 'npm test [-- [--timeout=<seconds per file>] <test files or folders>...]';
const root = join(import.meta.dirname, '..', '..');
const { values, positionals } = readArguments();

const given = positionals.flatMap((path) => {
  const place = relative(root, resolve(path)).replaceAll('\\', '/');
  const found = place.endsWith('.test.ts') ? [place] : listFiles(root, [place], '**/*.test.ts');
  if (found.length === 0 || found.some((file) => suiteOf(file) === undefined)) fail(`No suite runs ${path}.`);
  return found;
});
const seconds = values.timeout === undefined ? undefined : Number(values.timeout);
if (seconds !== undefined && !(seconds > 0)) fail(`"${values.timeout}" is not a number of seconds.`);

// Hundreds of processes load the same modules: what the first one stripped and compiled the others find here.
const compileCache = mkdtempSync(join(tmpdir(), 'isolayer-test-'));
process.env['NODE_COMPILE_CACHE'] = compileCache;
process.once('exit', () => rmSync(compileCache, { recursive: true, force: true }));

let passed = 0;
let failed = 0;
for (const suite of suites) {
  const all = given.length === 0;
  const files = all ? listFiles(root, [suite.folder], '**/*.test.ts') : given.filter((file) => suiteOf(file) === suite);
  if (!all && files.length === 0) continue;
  const start = performance.now();
  const outcome = await runSuite(suite, { root, files, secondsPerFile: seconds ?? suite.secondsPerFile });
  console.log(describeSuite(suite.name, outcome, files.length, (performance.now() - start) / 1000));
  passed += outcome.passed;
  failed += outcome.failures.length;
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

function readArguments() {
  try {
    return parseArgs({ allowPositionals: true, options: { timeout: { type: 'string' } } });
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

function fail(message: string): never {
  console.log(`${message}\n${USAGE}\n0 passed, 1 failed`);
  process.exit(1);
}
