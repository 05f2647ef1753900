import { mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runInNewContext } from 'node:vm';
import { stop } from 'esbuild';
import t from 'tap';
import { isStrictCode, performBuild, toStrictCode } from '../../../../host/compiler/guest-build.ts';
import { PluginFolder } from '../../../support/plugin-folder.ts';

const modulesDir = resolve(import.meta.dirname, '../../../../guest/modules');
const folder = new PluginFolder();
t.teardown(async () => {
  await stop();
  folder.remove();
});

function build(name: string, text: string) {
  folder.write(name, text);
  return performBuild({ kind: 'plugin', root: folder.path, modulesDir, file: join(folder.path, name) }, () => {});
}

t.test('a plugin becomes a script with its map, a failure what is wrong', async (t) => {
  const built = await build('a.ts', 'export const handler = (n: number) => n + 1;');
  if (built.kind !== 'built') return t.fail(built.kind);
  const world: { __isolayer_plugin__?: { handler(n: number): number } } = {};
  runInNewContext(built.code, world);
  t.equal(world.__isolayer_plugin__?.handler(1), 2);
  t.match(Buffer.from(built.map ?? []).toString(), '"a.ts"');
  t.match(await build('b.ts', 'let = ;'), { kind: 'failed', total: 1 });
});

t.test('of what is too large only the size is kept', async (t) => {
  t.match(await build('large.ts', `export default "${'x'.repeat(10 * 1_048_576)}";`), { kind: 'oversized' });
  const many = await build('mapped.ts', 'a(1);\n'.repeat(1_000_000));
  t.match(many, { kind: 'built', map: null });
});

t.test('a file of the runtime becomes an expression that evaluates to its export', async (t) => {
  folder.write('boot.ts', 'export const boot = () => typeof structuredClone;');
  folder.write('create.ts', 'export const create = () => typeof structuredClone;');
  for (const [exported, seen] of [
    ['boot', 'function'],
    ['create', 'undefined'],
  ] as const) {
    const file = join(folder.path, `${exported}.ts`);
    const built = await performBuild({ kind: 'runtime', base: folder.path, file, exported }, () => {});
    if (built.kind !== 'built') return t.fail(built.kind);
    const code = built.code;
    t.equal(runInNewContext(`(${code.trim().replace(/;$/, '')})()`, { structuredClone: () => {} }), seen);
  }
});

t.test('the program of a child keeps what Node has, and its native module, for who runs it', async (t) => {
  folder.write('main.ts', "import ivm from 'isolated-vm'; import { sep } from 'node:path'; said.push(ivm.name, sep);");
  const job = { kind: 'child', base: folder.path, file: join(folder.path, 'main.ts') } as const;
  const built = await performBuild(job, () => {});
  if (built.kind !== 'built') return t.fail(built.kind);
  const world = { said: [], require: (name: string) => ({ name, sep: `of ${name}` }) };
  runInNewContext(built.code, world);
  t.strictSame(world.said, ['isolated-vm', 'of node:path']);
});

