/**
 * Threat: the bundler reads some files by itself and quotes them in its errors; a link may stand in place of such a
 * file.
 */
import { symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { isReadByBundler, isWithin, packageFiles } from '../../../../../sandbox/host/compiler/package-files.ts';
import { PluginFolder } from '../../../../support/plugin-host.ts';

t.test('what would be read on the way to an import is looked at first', async (t) => {
  const place = new PluginFolder({
    key: 'secret',
    'plugins/lib/a/b.js': '',
    'plugins/node_modules/good/package.json': '{}',
    'plugins/node_modules/bad/sub/index.js': '',
  });
  t.teardown(() => place.remove());
  const root = join(place.path, 'plugins');
  const bad = join(root, 'node_modules/bad/package.json');
  symlinkSync(join(place.path, 'key'), bad);
  // Nothing above the plugins folder belongs to the plugins.
  symlinkSync(join(place.path, 'key'), join(place.path, 'package.json'));
  const watched = (folder: string) => isWithin([root], folder);
  const refused = () => packageFiles(watched, (file) => isWithin([root], file));
  const lib = join(root, 'lib');
  t.equal(await refused()('good', root), undefined);
  t.equal(await refused()('./a/b.js', lib), undefined);
  for (const specifier of ['bad', 'bad/sub', 'bad/sub/index.js?x', '../node_modules/bad/sub', dirname(bad)]) {
    t.equal(await refused()(specifier, lib), bad, specifier);
  }
  t.equal(await refused()('bad', ''), undefined, 'a data URL has no folder to look from');
  symlinkSync(join(place.path, 'key'), join(root, '.pnp.cjs'));
  t.equal(await refused()('good', lib), join(root, '.pnp.cjs'));
});

t.test('the files that the bundler reads by itself are known by their names', (t) => {
  t.equal(isReadByBundler('node_modules/a/package.json'), true);
  t.equal(isReadByBundler('my-package.json'), false);
  t.end();
});
