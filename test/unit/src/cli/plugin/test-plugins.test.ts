import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { newPlugin } from '../../../../../src/cli/plugin/new-plugin.ts';
import { testPlugins } from '../../../../../src/cli/plugin/test-plugins.ts';
import { commandBefore, given } from '../../../../support/cli-answers.ts';

t.test('the tests of one plugin or of all run, wherever the folder lies', { timeout: 120_000 }, async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'isolayer-tests-'));
  t.teardown(() => rm(dir, { recursive: true, force: true }));
  const { context, said } = commandBefore(dir, () => ({ body: {} }));
  await t.rejects(testPlugins(context, given([])), /No file \*\.test\.ts lies in .*plugins/);
  await newPlugin(context, given(['hello']));
  await t.rejects(testPlugins(context, given(['nobody'])), /Neither nobody\.test\.ts nor a test in nobody\/ lies/);
  const plugins = join(dir, 'plugins');
  const wrong = "import { test } from 'node:test'; test('fails', () => { throw new Error('no'); });";
  writeFileSync(join(plugins, 'wrong.test.ts'), wrong);
  t.equal(await testPlugins(context, given(['hello'])), 0, said());
  t.match(said(), /✔ who calls is greeted[^]*pass 2/);
  writeFileSync(join(dir, 'package.json'), '{ "name": "mine", "type": "commonjs" }');
  const { context: typed, said: typedSaid } = commandBefore(dir, () => ({ body: {} }));
  t.equal(await testPlugins(typed, given(['hello'])), 0, typedSaid());
  t.match(typedSaid(), /pass 2/, 'as npm init leaves the folder');
  writeFileSync(
    join(plugins, 'old.test.js'),
    "const { test } = require('node:test'); test('old form passes', () => {});",
  );
  t.equal(await testPlugins(typed, given(['old'])), 0, typedSaid());
  t.match(typedSaid(), /old form passes/);
  rmSync(join(plugins, 'old.test.js'));
  const { context: other, said: otherSaid } = commandBefore(dir, () => ({ body: {} }));
  rmSync(join(plugins, 'hello.test.ts'));
  writeFileSync(join(plugins, 'more.test.ts'), "import { test } from 'node:test'; test('passes', () => {});");
  t.equal(await testPlugins(other, given([])), 1);
  t.match(otherSaid(), /✖ fails[^]*pass 1[^]*fail 1/);
});

t.test('the types of the kit name what there is', (t) => {
  const root = join(import.meta.dirname, '../../../../../src/cli');
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const kit = read('plugin/kit.d.ts');
  for (const [name, file] of [
    ['SandboxOptions', 'testing/sandbox.ts'],
    ['CallOptions', 'testing/sandbox.ts'],
    ['Sandbox', 'testing/sandbox.ts'],
    ['FakeRelayer', 'testing/fake-relayer.ts'],
  ] as const) {
    const members = membersOf(kit, name);
    t.ok(members.length > 3, name);
    t.strictSame(members, membersOf(read(file), name), name);
  }
  t.end();
});

function membersOf(text: string, name: string): string[] {
  const body = new RegExp(`export interface ${name} \\{\\n([^]*?)\\n\\s*\\}\\n`).exec(text)?.[1] ?? '';
  return [...body.matchAll(/^ {2,4}(?:readonly )?(\w+)\??[:(]/gm)].map(([, member = '']) => member);
}
