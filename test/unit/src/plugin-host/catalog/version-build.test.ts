import { readFile } from 'node:fs/promises';
import t, { type Test } from 'tap';
import type { Compiler } from '../../../../../sandbox/host/compiler/compiler.ts';
import { ended } from '../../../../../sandbox/host/surroundings.ts';
import { type PluginEntry, pluginEntrySchema } from '../../../../../src/domain/plugin.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import { buildVersion } from '../../../../../src/plugin-host/catalog/version-build.ts';
import { PluginFolder } from '../../../../support/plugin-host.ts';

/** "Compiles" by reading the source: `broken` makes it fail, and `impossible` makes the compiler itself throw. */
const compiler: Compiler = {
  async compile(pluginId, { file }) {
    const code = await readFile(file, 'utf8');
    if (code.includes('impossible')) throw new Error('the disk is gone');
    if (code.includes('broken')) return ended('COMPILE_ERROR', `Compilation failed: ${pluginId}`);
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