t.test('what the bundler reads by itself is no way to a file outside', { timeout: 60_000 }, async (t) => {
  const outside = new PluginFolder({ key: 'canary-key', 'pkg/package.json': '{"main":"a.js"}', 'pkg/a.js': '' });
  t.teardown(() => outside.remove());
  const said = async (name: string, text: string) => {
    const end = await build(name, text);
    t.notMatch(JSON.stringify(end), 'canary', name);
    return end.kind === 'failed' ? end.problems.map((problem) => problem.text).join() : end.kind;
  };
  const refused = /points outside of the plugins folder/;
  for (const name of ['node_modules/linked', 'node_modules/@a/deep', 'own/dir']) {
    mkdirSync(join(folder.path, name), { recursive: true });
    folder.write(`${name}/index.js`, '');
    const file = join(folder.path, name, 'package.json');
    symlinkSync(join(outside.path, 'key'), file);
  }
  symlinkSync(join(outside.path, 'pkg'), join(folder.path, 'node_modules/folder'));
  t.match(await said('l.ts', `import 'linked';`), refused);
  t.match(await said('d.ts', `import '@a/deep/index.js';`), refused);
  t.match(await said('o.ts', `import './own/dir';`), refused);
  t.match(await said('own/dir/in.ts', ''), refused);
  t.match(await said('f.ts', `import 'folder';`), refused);
  folder.write('node_modules/main/package.json', '{"main":"../linked"}');
  t.match(await said('m.ts', `import 'main';`), /cannot be parsed|Could not resolve/);
  folder.write('node_modules/bad/package.json', 'canary');
  t.match(await said('b.ts', `import 'bad';`), /cannot be parsed/);
  folder.write('node_modules/good/package.json', '{"main":"lib"}');
  folder.write('node_modules/good/lib/index.js', 'export default 1');
  t.match(await said('g.ts', `import good from 'good'; export default good;`), 'built');
  symlinkSync(join(outside.path, 'key'), join(folder.path, '.pnp.data.json'));
  t.match(await said('y.ts', `import 'good';`), refused);
  folder.remove('.pnp.data.json');
});

t.test('an import that would be a pattern is refused before any folder is looked through', async (t) => {
  for (const text of ['import(`../../../../${n}/x`)', "require('../../../../' + n + '/x')"]) {
    t.match(await build('pattern.ts', `export const handler = (n: string) =>\n  ${text};`), {
      kind: 'failed',
      problems: [
        { text: /^Cannot bundle this: which file it means/, place: { file: 'pattern.ts', line: 2, column: 3 } },
      ],
      total: 1,
    });
  }
  t.match(await build('late.ts', 'await 0; import(`../../../../${n}/x`);'), {
    problems: [{ text: /Top-level await/, place: { file: 'late.ts', line: 1, column: 1 } }],
  });
});

t.test('a package in which it stands is built without looking through folders, and the call throws', async (t) => {
  folder.write('node_modules/patterns/package.json', '{}');
  for (const text of ['import(`../../../../${n}/x`)', "require('../../../../' + n + '/x')"]) {
    folder.write('node_modules/patterns/index.js', `\nmodule.exports = async (n) => ${text};`);
    const built = await build('uses.ts', "import x from 'patterns'; export const handler = (n: string) => x(n);");
    if (built.kind !== 'built') return t.fail(JSON.stringify(built));
    const world: { __isolayer_plugin__?: { handler(n: string): Promise<void> } } = {};
    runInNewContext(built.code, world);
    await t.rejects(async () => world.__isolayer_plugin__?.handler('etc'), {
      message:
        'This module picks a file at run time, which a bundle cannot do: plugins/node_modules/patterns/index.js:2',
    });
  }
  folder.write('node_modules/patterns/index.js', "\nmodule/**/.require('../../../../' + n + '/x')");
  t.match(await build('uses.ts', "import 'patterns';"), {
    problems: [
      {
        text: /^Cannot bundle the package "patterns"/,
        place: { file: 'node_modules/patterns/index.js', line: 2, column: 1 },
      },
    ],
    total: 1,
  });
});

t.test('all files that cannot be imported are named at once, each where it is imported', async (t) => {
  for (const name of ['a.wasm', 'addon.node', 'page.html', 'deep.png']) folder.write(name, '');
  folder.write('imports.ts', `\nimport './deep.png';\nimport './gone.ts';`);
  const source = `import './a.wasm';\n  import './addon.node';\nimport('./page.html'); import './imports.ts';`;
  const built = await build('kinds.ts', source);
  if (built.kind !== 'failed') return t.fail(built.kind);
  const told = built.problems.map(
    ({ place, text }) => `${place?.file}:${place?.line}:${place?.column} ${text.slice(0, 28)}`,
  );
  t.strictSame(told.sort(), [
    'imports.ts:2:8 Cannot import "deep.png": wh',
    'imports.ts:3:8 Could not resolve "./gone.ts',
    'kinds.ts:1:8 Cannot import "a.wasm": what',
    'kinds.ts:2:10 Cannot import "addon.node": ',
    'kinds.ts:3:8 Cannot import "page.html": w',
  ]);
  t.equal(built.total, 5);
});

