/**
 * Threat: a path in the configuration or a link in the folder makes a file of the server (a key, its configuration)
 * part of a plugin.
 */

import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isInside } from '../../../../../../../sandbox/host/compiler/source-files.ts';
import { PluginFolder } from '../../../../../../../sandbox/test/support/plugin-folder.ts';
import {
  entryPath,
  findPluginFile,
  packageMain,
  pluginLabel,
} from '../../../../../../../src/features/plugins/host/catalog/plugin-file.ts';

t.test('a path is taken below the folder, with or without plugins/ in front', async (t) => {
  t.same(
    ['plugins/a.ts', './plugins/a.ts', './a.ts', 'a.ts'].map(entryPath),
    Array.from({ length: 4 }, () => 'a.ts'),
  );
  t.equal(pluginLabel('/srv/x', '/srv/x/a/b.ts'), 'plugins/a/b.ts');
  t.equal(isInside('/srv/x', '/srv/x'), false);
  t.equal(isInside('/srv/x', '/srv/xy/a'), false);
});

t.test('files and folders with an index are found', async (t) => {
  const folder = new PluginFolder({ 'a.ts': '1', 'b/index.ts': '1', 'c/index.js': '1' });
  t.teardown(() => folder.remove());
  const find = (path: string) => findPluginFile(folder.path, 'id', path);
  t.same(await find('plugins/a.ts'), { file: join(folder.path, 'a.ts'), label: 'plugins/a.ts' });
  t.same(await find('b'), { file: join(folder.path, 'b/index.ts'), label: 'plugins/b/index.ts' });
  t.same(await find('c'), { file: join(folder.path, 'c/index.js'), label: 'plugins/c/index.js' });
});

t.test('what lies outside is refused, by path or by link', async (t) => {
  const outside = new PluginFolder({ 'key.ts': 'secret' });
  const folder = new PluginFolder({ 'a.ts': '1' });
  t.teardown(() => outside.remove());
  t.teardown(() => folder.remove());
  symlinkSync(join(outside.path, 'key.ts'), join(folder.path, 'link.ts'));
  symlinkSync(outside.path, join(folder.path, 'linked'));
  symlinkSync(join(folder.path, 'a.ts'), join(folder.path, 'inner.ts'));
  for (const path of ['../key.ts', '/etc/passwd', 'plugins/../../key.ts', 'link.ts', 'linked/key.ts', '.']) {
    const found = await findPluginFile(folder.path, 'id', path);
    t.match(found, { status: 500, details: { pluginId: 'id' } }, path);
    t.match(found, { code: 'PATH_TRAVERSAL' }, path);
    t.notMatch(JSON.stringify(found), outside.path, 'the answer does not say where the link leads');
  }
  t.match(await findPluginFile(folder.path, 'id', 'inner.ts'), { label: 'plugins/a.ts' }, 'a link inside is fine');
});

t.test('a missing, empty, unreadable or huge file is named', async (t) => {
  const folder = new PluginFolder({ 'empty.ts': '', 'huge.ts': ' '.repeat(5 * 1_048_576 + 1), 'locked.ts': '1' });
  t.teardown(() => folder.remove());
  chmodSync(join(folder.path, 'locked.ts'), 0o000);
  const find = (path: string) => findPluginFile(folder.path, 'id', path);
  t.match(await find('missing.ts'), { code: 'FILE_NOT_FOUND', message: 'File not found: plugins/missing.ts' });
  t.match(await find('empty.ts'), { code: 'COMPILE_ERROR', message: 'Source code is empty for plugins/empty.ts' });
  t.match(await find('huge.ts'), { code: 'SIZE_LIMIT', message: /huge\.ts has 5242881 bytes/ });
  // The superuser can read every file.
  if (process.getuid?.() !== 0) t.match(await find('locked.ts'), { code: 'FILE_NOT_READABLE' });
});

t.test('the main file of a package, however it is named', async (t) => {
  const folder = new PluginFolder({ 'p/dist/main.js': '', 'p/lib/index.ts': '', 'p/own.ts': '', 'out.js': '' });
  t.teardown(() => folder.remove());
  const of = (main: unknown) => {
    folder.write('p/package.json', typeof main === 'string' ? JSON.stringify({ main }) : String(main));
    return packageMain(join(folder.path, 'p'));
  };
  t.equal(await of('./dist/main.js'), 'dist/main.js');
  t.equal(await of('dist/main'), 'dist/main.js');
  t.equal(await of('./lib'), 'lib/index.ts');
  t.equal(await of('own'), 'own.ts');
  for (const nothing of ['gone.js', '../out.js', '', 5, '{"main":5}', '{']) t.equal(await of(nothing), undefined);
  folder.remove('p/package.json');
  t.equal(await packageMain(join(folder.path, 'p')), undefined);
  symlinkSync('/dev/zero', join(folder.path, 'p/package.json'));
  t.equal(await packageMain(join(folder.path, 'p')), undefined, 'what is no file is not read');
});
