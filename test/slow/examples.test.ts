/** Each example is a plugin that works: its types, its configuration entry, and its own test in the real sandbox. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { findTypeProblems } from '../../src/cli/plugin/check.ts';
import { pluginEntrySchema } from '../../src/features/plugins/records/plugin.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'examples');
const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() && entry.name !== 'demo' ? [entry.name] : [],
);
const read = (...path: string[]) => readFileSync(join(folder, ...path), 'utf8');

t.test('each has a README with its entry, and a line in the list', (t) => {
  t.ok(names.length >= 6);
  for (const name of names) {
    t.match(read('README.md'), `[${name}](${name}/README.md)`);
    for (const [, json = ''] of read(name, 'README.md').matchAll(/```json\n([^]*?)```/g)) {
      const { path } = pluginEntrySchema.parse(JSON.parse(json));
      t.ok(existsSync(join(folder, path)), path);
    }
  }
  t.end();
});

t.test('their types are right', { timeout: 60_000 }, async (t) => {
  t.strictSame(await findTypeProblems(folder), { problems: [] });
});

t.test('their tests pass', { timeout: 120_000 }, async (t) => {
  const files = names.map((name) => `examples/${name}/index.test.ts`);
  const [, ...shown] = /```sh\n(bin\/node (--test) (\S+))\n```/.exec(read('README.md')) ?? [];
  t.ok(files.includes(shown[2] ?? ''), 'the README shows how one is run');
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--test', '--test-isolation=none', ...files], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const said = await text(child.stdout);
  t.equal(await ended, 0, said.slice(-2000));
  t.match(said, new RegExp(`(?:tests|# tests) ${[...files.map((file) => tests(file))].flat().length}\\b`));
});

function tests(file: string): string[] {
  return [...readFileSync(join(root, file), 'utf8').matchAll(/^void test\(/gm)].map(String);
}
