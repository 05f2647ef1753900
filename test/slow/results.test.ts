import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import coveredBy from '../coverage-map.ts';
import type { Outcome } from '../run/outcome.ts';
import { isGroupAlive } from '../run/process-group.ts';
import { describeSuite } from '../run/report.ts';
import { runSuites } from '../run/run-suites.ts';
import { type Suite, suiteOf } from '../run/suites.ts';
import { TapReader } from '../run/tally.ts';
import { TestProcess } from '../run/test-process.ts';

const read = (text: string) => {
  const reader = new TapReader();
  reader.write(text);
  return reader.end();
};

// The library of this test process: one file if our runner started it.
const library = fileURLToPath(import.meta.resolve('tap'));

/** Also the time limit of the other files in a suite, so it is enough for them on a busy machine. */
const HANGS_AFTER_S = 10;

/** Runs one suite. */
async function runSuite(suite: Suite, root: string, files: readonly string[]): Promise<Outcome> {
  for await (const { outcome } of runSuites([{ suite, files }], { root, filesAtOnce: 2, library })) return outcome;
  throw new Error('nothing was said of the suite');
}

/** Files that end in every way in which a test file can end. */
const sample = {
  'package.json': '{"type":"module"}',
  '.taprc': 'type-strip-only: true\n',
  'breaks.test.ts': "import './gone.ts';\n",
  'crashes.test.ts': "import t from 'tap';\nt.ok(true);\nsetImmediate(() => process.exit(7));\n",
  'fails.test.ts': "import t from 'tap';\nt.test('sum', async (t) => t.equal(1 + 1, 3, 'adds up'));\n",
  'hangs.test.ts': "import t from 'tap';\nt.test('waits', () => new Promise((r) => setTimeout(r, 30_000)));\n",
  'passes.test.ts': "import t from 'tap';\nt.ok(true, 'fine');\n",
  'silent.test.ts': "console.log('no test here');\n",
};

t.test('an assertion counts once, however deep it stands', async (t) => {
  const tally = read(`TAP version 14
# Subtest: a.test.ts
    ok 1 - outer
    # Subtest: inner
        ok 1 - deep
        not ok 2 - wrong
          ---
          diff: "-1 +2"
          ...
        1..2
    not ok 2 - inner
    1..2
not ok 1 - a.test.ts
1..1
`);
  t.equal(tally.passed, 2);
  t.strictSame(tally.files, ['a.test.ts']);
  t.strictSame(
    tally.failures.map(({ path }) => path),
    [['a.test.ts', 'inner', 'wrong']],
  );
  t.equal(tally.failures[0]?.details['diff'], '-1 +2');
});

t.test('two tests of one name are told apart', async (t) => {
  const test = '    # Subtest: same\n        ok 1 - x\n        1..1\n    ok';
  const tally = read(`TAP version 14\n# Subtest: a\n${test} 1 - same\n${test} 2 - same\n    1..2\nok 1 - a\n1..1\n`);
  t.equal(tally.passed, 2);
  t.strictSame(tally.failures, []);
});

const failing: Readonly<Record<string, string>> = {
  'a file that crashed after its assertions':
    '# Subtest: a\n    ok 1 - x\n    1..1\nnot ok 1 - a\n  ---\n  exitCode: 3\n  ...\n1..1\n',
  'a test without an assertion':
    '# Subtest: a\n    # Subtest: empty\n        1..0\n    ok 1 - empty\n    1..1\nok 1 - a\n1..1\n',
  'a file without a test': 'ok 1 - a # SKIP no tests found\n1..1\n',
  'a skipped test': '# Subtest: a\n    ok 1 - x\n    ok 2 - y # SKIP not here\n    1..2\nok 1 - a\n1..1\n',
  'a test left to do': '# Subtest: a\n    ok 1 - x\n    not ok 2 - y # TODO\n    1..2\nok 1 - a\n1..1\n',
  'a plan that does not hold': '# Subtest: a\n    ok 1 - x\n    1..2\nnot ok 1 - a\n1..1\n',
  'a stream that breaks off': '# Subtest: a\n    ok 1 - x\n',
  'a bail out': 'Bail out! no database\n',
  'a stream with no plan': 'ok 1 - a\n',
};

for (const [what, text] of Object.entries(failing)) {
  t.test(`${what} fails`, async (t) => {
    t.ok(read(`TAP version 14\n${text}`).failures.length > 0);
  });
}

