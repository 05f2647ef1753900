/**
 * Threat: a link, or a second name of a file, brings files beside the plugins folder into a build. Or a restriction of
 * the bundler blocks files that builds need. Tested with each restriction that this system has.
 */
import { linkSync, renameSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { Bundler } from '../../../../../src/plugin-host/compiler/bundler/bundler.ts';
import { bundlerHolds } from '../../../../../src/plugin-host/compiler/bundler/launch.ts';
import { packageFolders, readableFiles } from '../../../../../src/plugin-host/compiler/readable-files.ts';
import { PluginFolder } from '../../../../support/plugin-host.ts';

const modulesDir = resolve(import.meta.dirname, '../../../../../sandbox/guest/modules');
const MEMORY_BYTES = 768 * 1_048_576;
const limits = { timeoutMs: 60_000, idleMs: 60_000 };

/** The code of a successful build, otherwise its problems. */
async function built(bundler: Bundler, root: string, text: string, folder: PluginFolder): Promise<string> {
  folder.write('plugins/p.ts', text);
  const end = await bundler.build({ kind: 'plugin', root, modulesDir, file: join(root, 'p.ts') });
  if (end.kind === 'failed') return end.problems.map((problem) => problem.text).join();
  return end.kind === 'built' ? end.code : end.kind;
}

for (const hold of bundlerHolds(MEMORY_BYTES, [])) {
  const name = [...hold.prefix, hold.enclose([])[0] ?? 'no wall'].join(' ');
  t.test(name, { timeout: 120_000 }, async (t) => {
    const place = new PluginFolder({
      'plugins/a.ts': '',
      'plugins/deps/index.ts': '',
      'deps/beside/package.json': '{"exports":{"./sub":"./lib.js"}}',
      'deps/beside/lib.js': 'export default "beside";',
      'elsewhere/secret.ts': 'export default "canary";',
      'elsewhere/package.json': '{"main":"secret.ts"}',
    });
    const root = join(place.path, 'plugins');
    const bundler = new Bundler(limits, [{ ...hold, roots: [root] }]);
    t.teardown(async () => {
      await bundler.close();
      place.remove();
    });
    const said = (text: string) => built(bundler, root, text, place);
    const used = (specifier: string) => said(`import x from '${specifier}';\nexport const handler = () => x;`);

    t.equal(bundler.confinement, undefined, 'nobody knows yet');
    t.match(await used('beside/sub'), 'Could not resolve "beside/sub"');
    if ((await said('first();')).includes('first') === false) return void t.pass('it does not start here');
    t.strictSame(bundler.confinement, hold.confinement);
    symlinkSync(join(place.path, 'deps'), join(place.path, 'node_modules'));
    t.match(await used('beside/sub'), '"beside"', "the operator's packages, installed meanwhile, may lie anywhere");
    place.remove('node_modules');
    renameSync(join(place.path, 'deps'), join(place.path, 'node_modules'));
    t.match(await used('beside/sub'), '"beside"', 'or beside the plugins folder');

    const elsewhere = join(place.path, 'elsewhere');
    symlinkSync(elsewhere, join(root, 'node_modules'));
    t.match(await used('anything'), /^"node_modules" is a link that leads out .* put the packages into it/);
    place.remove('plugins/node_modules');
    symlinkSync(join(place.path, 'node_modules'), join(root, 'node_modules'));
    t.match(await used('beside/sub'), '"beside"', 'a link to packages that may be imported');
    place.remove('plugins/node_modules');
    place.write('plugins/node_modules/own/index.js', 'export default "own";');
    t.match(await used('own'), '"own"');
    symlinkSync(elsewhere, join(root, 'node_modules/away'));
    t.match(await used('away'), '"away" is a link that leads out of the plugins folder');
    symlinkSync(root, join(root, 'node_modules/self'));
    t.match(await used('self/deps'), 'handler', 'a link to the plugins themselves');

    symlinkSync(join(elsewhere, 'secret.ts'), join(root, 'link.ts'));
    for (const specifier of ['./link', './link.ts'])
      t.match(await used(specifier), /leads out of the plugins folder/, specifier);
    symlinkSync(elsewhere, join(root, 'linked'));
    t.match(await used('./linked/secret.ts'), '"linked" is a link that leads out');
    linkSync(join(elsewhere, 'secret.ts'), join(root, 'hard.ts'));
    t.match(await used('./hard'), 'The file hard.ts has 2 names (hard links)');
    linkSync(join(root, 'node_modules/own/index.js'), join(root, 'node_modules/own/again.js'));
    t.match(await used('own/again.js'), '"own"', 'package managers share files so');
  });
}

t.test('folders above have packages, and what is not there is left out', (t) => {
  t.same(packageFolders('/a/b'), ['/a/b/node_modules', '/a/node_modules', '/node_modules']);
  const files = readableFiles(['/nowhere/at/all']).map(({ path }) => path);
  t.notOk(files.includes('/nowhere/at/all'));
  t.ok(files.includes(resolve(import.meta.dirname, '../../../../../src')));
  t.end();
});
