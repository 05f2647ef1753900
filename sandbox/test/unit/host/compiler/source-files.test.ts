/** Threat: an import leads to a device, a link or an endless file. */
import {
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import t from 'tap';
import { Bundler } from '../../../../host/compiler/bundler.ts';
import {
  areSourceFilesUnchanged,
  packageFolders,
  readSource,
  sourceTexts,
} from '../../../../host/compiler/source-files.ts';
import { PluginFolder } from '../../../support/plugin-folder.ts';

t.test('an ordinary file that is allowed is read, and whatever else is told', { timeout: 20_000 }, async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'isolayer-')));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const at = (name: string) => join(folder, name);
  writeFileSync(at('a.ts'), 'export {};');
  writeFileSync(at('large.ts'), '');
  truncateSync(at('large.ts'), 16 * 1_048_576 + 1);
  symlinkSync('/etc/hostname', at('away.ts'));
  symlinkSync('/dev/zero', at('zero.ts'));
  const inside = (file: string) => file.startsWith(`${folder}/`);

  const read = await readSource(at('a.ts'), inside);
  if (typeof read === 'string') throw new Error(read);
  t.equal(read.bytes.toString(), 'export {};');
  for (const [name, reason] of [
    ['large.ts', /16777217 bytes, more than 16777216/],
    ['away.ts', /outside of the plugins folder/],
    ['zero.ts', /outside of the plugins folder/],
    ['nowhere.ts', /Could not read/],
    ['../outside.ts', /outside of the plugins folder/],
  ] as const) {
    t.match(await readSource(at(name), inside), reason, name);
  }
});

t.test('a file that was written to or is gone has changed', async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'isolayer-')));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'a.ts');
  writeFileSync(file, 'one');
  const read = await readSource(file, () => true);
  if (typeof read === 'string') throw new Error(read);
  const states = new Map([[file, read.state]]);
  t.equal(await areSourceFilesUnchanged(states), true);
  utimesSync(file, 1, 1);
  t.equal(await areSourceFilesUnchanged(states), false, 'written');
  rmSync(file);
  t.equal(await areSourceFilesUnchanged(states), false, 'gone');
});

t.test('each file is read once, told of, and only where it may be read', async (t) => {
  const folder = new PluginFolder({ 'in/a.json': '{}', 'out.json': 'canary' });
  t.teardown(() => folder.remove());
  const inside = join(folder.path, 'in');
  symlinkSync(join(folder.path, 'out.json'), join(inside, 'link.json'));
  const told: string[] = [];
  const allowed = (file: string) => file.startsWith(inside);
  const read = sourceTexts(allowed, (file) => told.push(file));
  const file = join(inside, 'a.json');
  t.equal(await read(file), '{}');
  t.equal(await read(file), '{}');
  for (const name of ['link.json', 'none.json', '../out.json'])
    t.equal(await read(join(inside, name)), undefined, name);
  t.strictSame(told, [file]);
});

/** Threat: a link brings files beside the plugins folder into a build. */
t.test('links', async (t) => {
  const modulesDir = resolve(import.meta.dirname, '../../../../guest/modules');
  const limits = { timeoutMs: 60_000, idleMs: 60_000, memoryBytes: 768 * 1_048_576 };

  /** The code of a successful build, otherwise its problems. */
  async function built(bundler: Bundler, root: string, text: string, folder: PluginFolder): Promise<string> {
    folder.write('plugins/p.ts', text);
    const end = await bundler.build({ kind: 'plugin', root, modulesDir, file: join(root, 'p.ts') });
    if (end.kind === 'failed') return end.problems.map((problem) => problem.text).join();
    return end.kind === 'built' ? end.code : end.kind;
  }

  t.test('links lead only to where a plugin may import from', { timeout: 120_000 }, async (t) => {
    const place = new PluginFolder({
      'plugins/a.ts': '',
      'plugins/deps/index.ts': '',
      'deps/beside/package.json': '{"exports":{"./sub":"./lib.js"}}',
      'deps/beside/lib.js': 'export default "beside";',
      'elsewhere/secret.ts': 'export default "canary";',
      'elsewhere/package.json': '{"main":"secret.ts"}',
    });
    const root = join(place.path, 'plugins');
    const bundler = new Bundler(limits);
    t.teardown(async () => {
      await bundler.close();
      place.remove();
    });
    const said = (text: string) => built(bundler, root, text, place);
    const used = (specifier: string) => said(`import x from '${specifier}';\nexport const handler = () => x;`);

    t.match(await used('beside/sub'), 'Could not resolve "beside/sub"');
    symlinkSync(join(place.path, 'deps'), join(place.path, 'node_modules'));
    t.match(await used('beside/sub'), '"beside"', "the operator's packages, installed meanwhile, may lie anywhere");
    place.remove('node_modules');
    renameSync(join(place.path, 'deps'), join(place.path, 'node_modules'));
    t.match(await used('beside/sub'), '"beside"', 'or beside the plugins folder');

    const elsewhere = join(place.path, 'elsewhere');
    symlinkSync(elsewhere, join(root, 'node_modules'));
    t.match(await used('anything'), /^"node_modules" is a link that points outside .* put the packages into it/);
    place.remove('plugins/node_modules');
    symlinkSync(join(place.path, 'node_modules'), join(root, 'node_modules'));
    t.match(await used('beside/sub'), '"beside"', 'a link to packages that may be imported');
    place.remove('plugins/node_modules');
    place.write('plugins/node_modules/own/index.js', 'export default "own";');
    t.match(await used('own'), '"own"');
    symlinkSync(elsewhere, join(root, 'node_modules/away'));
    t.match(await used('away'), '"away" is a link that points outside of the plugins folder');
    symlinkSync(root, join(root, 'node_modules/self'));
    t.match(await used('self/deps'), 'handler', 'a link to the plugins themselves');

    symlinkSync(join(elsewhere, 'secret.ts'), join(root, 'link.ts'));
    for (const specifier of ['./link', './link.ts'])
      t.match(await used(specifier), /points outside of the plugins folder/, specifier);
    symlinkSync(elsewhere, join(root, 'linked'));
    t.match(await used('./linked/secret.ts'), '"linked" is a link that points outside');
  });

  t.test('folders above have packages', (t) => {
    t.same(packageFolders('/a/b'), ['/a/b/node_modules', '/a/node_modules', '/node_modules']);
    t.end();
  });
});