t.test('a suite is judged by more than what its files say of themselves', async (t) => {
  const suite = { name: 'sample', folder: 'test/sample', secondsPerFile: HANGS_AFTER_S };
  const root = t.testdir(sample);
  const run = (...files: string[]) => runSuite(suite, root, files);

  t.match(await run('passes.test.ts'), { passed: 1, failures: [] });
  t.match(await run(), { passed: 0, failures: [{ path: [/holds no test/] }] });

  const all = await run(...Object.keys(sample).filter((file) => file.endsWith('.test.ts')));
  const failed = new Set(all.failures.flatMap(({ path, details }) => [details['expired'], path[0]]));
  for (const what of ['breaks', 'crashes', 'fails', 'hangs', 'silent']) {
    t.ok(failed.has(`${what}.test.ts`), `what ${what} has failed`);
  }
  t.notOk(failed.has('passes.test.ts'));
  t.equal(all.passed, 2);

  const text = describeSuite('sample', all, 6, 1);
  t.match(text, /✗ fails\.test\.ts › sum › adds up\n\s+at: fails\.test\.ts:2/);
  t.match(text, /exitCode: 7|ended with 7/);
  t.match(text, /Cannot find module .*gone\.ts/);
  t.match(text, /✗ hangs\.test\.ts › waits/, 'the test that hung is named');
  t.notMatch(text, /never ran/, 'a file that hangs costs no other file its turn');
});

t.test('files that share a process are told apart, and one that fails is its last', async (t) => {
  const suite = { name: 'sample', folder: 'test/unit', secondsPerFile: HANGS_AFTER_S };
  const file = (code: string) => `import t from 'tap';\nconsole.error('in', process.pid, process.argv[1]);\n${code}`;
  const sleeper = "spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'ignore' }).unref();";
  const root = t.testdir({
    'package.json': '{"type":"module"}',
    test: {
      unit: {
        '1.test.ts': file("globalThis.first = t;\nt.test('one', async (t) => t.ok(true));\n"),
        '2.test.ts': file(
          "t.teardown(() => console.error('closed'));\nt.ok(true);\nt.equal(t.name, 'test/unit/2.test.ts');\nt.equal(globalThis.first.timer, undefined);\n",
        ),
        '3.test.ts': file('t.ok(true);\nsetImmediate(() => process.exit(0));\n'),
        '4.test.ts': file("t.test('waits', () => new Promise((r) => setTimeout(r, 30_000)));\n"),
        '5.test.ts': file('t.ok(true);\nsetImmediate(() => { throw new Error("late"); });\n'),
        '6.test.ts': `import { spawn } from 'node:child_process';\n${file(`t.ok(true);\n${sleeper}\n`)}`,
        '7.test.ts': file("t.test('never', () => new Promise(() => {}));\n"),
        '8.test.ts': file(
          'const soon = () => new Promise((r) => setTimeout(r, 30));\n' +
            "t.test('a', (t) => t.test('b', async (t) => { setTimeout(() => { throw new Error('thrown'); }); await soon(); }));\n" +
            "t.test('c', async (t) => { Promise.reject(new Error('rejected')); await soon(); t.ok(true); });\n",
        ),
        '9.test.ts': file('t.ok(true);\n'),
      },
    },
  });
  const files = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => `test/unit/${number}.test.ts`);
  for await (const { each } of runSuites([{ suite, files }], { root, filesAtOnce: 1, library })) {
    const failures = each.map(({ failures }) =>
      failures.map(({ path, details }) => [...path.slice(1), details['message'] ?? ''].join(': ')).join('; '),
    );
    t.match(failures, [
      /^$/,
      /^$/,
      /ended with 0/,
      /waits: timeout!.*took more than 10 s/,
      /^late/,
      /^left a process running$/,
      /never: test unfinished/,
      /^a: b: thrown: .*c: rejected: /,
      /^$/,
    ]);
    t.ok(each.every(({ failures, file }) => failures.every(({ path }) => path[0] === file)));
    t.strictSame(
      each.map(({ passed }) => passed),
      [1, 3, 1, 0, 1, 1, 0, 0, 1],
    );
    const pids = each.map(({ output }) => /in (\d+)/.exec(output)?.[1]);
    t.ok(pids.every((pid) => pid !== undefined));
    t.equal(pids[0], pids[1]);
    t.equal(pids[1], pids[2]);
    t.equal(new Set(pids.slice(2)).size, 7, 'a new process after each that failed');
    for (const [index, { output, file }] of each.entries()) {
      t.match(output, `in ${pids[index]} ${join(root, file)}`);
      t.equal(output.match(/^in /gm)?.length, 1);
    }
    t.match(each[1]?.output, /closed/);
    t.match(each[3]?.output, /^kept alive by: .*Timeout/m);
    t.match(each[3]?.output, /^state: .*; waits in: .*\nbefore it: $/m, 'in a process of its own');
  }
});

