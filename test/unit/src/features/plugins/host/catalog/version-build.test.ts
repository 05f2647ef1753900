import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { endCodeFailure } from '../../../../../../../sandbox/contract.ts';
import { type Compiler, createCompiler } from '../../../../../../../sandbox/host/compiler/compiler.ts';
import { PluginFolder } from '../../../../../../../sandbox/test/support/plugin-folder.ts';
import { MAX_SHOWN_NAMES } from '../../../../../../../src/features/plugins/host/catalog/fetch-hosts.ts';
import {
  buildVersion,
  builtInChanges,
  exportedInstead,
  findEnvironmentReads,
} from '../../../../../../../src/features/plugins/host/catalog/version-build.ts';
import { type PluginEntry, pluginEntrySchema } from '../../../../../../../src/features/plugins/records/plugin.ts';
import { createLog } from '../../../../../../../src/observability/log.ts';

/** "Compiles" by reading the source: `broken` makes it fail, and `impossible` makes the compiler itself throw. */
const compiler: Compiler = {
  async compile(pluginId, { file }) {
    const code = await readFile(file, 'utf8');
    if (code.includes('impossible')) throw new Error('the disk is gone');
    if (code.includes('broken')) return endCodeFailure('COMPILE_ERROR', `Compilation failed: ${pluginId}`);
    // Like bundler output, this has a handler. A source with the words `cut off` has lost it.
    const bundled = code.includes('cut off') ? code : `${code}/* handler */`;
    return { code: bundled, positions: { mapped: (text) => text }, bytes: code.length, inputs: new Set([file]) };
  },
  filesChanged: () => Promise.resolve(),
  runtime: () => Promise.resolve(''),
  child: () => Promise.resolve(''),
  close: () => Promise.resolve(),
};

function setUp(t: Test, source: string, env: Record<string, string> = {}) {
  const folder = new PluginFolder({ 'a.ts': source });
  t.teardown(() => folder.remove());
  const lines: string[] = [];
  const log = createLog('debug', { write: (line) => lines.push(line) });
  const clock = { now: () => 1234, elapsed: () => 0 };
  const deps = { root: folder.path, compiler, environment: (name: string) => env[name], log, clock };
  const build = (entry: Partial<PluginEntry> | object = {}) =>
    buildVersion(deps, pluginEntrySchema.parse({ id: 'a', path: 'a.ts', ...entry }));
  return { build, lines, folder };
}

t.test('a version carries its granted environment and limits, and what it misses is said', async (t) => {
  const source = `fetch('https://api.example.com/x') + process.env.NETWORK + process.env.SECRET`;
  const { build, lines } = setUp(t, source, { NETWORK: 'testnet', SECRET: 'canary' });
  t.match(await build({ path: 'plugins/a.ts', permissions: { env: ['NETWORK'] }, limits: { slice_ms: 123 } }), {
    version: {
      pluginId: 'a',
      filename: 'plugins/a.ts',
      env: { NETWORK: 'testnet' },
      limits: { slice_ms: 123, calls: 1000 },
      isolation: 'plugin',
    },
    since: 1234,
    bytes: source.length,
    reads: { environment: ['NETWORK', 'SECRET'], fetches: true },
  });
  t.match(lines.join(), '"missing":["SECRET"]');
  t.notMatch(lines.join(), 'canary');
});

t.test('whatever decides how the code runs makes another version', async (t) => {
  const { build, folder } = setUp(t, 'process.env.NETWORK', { NETWORK: 'testnet' });
  const hash = async (entry: object = {}) => {
    const built = await build(entry);
    return 'version' in built ? built.version.version : built.code;
  };
  const first = await hash();
  t.equal(await hash(), first);
  const others = [
    await hash({ permissions: { env: ['NETWORK'] } }),
    await hash({ limits: { slice_ms: 123 } }),
    await hash({ isolation: 'call' }),
  ];
  folder.write('a.ts', 'changed');
  others.push(await hash());
  t.equal(new Set([first, ...others]).size, 5);
});

t.test('what is no version is a failure with its reason', async (t) => {
  const { build, folder, lines } = setUp(t, 'broken');
  t.match(await build(), { code: 'COMPILE_ERROR', message: 'Compilation failed: a' });
  t.match(await build({ path: 'b.ts' }), { code: 'FILE_NOT_FOUND', details: { file: 'plugins/b.ts' } });
  t.notMatch(lines.join(), 'compiling a plugin failed', 'that is nothing of the service');
  folder.write('a.ts', 'impossible');
  t.match(await build(), { code: 'COMPILE_ERROR', status: 500, details: { pluginId: 'a', file: 'a.ts' } });
  t.match(lines.join(), /the disk is gone.*compiling a plugin failed/);
});

