/**
 * Threat: an import, or a link, that puts a file of the server into a bundle, from where the plugin could return it.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import t from 'tap';
import { importWall, unresolvedReason } from '../../../../src/plugin-host/import-wall.ts';
import { PluginFolder } from '../../../support/plugin-host.ts';

t.test('imports stay inside the plugins folder, its packages and the guest modules', async (t) => {
  const place = new PluginFolder({
    'plugins/a.ts': `import { b } from './lib/b.ts'; import p from 'pkg'; import up from 'upper'; export default [b, p, up];`,
    'plugins/lib/b.ts': 'export const b = 1;',
    'plugins/node_modules/pkg/package.json': '{}',
    'plugins/node_modules/pkg/index.js': 'module.exports = 2;',
    'node_modules/upper/index.js': 'export default 3;',
    'plugins/sdk.ts': `import { own } from '@openzeppelin/relayer-sdk/dist/deep'; import { hash } from 'node:crypto'; export default [own, hash];`,
    'plugins/absolute.ts': 'to be written',
    'plugins/dotted.ts': `import secret from '../secret.json'; export default secret;`,
    'plugins/linked.ts': `import secret from './link.json'; export default secret;`,
    'plugins/common.js': `module.exports = { handler: () => 1 };`,
    'plugins/optional.ts': `let fs; try { fs = require('fs'); } catch {} export default fs;`,
    'secret.json': '{"key":"canary"}',
    'package.json': '{"type":"module"}',
    'guest/modules/relayer-sdk.ts': 'export const own = "own";',
    'guest/modules/crypto.ts': `import { inner } from '../inner.ts'; export const hash = inner;`,
    'guest/inner.ts': 'export const inner = "inner";',
  });
  t.teardown(() => place.remove());
  const root = join(place.path, 'plugins');
  place.write('plugins/absolute.ts', `import secret from '${join(place.path, 'secret.json')}'; export default secret;`);
  symlinkSync(join(place.path, 'secret.json'), join(root, 'link.json'));
  mkdirSync(join(place.path, 'node_modules/evil'));
  symlinkSync(join(place.path, 'secret.json'), join(place.path, 'node_modules/evil/index.json'));
  place.write('plugins/evil.ts', `import secret from 'evil/index.json'; export default secret;`);

  const wall = importWall({ root, modulesDir: join(place.path, 'guest/modules') });
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
  t.match(await bundle('sdk.ts'), /"inner"/, 'a Node module is what the guest brings');
  t.match(await bundle('sdk.ts'), /own = "own"/, 'the SDK is ours, deep imports included');
  t.match(await bundle('common.js'), /__commonJS/, 'a script is what it says, whatever package.json lies above it');
  t.match(await bundle('optional.ts'), /__require\("fs"\)/, 'an optional module may be missing');
  for (const file of ['absolute.ts', 'dotted.ts', 'linked.ts', 'evil.ts']) {
    const text = await bundle(file);
    t.match(text, /leads out of the plugins folder/, file);
    t.notMatch(text, 'canary', file);
  }
});

t.test(
  'what is no ordinary file is not waited for, and what a comment names as a source map is not read',
  async (t) => {
    const place = new PluginFolder({
      'guest/modules/relayer-sdk.ts': '',
      'map.json': '{"version":3,"sources":["canary.ts"],"names":[],"mappings":"AAAA"}',
      'plugins/line.ts': `console.log(1);\n//# sourceMappingURL=../map.json`,
      'plugins/old.js': `console.log(2);\n//@ sourceMappingURL=../map.json\n`,
      'plugins/block.ts': `console.log(3);/*# sourceMappingURL=../map.json */`,
      'plugins/text.ts': 'export default "a # sourceMappingURL=b";',
      'plugins/piped.ts': `import './pipe.ts';`,
      'plugins/bom.ts': `\uFEFFimport data from './bom.json'; console.log(data);`,
      'plugins/bom.json': '\uFEFF{"found":1}',
    });
    t.teardown(() => place.remove());
    const root = join(place.path, 'plugins');
    execFileSync('mkfifo', [join(root, 'pipe.ts')]);
    const read = new Map<string, string>();
    const bundle = (file: string) =>
      build({
        absWorkingDir: root,
        entryPoints: [join(root, file)],
        outfile: join(root, 'out.js'),
        bundle: true,
        write: false,
        sourcemap: 'external',
        logLevel: 'silent',
        plugins: [importWall({ root, modulesDir: join(place.path, 'guest/modules') }, read)],
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
    await t.rejects(bundle('piped.ts'), /no ordinary file/);
    t.match((await bundle('bom.ts')).outputFiles[1]?.text, 'found');
    t.ok(read.has(join(root, 'line.ts')));
  },
);

t.test('a module of Node is told from one that is not installed', async (t) => {
  t.match(unresolvedReason('fs'), /module of Node\.js/);
  t.equal(unresolvedReason('nope'), 'Could not resolve "nope"');
});