t.test('packages are resolved as Node and browsers’ bundlers do', async (t) => {
  folder.write('node_modules/dual/package.json', '{"main":"c.js","module":"m.mjs"}');
  folder.write(
    'node_modules/exported/package.json',
    '{"exports":{".":{"import":"./m.mjs","require":"./c.js","default":"./m.mjs"}}}',
  );
  folder.write(
    'node_modules/browsers/package.json',
    '{"main":"m.js","browser":{"./server":false,"fs":false,"dual":false,"./n.js":"./b.js","http":"./b.js","url":"./b.js"}}',
  );
  for (const name of ['dual', 'exported']) {
    folder.write(`node_modules/${name}/c.js`, "module.exports = class { kind = 'commonjs' };");
    folder.write(`node_modules/${name}/m.mjs`, "export default class { kind = 'esm' }");
  }
  folder.write('node_modules/browsers/server.js', "throw new Error('server')");
  folder.write('node_modules/browsers/b.js', "module.exports = 'browser'");
  folder.write(
    'node_modules/browsers/m.js',
    "module.exports = [require('./server.js'), require('./server'), require('fs'), require('dual'), require('./n.js'), require('http'), require('url')];",
  );
  folder.write('mapped/tsconfig.json', '{"compilerOptions":{"paths":{"@/*":["./src/*"],"~out":["../../out.ts"]}}}');
  folder.write('mapped/src/value.ts', "export const value = 'mapped';");
  folder.write('mapped/index.ts', "import { value } from '@/value'; export const handler = () => value;");
  const run = async (name: string, text: string) => {
    const built = await build(name, text);
    if (built.kind !== 'built') return JSON.stringify(built);
    const world: { __isolayer_plugin__?: { handler(): unknown } } = {};
    runInNewContext(built.code, world);
    return JSON.parse(JSON.stringify(world.__isolayer_plugin__?.handler()));
  };
  const required = "const D = require('dual'), E = require('exported');";
  t.strictSame(
    await run('required.js', `${required} exports.handler = () => [new D().kind, new E().kind];`),
    ['commonjs', 'commonjs'],
    'a call of require gets CommonJS',
  );
  t.strictSame(await run('imported.ts', `import E from 'exported'; export const handler = () => new E().kind;`), 'esm');
  t.strictSame(
    await run('browsers.ts', `import all from 'browsers'; export const handler = () => all;`),
    [{}, {}, {}, {}, 'browser', 'browser', 'browser'],
    'what a package does without in browsers is empty',
  );
  t.equal(
    await run('mapped/own.ts', `import { value } from '@/value'; export const handler = () => value;`),
    'mapped',
    'the paths of a tsconfig lead to files',
  );
  t.match(await run('mapped/out.ts', `import '~out';`), /Could not resolve .*~out/, 'but to none outside');
});

t.test('a file is strict by its first words', (t) => {
  for (const text of [
    '"use strict"; a',
    "'use strict'\na",
    '#!/bin/x\n// c\n/* d\n */ "use strict"',
    '\uFEFF"use strict"',
  ]) {
    t.ok(isStrictCode(text), text);
  }
  for (const text of ['', 'a; "use strict"', '// "use strict"', '"use stricter"', '("use strict")']) {
    t.notOk(isStrictCode(text), text);
  }
  t.end();
});

t.test('a script becomes strict, and keeps its lines', (t) => {
  const made = (text: string) => Buffer.from(toStrictCode(Buffer.from(text))).toString();
  t.equal(made('var x = (() => {\n  a;\n})();'), 'var x = (() => {"use strict";\n  a;\n})();');
  t.equal(made('a; (() => {b})'), 'a; (() => {b})');
  t.end();
});
