/** Threat: an import or a link brings a file of the server into a bundle, and the plugin could then return it. */
import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build, stop } from 'esbuild';
import t from 'tap';
import { unresolvedReason } from '../../../../host/compiler/build-problems.ts';
import { importWall } from '../../../../host/compiler/import-wall.ts';
import { isReadByBundler, isWithinFolders, packageFiles } from '../../../../host/compiler/package-files.ts';
import { PluginFolder } from '../../../support/plugin-folder.ts';

t.teardown(() => stop());

t.test('imports stay inside the plugins folder, its packages and the guest modules', async (t) => {
  const place = new PluginFolder({
    'plugins/a.ts': `import { b } from './lib/b.ts'; import p from 'pkg'; import up from 'upper'; export default [b, p, up];`,
    'plugins/lib/b.ts': 'export const b = 1;',
    'plugins/node_modules/pkg/package.json': '{}',
    'plugins/node_modules/pkg/index.js': 'module.exports = 2;',
    'node_modules/upper/index.js': 'export default 3;',
    'plugins/sdk.ts': `import { own } from '@openzeppelin/relayer-sdk/dist/deep'; import { join } from 'node:path'; export default [own, join];`,
    'plugins/gelato.ts': `import { known } from '@gelatonetwork/web3-functions-sdk'; export default known;`,
    'plugins/own.ts': `import { version } from './own-ethers.ts'; export default version;`,
    'plugins/own-ethers.ts': 'export const version = "of the author";',
    'plugins/absolute.ts': 'to be written',
    'plugins/dotted.ts': `import secret from '../secret.json'; export default secret;`,
    'plugins/linked.ts': `import secret from './link.json'; export default secret;`,
    'plugins/common.js': `module.exports = { handler: () => 1 };`,
    'plugins/direct.ts': `import { readFileSync } from 'fs'; export default readFileSync;`,
    'plugins/through.ts': `import own from 'node-own'; export default own;`,
    'plugins/node_modules/node-own/package.json': '{"browser":{"util":false}}',
    'plugins/node_modules/node-own/index.js': `module.exports = [require('fs'), require('http'), require('util'), require('events'), require('node:url')];`,
    'plugins/node_modules/events/index.js': `module.exports = 'a package of that name';`,
    'plugins/optional.ts': `let fs; try { fs = require('fs'); } catch {} export default fs;`,
    'secret.json': '{"key":"canary"}',
    'package.json': '{"type":"module"}',
    'guest/modules/relayer-sdk.ts': 'export const own = "own";',
    'guest/modules/gelato-sdk.ts': `import { version } from './own-ethers.ts'; export const known = version;`,
  });
  t.teardown(() => place.remove());
  const root = join(place.path, 'plugins');
  place.write('plugins/absolute.ts', `import secret from '${join(place.path, 'secret.json')}'; export default secret;`);
  symlinkSync(join(place.path, 'secret.json'), join(root, 'link.json'));
  mkdirSync(join(place.path, 'node_modules/evil'));
  symlinkSync(join(place.path, 'secret.json'), join(place.path, 'node_modules/evil/index.json'));
  place.write('plugins/evil.ts', `import secret from 'evil/index.json'; export default secret;`);

  const wall = importWall({ root, modulesDir: join(place.path, 'guest/modules') }, () => {});
  const bundle = async (file: string) => {
    try {
      const { outputFiles } = await build({
        absWorkingDir: root,
        entryPoints: [join(root, file)],
        bundle: true,
        write: false,
        format: 'iife',
        globalName: 'result',
        logLevel: 'silent',
        platform: 'neutral',
        mainFields: ['main'],
        plugins: [wall],
      });
      return outputFiles[0]?.text ?? '';
    } catch (error) {
      return String(error);
    }
  };
  const ordinary = await bundle('a.ts');
  for (const part of ['var b = 1;', 'module.exports = 2;', '= 3;']) t.match(ordinary, part);
  t.match(await bundle('sdk.ts'), /isolayer\.module"\)\]\("path"\)/, 'a Node module is what the guest brings');
  t.match(await bundle('sdk.ts'), /own = "own"/, 'the SDK is ours, deep imports included');
  t.match(await bundle('gelato.ts'), 'version = 0', 'a script of another host needs no ethers of its own');
  t.match(await bundle('own.ts'), 'of the author', 'a file of that name of the author is a file');
  t.match(await bundle('common.js'), /__commonJS/, 'a script is what it says, whatever package.json lies above it');
  t.match(await bundle('optional.ts'), /__require\("fs"\)/, 'an optional module may be missing');
  t.match(await bundle('direct.ts'), /direct\.ts:1:\d+: ERROR: Could not resolve "fs"/, 'authors are told at once');
  const through = await bundle('through.ts');
  t.match(through, 'name = "fs"', 'a package gets what throws when it is used');
  for (const part of ['("events")', '("url")']) t.match(through, part);
  t.notMatch(through, 'a package of that name');
  t.notMatch(through, '("util")');
  for (const file of ['absolute.ts', 'dotted.ts', 'linked.ts', 'evil.ts']) {
    const text = await bundle(file);
    t.match(text, /points outside of the plugins folder/, file);
    t.notMatch(text, 'canary', file);
  }
});

t.test('what a comment names as a source map is not read', async (t) => {
  const place = new PluginFolder({
    'guest/modules/relayer-sdk.ts': '',
    'map.json': '{"version":3,"sources":["canary.ts"],"names":[],"mappings":"AAAA"}',
    'plugins/line.ts': `console.log(1);\n//# sourceMappingURL=../map.json`,
    'plugins/old.js': `console.log(2);\n//@ sourceMappingURL=../map.json\n`,
    'plugins/block.ts': `console.log(3);/*# sourceMappingURL=../map.json */`,
    'plugins/text.ts': 'export default "a # sourceMappingURL=b";',
    'plugins/bom.ts': `\uFEFFimport data from './bom.json'; console.log(data);`,
    'plugins/bom.json': '\uFEFF{"found":1}',
  });
  t.teardown(() => place.remove());
  const root = join(place.path, 'plugins');
  const read = new Set<string>();
  const bundle = (file: string) =>
    build({
      absWorkingDir: root,
      entryPoints: [join(root, file)],
      outfile: join(root, 'out.js'),
      bundle: true,
      write: false,
      sourcemap: 'external',
      logLevel: 'silent',
      plugins: [importWall({ root, modulesDir: join(place.path, 'guest/modules') }, (file) => read.add(file))],
    });
  for (const file of ['line.ts', 'old.js', 'block.ts']) {
    const map = (await bundle(file)).outputFiles[0]?.text ?? '';
    t.match(map, `"${file}"`);
    t.notMatch(map, 'canary', file);
  }
  t.match(
    (await bundle('text.ts')).outputFiles[1]?.text,
    'a # sourceMappingURL=b',
    'no text of the program is changed',
  );
  t.match((await bundle('bom.ts')).outputFiles[1]?.text, 'found');
  t.ok(read.has(join(root, 'line.ts')));
});

t.test('no code is bundled that was not looked at as what the bundler takes it for', async (t) => {
  const pattern = 'require<string>(`./inner/${x}`), 1';
  const place = new PluginFolder({
    'guest/modules/relayer-sdk.ts': '',
    'plugins/inner/a.js': '',
    'plugins/url.js': 'require("data:text/javascript,require(%60./inner/$%7Bx%7D%60)")',
    'plugins/upper.js': 'import "DATA:text/javascript,1"',
    'plugins/style.js': 'import "data:text/css,a{}"',
    'plugins/json.js': 'import found from "data:application/json,[4711]"; console.log(found);',
    'plugins/image.js': 'import "./image.css"',
    'plugins/image.css': 'a { background: url(data:image/png;base64,AAAA) }',
    'plugins/dotted.js': 'import "./.ts"',
    'plugins/.ts': pattern,
    'plugins/slashed.js': 'import "./x.css\\\\bar"',
    'plugins/x.css\\bar': 'require(`./inner/${x}`)',
    'plugins/unknown.js': 'import "./a.wasm"',
    'plugins/a.wasm': '',
    'plugins/known.js': `import a from './a.json'; import './a.css'; import b from './a.txt'; import './b.module.css'; import c from './plain'; console.log(a, b, c);`,
    'plugins/a.json': '"json"',
    'plugins/a.css': 'a { color: red }',
    'plugins/b.module.css': '.b { color: red }',
    'plugins/a.txt': 'text',
    'plugins/plain': 'export default "plain";',
  });
  t.teardown(() => place.remove());
  const root = join(place.path, 'plugins');
  const bundle = async (file: string) => {
    const wall = importWall({ root, modulesDir: join(place.path, 'guest/modules') }, () => {});
    const entryPoints = [join(root, file)];
    const options = { entryPoints, outdir: root, bundle: true, write: false, logLevel: 'silent' } as const;
    const { outputFiles } = await build({ ...options, absWorkingDir: root, plugins: [wall] });
    return outputFiles.map(({ text }) => text).join();
  };
  for (const file of ['url.js', 'upper.js', 'style.js']) {
    await t.rejects(bundle(file), /Cannot import a data: URL/, file);
  }
  await t.rejects(bundle('dotted.js'), /only known at run time/);
  await t.rejects(bundle('slashed.js'), /Cannot import "x\.css\\bar"/);
  await t.rejects(bundle('unknown.js'), /unknown\.js:1:7: .*Cannot import "a\.wasm": what can be imported is \.js/);
  t.match(await bundle('json.js'), '4711');
  t.match(await bundle('image.js'), 'image/png');
  const known = await bundle('known.js');
  for (const part of ['"json"', '"text"', '"plain"', 'a {', '.b_b {']) t.match(known, part);
});

t.test('what a package says of itself belongs to what a bundle is made of', async (t) => {
  const place = new PluginFolder({
    'guest/modules/relayer-sdk.ts': '',
    'plugins/node_modules/@a/b/package.json': '{}',
    'plugins/node_modules/@a/b/deep/file.js': 'export default 1;',
    'node_modules/c/package.json': '{"main":"./nowhere.js"}',
    'plugins/own.ts': 'export default 2;',
    'plugins/uses.ts': `import own from './own.ts'; import b from '@a/b/deep/file.js'; import c from 'c'; export default [own, b, c];`,
  });
  t.teardown(() => place.remove());
  const root = join(place.path, 'plugins');
  const read = new Map<string, string>();
  const wall = importWall({ root, modulesDir: join(place.path, 'guest/modules') }, (file, state) =>
    read.set(file, state),
  );
  const entryPoints = [join(root, 'uses.ts')];
  await t.rejects(
    build({ entryPoints, outdir: root, bundle: true, write: false, logLevel: 'silent', plugins: [wall] }),
    /Could not resolve "c"/,
  );
  t.same([...read.keys()].sort(), [
    join(place.path, 'node_modules/c/package.json'),
    join(root, 'node_modules/@a/b/deep/file.js'),
    join(root, 'node_modules/@a/b/package.json'),
    join(root, 'own.ts'),
    join(root, 'uses.ts'),
  ]);
});

t.test('an import that leads out is refused alike, whether anything is there or not', async (t) => {
  const place = new PluginFolder({
    'guest/modules/relayer-sdk.ts': '',
    'there.js': '',
    'plugins/lib/up.ts': `import up from '..'; import shared from '../../node_modules/shared'; export default [up, shared];`,
    'plugins/index.ts': `export default 'index';`,
    'plugins/style.css': 'a { background: url(https://example.com/../../../a.png) }',
    'plugins/node_modules/probes/index.js': `try { require('../../../there.js'); } catch {} require('../beside/a.js');`,
    'plugins/node_modules/beside/a.js': '"beside"',
    'store/shared/index.js': `export default 'shared';`,
  });
  t.teardown(() => place.remove());
  symlinkSync(join(place.path, 'store'), join(place.path, 'node_modules'));
  const root = join(place.path, 'plugins');
  const wall = importWall({ root, modulesDir: join(place.path, 'guest/modules') }, () => {});
  const bundle = async (file: string) => {
    const entryPoints = [join(root, file)];
    const options = { entryPoints, outdir: root, bundle: true, write: false, logLevel: 'silent' } as const;
    return (await build({ ...options, absWorkingDir: root, plugins: [wall] })).outputFiles[0]?.text;
  };
  const errorOf = async (text: string) => {
    place.write('plugins/a.js', text);
    return bundle('a.js').then(
      () => 'built',
      (error: unknown) => String(error),
    );
  };
  const spellings = ['../NAME', './lib/../../NAME', `${place.path}/NAME`, 'beside/../../../NAME', 'x/../../NAME'];
  for (const spelling of [...spellings, '../NAME?x', '..//NAME', '../lib/../NAME']) {
    for (const around of ["import 'IT'", "try { require('IT') } catch {}", "import('IT').catch(() => {})"]) {
      const [there, missing] = await Promise.all(
        ['there.js', 'ghost.js'].map(async (name) => {
          const said = await errorOf(around.replace('IT', spelling.replace('NAME', name)));
          return said.replaceAll(name, 'NAME');
        }),
      );
      t.equal(there, missing, `${around} ${spelling}`);
      t.match(there, /The import points outside of the plugins folder/, `${around} ${spelling}`);
    }
  }
  const ordinary = await bundle('lib/up.ts');
  for (const part of ["'index'", "'shared'"]) t.match(ordinary, part.replaceAll("'", '"'));
  t.match(await bundle('style.css'), 'https://example.com/../../../a.png');
  const probing = await bundle('node_modules/probes/index.js');
  t.match(probing, /__require\("\.\.\/\.\.\/\.\.\/there\.js"\)/, 'a package does without what it looks for above it');
  t.match(probing, '"beside"');
});

t.test('a bundle of more files than can be watched is refused', async (t) => {
  const place = new PluginFolder({
    'guest/modules/relayer-sdk.ts': '',
    'plugins/a.ts': `import './b.ts';`,
    'plugins/b.ts': `import './c.ts';`,
    'plugins/c.ts': '',
  });
  t.teardown(() => place.remove());
  const root = join(place.path, 'plugins');
  const bundle = (mostFiles: number) => {
    const wall = importWall({ root, modulesDir: join(place.path, 'guest/modules') }, () => {}, { mostFiles });
    const entryPoints = [join(root, 'a.ts')];
    return build({ entryPoints, outdir: root, bundle: true, write: false, logLevel: 'silent', plugins: [wall] });
  };
  await t.rejects(bundle(2), /made of more than 2 files/);
  t.equal((await bundle(3)).outputFiles.length, 1);
});

t.test('a module of Node is told from one that is not installed', async (t) => {
  t.match(unresolvedReason('fs'), /module of Node\.js\. There are no files/);
  t.equal(unresolvedReason('nope'), 'Could not resolve "nope"');
});

/**
 * Threat: the bundler reads some files by itself and quotes them in its errors; a link may stand in place of such a
 * file.
 */
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
  const watched = (folder: string) => isWithinFolders([root], folder);
  const refused = () => packageFiles(watched, (file) => isWithinFolders([root], file));
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
