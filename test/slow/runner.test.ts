/** `npm test` by its face: what it runs, and every way in which a test file can fail. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { root as home } from '../check/project.ts';

const TOOLS = ['test/run', 'test/check/project.ts', 'test/support/run-folder.ts'];
const SUITES = ['architecture', 'unit', 'e2e', 'integration', 'slow'];
const passes = "import t from 'tap';\nt.ok(true);\n";

/** A repository with our runner, one test in each suite, and more unit tests. */
function repository(t: Test, unit: Readonly<Record<string, string>> = {}): string {
  const root = t.testdir({ 'package.json': '{"type":"module"}' });
  for (const path of TOOLS) cpSync(join(home, path), join(root, path), { recursive: true });
  const suites = SUITES.map((name) => [`test/${name}/a.test.ts`, passes]);
  const more = Object.entries(unit).map(([name, code]) => [`test/unit/src/${name}.test.ts`, code]);
  for (const [path = '', code = ''] of [...suites, ...more]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), code);
  }
  return root;
}

/** The output of a run, without the figures of the suites that passed. */
async function run(root: string, ...given: string[]): Promise<{ code: unknown; lines: string[] }> {
  const child = spawn(process.execPath, ['test/run/main.ts', ...given], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const lines = said.trimEnd().split('\n');
  return { code, lines: lines.map((line) => line.replace(/^(ok +\w+) .*/, '$1')) };
}

const always = ['ok     architecture', 'ok     unit', 'ok     e2e', 'ok     integration'];

t.test('a plain run leaves out the slow suite, and says so', async (t) => {
  t.strictSame(await run(repository(t)), {
    code: 0,
    lines: [...always, 'left out: slow (1 files); npm test -- --slow runs them too', '4 passed, 0 failed'],
  });
});

t.test('with --slow it comes last; with --times the dearest files are listed', async (t) => {
  const { code, lines } = await run(repository(t), '--slow', '--times');
  t.equal(code, 0);
  t.strictSame(lines.slice(0, 6), [...always, 'ok     slow', 'cpu secs     secs  file']);
  t.match(lines.at(-2), /all 5$/);
  t.equal(lines.at(-1), '5 passed, 0 failed');
});

t.test('files and folders that are named run wherever they are', async (t) => {
  const root = repository(t);
  const lines = ['ok     e2e', 'ok     slow', '2 passed, 0 failed'];
  t.strictSame(await run(root, 'test/slow/a.test.ts', 'test/e2e'), { code: 0, lines });
  for (const wrong of [['--slow', 'test/e2e'], ['test/run'], ['--timeout=0'], ['--what']]) {
    const { code, lines } = await run(root, ...wrong);
    t.equal(code, 1);
    t.equal(lines.at(-1), '0 passed, 1 failed', wrong.join(' '));
  }
});

t.test('a suite without files has failed', async (t) => {
  const root = repository(t);
  rmSync(join(root, 'test/e2e'), { recursive: true });
  const { lines } = await run(root);
  t.match(lines[2], /^FAILED e2e .*no test/);
  t.equal(lines.at(-1), '3 passed, 1 failed');
});

const sleeper = "spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'ignore' }).unref();";
const importing = "import t from 'tap';\n";

/** Each way to fail, and what is printed. */
const failing: Readonly<Record<string, readonly [code: string, printed: RegExp]>> = {
  breaks: ["import './gone.ts';\n", /✗ test\/unit\/src\/breaks.*Cannot find module .*gone\.ts/],
  crashes: [`${importing}t.ok(true);\nsetImmediate(() => process.exit(7));\n`, /✗ .*crashes.*\n +message: ended with/],
  exits: [`${importing}t.ok(true);\nsetImmediate(() => process.exit(0));\n`, /✗ .*exits.*\n +message: ended with 0/],
  fails: [
    `${importing}t.test('sum', async (t) => t.equal(1 + 1, 3, 'adds up'));\n`,
    /✗ .*fails\.test\.ts › sum › adds up\n[^✗]*fails\.test\.ts:2/,
  ],
  silent: ["console.log('no test here');\n", /✗ .*silent.*\n +message: asserts nothing/],
  empty: [`${importing}t.ok(1);\nt.test('nothing', async () => {});\n`, /✗ .*empty\.test\.ts › nothing\n/],
  skipped: [
    `${importing}t.ok(1);\nt.test('later', { skip: 'so' }, async () => {});\n`,
    /✗ .*skipped.*later\n +message: left out: so/,
  ],
  todo: [`${importing}t.ok(1, 'soon', { todo: 'x' });\nt.ok(1);\n`, /✗ .*todo.*soon\n +message: left out/],
  hangs: [
    `${importing}t.test('waits', () => new Promise((r) => setTimeout(r, 60_000)));\n`,
    /✗ .*hangs\.test\.ts › waits › timeout/,
  ],
  never: [
    `${importing}t.test('never', () => new Promise(() => {}));\n`,
    /✗ .*never\.test\.ts › never › test unfinished/,
  ],
  plan: [`${importing}t.plan(2);\nt.ok(1);\n`, /✗ .*plan/],
  throws: [`${importing}t.ok(1);\nsetImmediate(() => { throw new Error('late'); });\n`, /✗ .*throws.*late/],
  rejects: [
    `${importing}t.test('c', async (t) => { Promise.reject(new Error('rejected')); await new Promise((r) => setTimeout(r, 30)); t.ok(1); });\n`,
    /✗ .*rejects.*rejected/,
  ],
  leaves: [
    `import { spawn } from 'node:child_process';\n${importing}t.ok(true);\n${sleeper}\n`,
    /✗ .*leaves.*\n +message: left a process running/,
  ],
};

t.test('every way to fail is told with its file and its test, and costs no other file its turn', async (t) => {
  const files = Object.fromEntries(Object.entries(failing).map(([name, [code]]) => [name, code]));
  const shared =
    "import t from 'tap';\nt.teardown(() => console.error('closed'));\nt.equal(globalThis.first, undefined);\n";
  const { code, lines } = await run(repository(t, { ...files, passes: shared }), 'test/unit', '--timeout=10');
  const said = lines.join('\n');
  t.equal(code, 1);
  for (const [name, [, printed]] of Object.entries(failing)) t.match(said, printed, name);
  t.notMatch(said, /✗ .*(passes|unit\/a)\.test/);
  t.match(said, /hangs\.test\.ts printed:\n[^]*kept alive by: .*Timeout/);
  t.match(lines.at(-1), /^\d+ passed, 1[4-9] failed$/);
});