t.test('a file that changes a built-in for those after it has failed, and meets none of them', async (t) => {
  const suite = { name: 'sample', folder: 'test/unit', secondsPerFile: 20 };
  const clean = "import t from 'tap';\nt.notOk('planted' in []);\nt.notOk(Object.isFrozen(async () => {}));\n";
  const root = t.testdir({
    'package.json': '{"type":"module"}',
    test: {
      unit: {
        '1.test.ts': `${clean}Array.prototype.planted = 1;\nObject.freeze(Object.getPrototypeOf(async () => {}));\n`,
        '2.test.ts': `${clean}const { log } = Math;\nMath.log = () => 0;\nMath.log = log;\n`,
        '3.test.ts': `${clean}const all = Promise.all;\nPromise.all = (given) => all.call(Promise, given);\n`,
        '4.test.ts': clean,
      },
    },
  });
  const files = [1, 2, 3, 4].map((number) => `test/unit/${number}.test.ts`);
  for await (const { each } of runSuites([{ suite, files }], { root, filesAtOnce: 1, library })) {
    t.match(
      each.map(({ failures }) => failures.map(({ details }) => details['message'])),
      [[/: Array\.prototype\.planted, AsyncFunction\.prototype \(frozen\)$/], [], [/: Promise\.all$/], []],
    );
  }
});

t.test('a file that leaves a process running has failed, and the process is ended', async (t) => {
  const suite = { name: 'sample', folder: 'test/sample', secondsPerFile: 20 };
  const root = t.testdir({
    'package.json': '{"type":"module"}',
    'leaves.test.ts': `import { spawn } from 'node:child_process';
import t from 'tap';
// With much memory to give back it is not gone at once when it is killed.
const slow = 'globalThis.kept = Buffer.alloc(2e8, 1); setTimeout(() => {}, 60_000)';
spawn(process.execPath, ['-e', slow], { stdio: 'inherit' }).unref();
t.ok(true);
console.error('group', process.pid);
`,
  });
  const outcome = await runSuite(suite, root, ['leaves.test.ts']);
  t.match(outcome, {
    passed: 1,
    failures: [{ path: ['leaves.test.ts'], details: { message: 'left a process running' } }],
  });
  const group = Number(/group (\d+)/.exec(outcome.output)?.[1]);
  t.ok(group > 0);
  t.notOk(isGroupAlive(group));
});

t.test('what leaves the group of its file and holds its output keeps nobody waiting', async (t) => {
  const suite = { name: 'sample', folder: 'test/sample', secondsPerFile: 20 };
  const root = t.testdir({
    'package.json': '{"type":"module"}',
    'leaves.test.ts': `import { spawn } from 'node:child_process';
import t from 'tap';
const left = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'inherit', detached: true });
left.unref();
t.ok(true);
console.error('left', left.pid);
`,
  });
  const began = performance.now();
  const outcome = await runSuite(suite, root, ['leaves.test.ts']);
  const left = Number(/left (\d+)/.exec(outcome.output)?.[1]);
  t.ok(left > 0);
  process.kill(left, 'SIGKILL');
  t.match(outcome.failures, [{ path: ['leaves.test.ts'], details: { message: /holds its output/ } }]);
  t.ok(performance.now() - began < 50_000);
});

