/** `npm test` runs all suites but the slow one, unless the slow suite or its files are requested. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { suites } from '../run/suites.ts';

const home = join(import.meta.dirname, '..', '..');
const TOOLS = ['test/run', 'test/check', 'test/support/run-folder.ts'];

/** A repository with our runner and one test in each suite. */
function repository(t: Test): string {
  const passes = "import t from 'tap';\nt.ok(true);\n";
  const folders = suites.map(({ name }) => [name, { 'a.test.ts': passes }]);
  const root = t.testdir({ 'package.json': '{"type":"module"}', test: Object.fromEntries(folders) });
  for (const path of TOOLS) cpSync(join(home, path), join(root, path), { recursive: true });
  return root;
}

/** The output of a run, without the figures of each suite. */
async function run(root: string, ...given: string[]): Promise<{ code: unknown; lines: string[] }> {
  const child = spawn(process.execPath, ['test/run/main.ts', ...given], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return {
    code,
    lines: said
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/^(ok +\w+) .*/, '$1')),
  };
}

const always = ['ok     architecture', 'ok     unit', 'ok     e2e', 'ok     integration'];

t.test('a plain run leaves out the slow suite, and says so', async (t) => {
  t.strictSame(await run(repository(t)), {
    code: 0,
    lines: [...always, 'left out: slow (1 files); npm test -- --slow runs them too', '4 passed, 0 failed'],
  });
});

t.test('with --slow it comes last', async (t) => {
  t.strictSame(await run(repository(t), '--slow'), {
    code: 0,
    lines: [...always, 'ok     slow', '5 passed, 0 failed'],
  });
});

t.test('files and folders that are named run wherever they are', async (t) => {
  const root = repository(t);
  t.strictSame(await run(root, 'test/slow/a.test.ts', 'test/e2e'), {
    code: 0,
    lines: ['ok     e2e', 'ok     slow', '2 passed, 0 failed'],
  });
  const both = await run(root, '--slow', 'test/e2e');
  t.equal(both.code, 1);
  t.match(both.lines[0], /--slow is for a run without names/);
  t.equal(both.lines.at(-1), '0 passed, 1 failed');
});
