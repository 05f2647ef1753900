import fs from 'node:fs';
import { builtinModules } from 'node:module';
import { runInNewContext } from 'node:vm';
import { build, stop } from 'esbuild';
import t from 'tap';
import { absentModuleAdvice, absentModuleText } from '../../../../host/compiler/absent-modules.ts';
import { BrowserField } from '../../../../host/compiler/browser-field.ts';
import {
  isProvidedNodeModule,
  nodeModuleName,
  providedModuleExpression,
  providedModuleText,
  runtimePartImports,
} from '../../../../host/compiler/provided-modules.ts';

t.teardown(() => stop());

t.test('modules of Node are told from packages', (t) => {
  t.strictSame(
    ['fs', 'node:fs', 'node:test', 'test', 'left-pad', './fs', 'fs/promises', 'events/'].map(nodeModuleName),
    ['fs', 'fs', 'test', undefined, undefined, undefined, 'fs/promises', undefined],
  );
  t.strictSame(['events', 'fs', 'node:events'].map(isProvidedNodeModule), [true, false, false]);
  t.match(providedModuleText('events'), providedModuleExpression('events'));
  t.end();
});

t.test('parts of the runtime find each other, and no second one of a kind', async (t) => {
  const contents = `require('events'); require('node:path'); require('process/'); require('string_decoder/'); require('abort-controller'); require('node-inspect-extracted');`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    platform: 'browser',
    plugins: [runtimePartImports('esbuild')],
    external: ['esbuild'],
  });
  const text = outputFiles[0]?.text ?? '';
  for (const name of ['events', 'path', 'process', 'string_decoder']) {
    t.match(
      text,
      new RegExp(String.raw`module\.exports = globalThis\[.*Symbol\.for\("isolayer\.module"\)\]\("${name}"\)`),
    );
  }
  t.match(text, /var \{ globalThis: .*, Reflect: .* \} = __require\("esbuild"\)/);
  t.notMatch(text, 'class AbortController');
});

t.test('absent modules', async (t) => {
  function load(name: string): Record<string, unknown> {
    const module: { exports: Record<string, unknown> } = { exports: {} };
    runInNewContext(absentModuleText(name), { module });
    return module.exports;
  }

  t.test('what Node’s module has is there, and every function of it throws', (t) => {
    const absent = load('fs') as unknown as typeof fs;
    t.strictSame(
      Object.keys(fs).filter((key) => !(key in absent) && !/^_|^lchmod/.test(key)),
      [],
    );
    t.equal(absent.constants.O_RDWR, fs.constants.O_RDWR);
    t.equal(absent.readFileSync.name, 'readFileSync');
    t.throws(() => absent.readFileSync('x'), {
      message:
        'fs.readFileSync is not there in a plugin. There are no files: import a .json or .txt file of the plugins folder, or keep values with context.kv',
      code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM',
    });
    t.throws(() => new absent.ReadStream('x' as never), /fs\.ReadStream is not there/);
    t.throws(() => absent.realpath.native('x', () => {}), /fs\.realpath\.native is not there/);
    t.throws(() => void absent.promises.readFile('x'), /fs\.promises\.readFile is not there/);
    t.end();
  });

  t.test('each of Node’s modules is small, and a name that is none is empty', (t) => {
    for (const name of builtinModules) t.ok(absentModuleText(name.replace('node:', '')).length < 32_768, name);
    t.strictSame(Object.keys(load('nope')), []);
    t.strictSame(load('tls')['rootCertificates'], []);
    for (const name of ['module', 'process', 'repl', 'v8'])
      t.notMatch(absentModuleText(name), /"\/|node_modules|file:/, name);
    t.equal(absentModuleAdvice('dns/promises'), absentModuleAdvice('dns'));
    t.equal(absentModuleAdvice('repl'), 'A plugin runs without Node.js');
    t.end();
  });
});

t.test('browser field', async (t) => {
  const FILES: Record<string, string> = {
    '/node_modules/a/package.json': '{"browser":{"./server.js":false,"./deep/x":false,"fs":false,"crypto":"./c.js"}}',
    '/node_modules/a/lib/package.json': '{"type":"module"}',
    '/node_modules/text/package.json': '{"browser":"./b.js"}',
    '/node_modules/mini/package.json': '{"browser":"./dist/mini.min.js","main":"./lib/index.js"}',
    '/node_modules/only/package.json': '{"browser":"./only.min.js"}',
    '/node_modules/bad/package.json': '{',
    '/node_modules/odd/package.json': '"browser"',
    '/plugins/package.json': '{"browser":{"./own.js":false}}',
  };

  const field = () => new BrowserField(async (path) => FILES[path]);

  t.test('a package does without the files that it says so of, however they are named', async (t) => {
    const own = field();
    const disabled = ['server.js', 'server', 'deep/x', 'deep/x.js', 'deep/x/index.js'];
    for (const name of disabled) t.equal(await own.disablesFile(`/node_modules/a/${name}`), true, name);
    const kept = ['index.js', 'c.js', 'deep/server.js', 'lib/server.js', 'fs/x.js'];
    for (const name of kept) t.equal(await own.disablesFile(`/node_modules/a/${name}`), false, name);
    t.equal(await own.disablesFile('/plugins/own.js'), false, 'only packages say so');
    for (const name of ['text', 'bad', 'odd', 'none']) {
      t.equal(await own.disablesFile(`/node_modules/${name}/server.js`), false, name);
    }
  });

  t.test('a package does without modules for its own files', async (t) => {
    const own = field();
    t.equal(await own.disablesModule('/node_modules/a/lib/x.js', 'fs'), true, 'the nearest map counts');
    t.equal(await own.disablesModule('/node_modules/a/index.js', 'crypto'), false, 'that is another file');
    t.equal(await own.disablesModule('/node_modules/text/index.js', 'fs'), false);
    t.equal(await own.disablesModule('/node_modules/a/index.js', './server.js'), false, 'it is known by its path');
  });

  t.test('in the place of a minified bundle for browsers stands the package’s own main', async (t) => {
    const own = field();
    t.equal(await own.mainInsteadOf('/node_modules/mini/dist/mini.min.js'), '/node_modules/mini/lib/index.js');
    const kept = [
      'mini/dist/other.min.js',
      'mini/lib/index.js',
      'text/b.js',
      'only/only.min.js',
      'a/x.min.js',
      'bad/x.min.js',
    ];
    for (const name of kept) t.equal(await own.mainInsteadOf(`/node_modules/${name}`), undefined, name);
  });
});
