import { symlinkSync, utimesSync } from 'node:fs';
import { join, relative } from 'node:path';
import t from 'tap';
import { changedFiles, readPluginTree } from '../../../../../src/plugin-host/catalog/plugin-tree.ts';
import { PluginFolder } from '../../../../support/plugin-host.ts';

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
