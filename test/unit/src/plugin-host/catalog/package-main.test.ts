import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { packageMain } from '../../../../../src/plugin-host/catalog/package-main.ts';
import { PluginFolder } from '../../../../support/plugin-host.ts';

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