t.test('a suite takes as long as its own files do, also where they run beside those of another', async (t) => {
  const root = t.testdir({
    'package.json': '{"type":"module"}',
    'first.test.ts': `import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
for (let waited = 0; waited < 200 && !existsSync('over'); waited += 1) await sleep(50);
t.ok(existsSync('over'));
`,
    'second.test.ts': `import { writeFileSync } from 'node:fs';
import t from 'tap';
t.test('takes a while', async (t) => {
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.pass();
});
process.on('exit', () => writeFileSync('over', ''));
`,
  });
  const suites = ['first', 'second', 'none'].map((name) => ({
    suite: { name, folder: `test/${name}`, secondsPerFile: 20 },
    files: name === 'none' ? [] : [`${name}.test.ts`],
  }));
  const taken = new Map<string, number>();
  for await (const { suite, outcome, seconds } of runSuites(suites, { root, filesAtOnce: 2, library })) {
    taken.set(suite.name, seconds);
    t.equal(outcome.failures.length, suite.name === 'none' ? 1 : 0, suite.name);
  }
  t.ok((taken.get('first') ?? 0) >= 0.3, `${taken.get('first')} s`);
  t.ok((taken.get('second') ?? 0) >= 0.3, `${taken.get('second')} s`);
  t.equal(taken.get('none'), 0);
});

t.test('a run whose bundler is gone says so', async (t) => {
  // The bundler's library waits for the end of an output that the shell's child still holds. This wait keeps no process
  // alive.
  const folder = t.testdir({ gone: '#!/bin/sh\nhead -c 4 >/dev/null\nsleep 1 &\nexit 2\n' });
  const gone = join(folder, 'gone');
  chmodSync(gone, 0o755);
  const module = pathToFileURL(join(import.meta.dirname, '..', 'run', 'test-library.ts'));
  const program = `const { writeTestLibrary } = await import('${module}'); await writeTestLibrary(process.argv[1], 300);`;
  const started = promisify(execFile)(process.execPath, ['-e', program, folder], {
    env: { PATH: process.env['PATH'], ESBUILD_BINARY_PATH: gone },
  });
  await t.rejects(started, { code: 1, stderr: /The test library could not be bundled/ });
});

t.test('what a plain suite starts has the environment that it was given', async (t) => {
  t.equal(execFileSync('env', { env: { ONLY: 'this' }, encoding: 'utf8' }).trim(), 'ONLY=this');
});

t.test('a unit test covers the source it mirrors and nothing else', async (t) => {
  t.strictSame(coveredBy('test/unit/src/domain/id.test.ts'), ['src/domain/id.ts']);
  t.strictSame(coveredBy('test/unit/sandbox/guest/boot.test.ts'), ['sandbox/guest/boot.ts']);
  t.equal(coveredBy('test/integration/sandbox.test.ts'), null);
});

t.test('a test file belongs to the suite of its folder', async (t) => {
  t.equal(suiteOf('test/e2e/demo.test.ts')?.name, 'e2e');
  t.equal(suiteOf('test/support/anvil.ts'), undefined);
  t.equal(suiteOf('test/unitary/a.test.ts'), undefined);
});

t.test('a file whose last lines find the pipe full is over, and the next one runs', async (t) => {
  const root = t.testdir({
    'package.json': '{"type":"module"}',
    'fills.test.ts': `import { existsSync, writeFileSync, writeSync } from 'node:fs';
import t from 'tap';
t.ok(true);
process.prependOnceListener('beforeExit', () => {
  writeFileSync('begun', '');
  for (const end = Date.now() + 30_000; !existsSync('unread') && Date.now() < end; );
  try {
    for (;;) writeSync(1, '# '.padEnd(100, 'x') + '\\n');
  } catch {
    writeFileSync('full', '');
  }
});
`,
    'next.test.ts': "import t from 'tap';\nt.ok(true);\n",
  });
  const shared = new TestProcess([], { root, filesAtOnce: 1, library });
  t.teardown(() => shared.kill());
  const seconds = 60;
  const ran = shared.run({ file: 'fills.test.ts', seconds }, { isLast: false });
  for (let waited = 0; waited < 30_000 && !existsSync(join(root, 'begun')); waited += 20) await sleep(20);
  // From here on, nobody reads its output.
  writeFileSync(join(root, 'unread'), '');
  const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  for (let waited = 0; waited < 30_000 && !existsSync(join(root, 'full')); waited += 20) block(20);
  t.ok(existsSync(join(root, 'full')));
  block(500);
  t.match(await ran, { passed: 1, failures: [] });
  t.match(await shared.run({ file: 'next.test.ts', seconds }, { isLast: true }), { passed: 1, failures: [] });
});