t.test('of a version without a handler it is known that it cannot be loaded', async (t) => {
  const { build } = setUp(t, 'cut off');
  t.match(await build(), {
    version: { code: 'cut off' },
    unloadable: {
      code: 'PLUGIN_ERROR',
      message: 'Plugin must export a handler function',
      details: { pluginId: 'a', file: 'plugins/a.ts' },
    },
  });
});

t.test('names read from process.env are found, what libraries probe is not', async (t) => {
  const code = `process.env.B; process.env["A"]; process.env['B']; process.env.NODE_ENV; x.process.environment.C; process.env[n]`;
  t.same(findEnvironmentReads(code), ['A', 'B']);
  t.same(findEnvironmentReads('nothing'), []);
});

t.test('of very many names one more than is shown is found, and none that is no name', async (t) => {
  const code = Array.from({ length: 100_000 }, (_, index) => `process.env.N${index};`).join('');
  t.equal(findEnvironmentReads(code).length, MAX_SHOWN_NAMES + 1);
  t.same(findEnvironmentReads(`process.env.${'x'.repeat(100_000)}; process.env['${'y'.repeat(300)}']; process.env.A`), [
    'A',
  ]);
});

t.test('built in changes', async (t) => {
  const positions = { mapped: (text: string) => text.replace('bundle.js', 'plugins/own.ts') };
  const bundle = (start: string) => `var __isolayer_plugin__ = ${start}
  // node_modules/polyfill/index.js
  var require_polyfill = __commonJS({ "x"() {
      Array.prototype.flat = other;
  } });

  // own.ts
  String.prototype.atLoad = 1;
  if (!Array.prototype.findLast) {
    Array.prototype.findLast = other;
  } else {
    Array.prototype.own = other;
  }
  function handler() {
    Array.prototype.last = function() {
    };
    const same = Math.max === other;
    if (x) Math.random = () => 4;
  }
})();`;

  t.test('assignments that would do nothing are found, with their places', (t) => {
    t.strictSame(builtInChanges(bundle('(() => {'), 'bundle.js', positions), [
      { target: 'Array.prototype.last', place: 'plugins/own.ts:15:5' },
      { target: 'Math.random', place: 'plugins/own.ts:18:12' },
    ]);
    t.strictSame(builtInChanges(bundle('(() => {"use strict";'), 'bundle.js', positions), []);
    t.end();
  });
});

t.test('a bundle is told from one that exports a handler, in every form that an export may have', async (t) => {
  const folder = new PluginFolder({
    'lib/common.js': 'exports.handler = () => 1;',
    'lib/module.ts': 'export const handler = () => 1; export const other = 2;',
  });
  const compiler = createCompiler({
    root: folder.path,
    sandboxDir: resolve(import.meta.dirname, '../../../../../../../sandbox'),
  });
  t.teardown(async () => {
    await compiler.close();
    folder.remove();
  });
  const exported = async (source: string, name = 'p.ts') => {
    folder.write(name, source);
    const built = await compiler.compile('p', { file: join(folder.path, name), label: `plugins/${name}` });
    if ('status' in built) throw new Error(built.message);
    return exportedInstead(built.code);
  };
  for (const source of [
    'export const handler = () => 1;',
    'export async function handler(context) { return context; }',
    'const run = () => 1; export { run as handler };',
    `export { handler } from './lib/module.ts';`,
    `export * from './lib/module.ts';`,
    `export * from './lib/common.js';`,
    `import { handler } from './lib/common.js'; export { handler };`,
  ]) {
    t.equal(await exported(source), undefined, source);
  }
  t.equal(await exported('module.exports = { handler() {} };', 'p.js'), undefined);
  for (const [source, names] of [
    ['export default () => 1; export const handle = 1;', ['default', 'handle']],
    ['const handler = () => 1; export const other = handler;', ['other']],
    [`export { other } from './lib/module.ts';`, ['other']],
    ['console.log(1);', []],
  ] as const) {
    t.strictSame(await exported(source), names, source);
  }
});

t.test('what only running it can tell is let through', (t) => {
  t.equal(exportedInstead('var __isolayer_plugin__ = make("handler");'), undefined);
  t.strictSame(exportedInstead('var __isolayer_plugin__ = 1;'), []);
  t.end();
});
