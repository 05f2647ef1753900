import { symlinkSync, utimesSync } from 'node:fs';
import { join, relative } from 'node:path';
import t from 'tap';
import { PluginFolder } from '../../../../../../../sandbox/test/support/plugin-folder.ts';
import {
  changedFiles,
  discoverPlugins,
  findPackageMains,
  readPluginTree,
} from '../../../../../../../src/features/plugins/host/catalog/discovery.ts';
import { pluginEntrySchema } from '../../../../../../../src/features/plugins/records/plugin.ts';

const root = '/srv/plugins';
const discover = (files: string[], declared: { id: string; path: string }[] = []) => {
  const entries = declared.map((entry) => pluginEntrySchema.parse(entry));
  const found = discoverPlugins(
    root,
    files.map((file) => `${root}/${file}`),
    entries,
  );
  return { found: found.entries.map(({ id, path }) => `${id}=${path}`), ignored: found.ignored };
};

t.test('scripts and folders with an index are plugins, by their name', async (t) => {
  const { found } = discover(['b.ts', 'a.js', 'c.mjs', 'd/index.ts', 'e/index.js', 'e/lib.ts', 'f/g/index.ts']);
  t.same(found, ['a=a.js', 'b=b.ts', 'c=c.mjs', 'd=d/index.ts', 'e=e/index.js']);
});

t.test('declarations, tests, packages, other files and kept-back names are none', async (t) => {
  const peers = ['jest.config.js', 'vitest.config.mjs', 'a.spec.ts', 'tests/index.ts', 'lib/plugin.ts'];
  const names = [
    ...peers,
    'a.d.ts',
    'a.test.ts',
    'b.test.js',
    '_lib.ts',
    '_lib/index.ts',
    '.x.ts',
    'data.json',
    'README.md',
  ];
  const { found, ignored } = discover([...names, 'node_modules/index.js', 'node_modules/x/index.js']);
  t.same(found, []);
  t.same(ignored, []);
});

t.test('what an entry names is not discovered under its own name as well', async (t) => {
  const files = ['pay.ts', 'transfer/index.ts', 'transfer/main.ts', 'other/index.ts', 'tool.ts'];
  const { found } = discover(files, [
    { id: 'payouts', path: 'plugins/pay.ts' },
    { id: 'move', path: './plugins/transfer' },
    { id: 'else', path: 'other/index.ts' },
    { id: 'gone', path: 'gone.ts' },
  ]);
  t.same(found, [
    'else=other/index.ts',
    'gone=gone.ts',
    'move=./plugins/transfer',
    'payouts=plugins/pay.ts',
    'tool=tool.ts',
  ]);
});

t.test('two forms of one id: the best one serves, the other is named', async (t) => {
  const { found, ignored } = discover(['x/index.ts', 'x.js', 'x.ts']);
  t.same(found, ['x=x.ts']);
  t.same(ignored, [
    { file: 'x.js', reason: 'plugin x is x.ts' },
    { file: 'x/index.ts', reason: 'plugin x is x.ts' },
  ]);
});

t.test('a declared id wins over a file of that name; a name that is no id is said so', async (t) => {
  const { found, ignored } = discover(['pay.ts', 'my plugin.ts'], [{ id: 'pay', path: 'other.ts' }]);
  t.same(found, ['pay=other.ts']);
  t.same(ignored, [
    { file: 'my plugin.ts', reason: '"my plugin" cannot be a plugin\'s id' },
    { file: 'pay.ts', reason: 'plugin pay is other.ts' },
  ]);
});

t.test('a folder without an index is a plugin by what its package names', async (t) => {
  const folder = new PluginFolder({
    'a/package.json': '{"main":"dist/a.js"}',
    'a/dist/a.js': '',
    'b/package.json': '{"main":"b.js"}',
    'b/b.js': '',
    'b/index.ts': '',
    'c/package.json': '{}',
    'd/package.json': '{"main":"d.js"}',
    'd/d.js': '',
    'd.ts': '',
    'package.json': '{"main":"a.js"}',
  });
  t.teardown(() => folder.remove());
  const names = ['a/package.json', 'a/dist/a.js', 'b/package.json', 'b/index.ts', 'c/package.json', 'd/package.json'];
  const files = [...names, 'd.ts', 'package.json'].map((name) => join(folder.path, name));
  const found = discoverPlugins(folder.path, files, [], await findPackageMains(folder.path, files));
  t.strictSame(
    found.entries.map(({ id, path }) => `${id}=${path}`),
    ['a=a/dist/a.js', 'b=b/index.ts', 'd=d.ts'],
  );
  t.strictSame(found.ignored, [{ file: 'd/d.js', reason: 'plugin d is d.ts' }]);
});

t.test('reads files and folders, not packages, hidden names and linked folders', async (t) => {
  const folder = new PluginFolder({
    'a.ts': '1',
    'b/c.ts': '1',
    '.git/x': '1',
    'node_modules/p/index.js': '1',
    'node_modules/.package-lock.json': '{}',
  });
  t.teardown(() => folder.remove());
  symlinkSync(folder.path, join(folder.path, 'loop'));
  const tree = await readPluginTree(folder.path);
  const names = (paths: Iterable<string>) => [...paths].map((path) => relative(folder.path, path)).sort();
  t.same(names(tree.files.keys()), ['a.ts', 'b/c.ts', 'node_modules/.package-lock.json']);
  t.same(names(tree.folders), ['', 'b']);
});

t.test('tells what was added, changed and removed', async (t) => {
  const folder = new PluginFolder({ 'same.ts': '1', 'edited.ts': '1', 'gone.ts': '1' });
  t.teardown(() => folder.remove());
  const before = await readPluginTree(folder.path);
  folder.write('edited.ts', '2');
  utimesSync(join(folder.path, 'edited.ts'), 1, 1);
  folder.write('new.ts', '1');
  folder.remove('gone.ts');
  const changed = changedFiles(before, await readPluginTree(folder.path));
  t.same([...changed].map((path) => relative(folder.path, path)).sort(), ['edited.ts', 'gone.ts', 'new.ts']);
});

t.test('a folder that is missing is empty', async (t) => {
  const tree = await readPluginTree('/nowhere/at/all');
  t.same([tree.files.size, tree.folders], [0, []]);
});
