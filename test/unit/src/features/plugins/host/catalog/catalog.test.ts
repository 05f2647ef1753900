import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DEFAULT_LIMITS, endCodeFailure } from '../../../../../../../sandbox/contract.ts';
import type { Compiler } from '../../../../../../../sandbox/host/compiler/compiler.ts';
import { PluginFolder } from '../../../../../../../sandbox/test/support/plugin-folder.ts';
import { systemClock } from '../../../../../../../src/domain/clock.ts';
import {
  BundleSizeLimit,
  FairWorkLimit,
  PluginCatalog,
  type PluginCatalogDeps,
  pluginsRoot,
} from '../../../../../../../src/features/plugins/host/catalog/catalog.ts';
import { type PluginEntry, pluginEntrySchema } from '../../../../../../../src/features/plugins/records/plugin.ts';
import type { StoredPlugin } from '../../../../../../../src/features/plugins/records/plugin-settings.ts';
import { createLog } from '../../../../../../../src/observability/log.ts';
import { eventually } from '../../../../../../support/eventually.ts';

const HANDLER = '/* handler */';
/** Longer than any test needs. */
const LONG_MS = 60_000;

/** "Compiles" by reading the source: `broken` makes it fail, and `uses <file>` makes that file an input. */
class ReadingCompiler implements Compiler {
  compiled: string[] = [];
  /** Builds of a source with the word `slow` wait for this. */
  readonly slow = Promise.withResolvers<void>();

  async compile(pluginId: string, { file }: { file: string }) {
    this.compiled.push(pluginId);
    const code = await readFile(file, 'utf8');
    if (code.includes('slow')) await this.slow.promise;
    if (code.includes('impossible')) throw new Error('the disk is gone');
    if (code.includes('broken')) return endCodeFailure('COMPILE_ERROR', `Compilation failed: ${pluginId}`);
    const used = [...code.matchAll(/uses (\S+)/g)].map(([, name]) => join(file, '..', name ?? ''));
    // Like bundler output, this has a handler. A source with the words `cut off` has lost it.
    return {
      code: code.includes('cut off') ? code : `${code}${HANDLER}`,
      positions: { mapped: (text: string) => text },
      bytes: code.length,
      inputs: new Set([file, ...used]),
    };
  }

  /** The plugins for which `filesChanged` was called, in order. */
  told: string[] = [];
  filesChanged = (pluginId: string) => {
    this.told.push(pluginId);
    return Promise.resolve();
  };
  runtime = () => Promise.resolve('');
  child = () => Promise.resolve('');
  close = () => Promise.resolve();
}

function setUp(
  t: Test,
  files: Record<string, string>,
  entries: PluginEntry[] = [],
  limits: Pick<PluginCatalogDeps, 'placeMs' | 'mostBytes'> = {},
) {
  const folder = new PluginFolder(files);
  const compiler = new ReadingCompiler();
  const lines: string[] = [];
  /** Whether the plugin has processes, and the versions that they were asked to try. */
  const processes = { present: false, tried: [] as string[] };
  const begun: string[] = [];
  const gone: string[] = [];
  const made = new Map<string, StoredPlugin>();
  const catalog = new PluginCatalog({
    entries,
    root: folder.path,
    compiler,
    environment: () => undefined,
    log: createLog('debug', { write: (line) => lines.push(line) }),
    clock: systemClock,
    tryOut: ({ version }) => {
      if (processes.present) processes.tried.push(version);
      return processes.present;
    },
    serves: (pluginId) => begun.push(pluginId),
    gone: (pluginId) => gone.push(pluginId),
    settings: (pluginId) => made.get(pluginId),
    watch: { debounceMs: 5, pollMs: 50 },
    ...limits,
  });
  t.teardown(async () => {
    await catalog.close();
    await catalog.close();
    folder.remove();
  });
  return { folder, compiler, lines, catalog, processes, begun, gone, made };
}

const states = (catalog: PluginCatalog) =>
  catalog
    .list()
    .map(({ entry, serving, failure }) => `${entry.id} ${serving ? 'serves' : '-'} ${failure?.code ?? '-'}`);

t.test(
  'what is in the folder and in the entries is compiled; one that fails does not hold up the others',
  async (t) => {
    const entry = pluginEntrySchema.parse({ id: 'declared', path: 'missing.ts' });
    const { catalog, lines } = setUp(t, { 'a.ts': 'a', 'b.ts': 'broken', 'c d.ts': 'x' }, [entry]);
    await catalog.start(LONG_MS);
    t.same(states(catalog).sort(), ['a serves -', 'b - COMPILE_ERROR', 'declared - FILE_NOT_FOUND']);
    t.match(catalog.get('declared')?.failure?.message, 'File not found: plugins/missing.ts');
    t.equal(catalog.get('nope'), undefined);
    t.match(lines.join(), 'a plugin is broken');
    t.match(lines.join(), 'a file in the plugins folder is no plugin');
  },
);

t.test('what clients make of a plugin counts without a build, and a reload builds what did not change', async (t) => {
  const { catalog, compiler, folder, made, gone } = setUp(t, { 'a.ts': 'a' });
  made.set('a', { pluginId: 'a', settings: { timeout: 5 }, isDisabled: false, declared: {} });
  await catalog.start(LONG_MS);
  t.match(catalog.get('a'), { entry: { timeout: 5 }, declared: { timeout: 300 } });
  made.set('a', { pluginId: 'a', settings: {}, isDisabled: true, declared: {} });
  catalog.applySettings();
  t.match(catalog.get('a'), { entry: { timeout: 300 }, isDisabled: true });
  t.strictSame(compiler.compiled, ['a']);
  await catalog.reload('a');
  t.strictSame(compiler.compiled, ['a', 'a']);
  t.match(catalog.get('a'), { isDisabled: true });
  await catalog.reload('nobody');
  folder.remove('a.ts');
  await eventually(
    () => gone,
    ([id]) => id === 'a',
  );
  t.strictSame(gone, ['a']);
});

t.test('other entries count at once by what they allow, and by the rest when it is built', async (t) => {
  const entryOf = (fields: object) => pluginEntrySchema.parse({ id: 'a', path: 'a.ts', ...fields });
  const { catalog, compiler, gone } = setUp(t, { 'a.ts': 'a', 'inner/x.ts': 'x', 'b.ts': 'slow' });
  compiler.slow.resolve();
  await catalog.start(LONG_MS);
  const first = catalog.get('a')?.serving?.version.version;
  const declared = catalog.declare([entryOf({ permissions: {}, timeout: 7 })], new Set(['a']));
  t.match(catalog.get('a'), { entry: { timeout: 7, permissions: { relayers: {} } } }, 'before anything is built');
  await declared;
  t.strictSame(compiler.compiled.toSorted(), ['a', 'a', 'b'], 'those of others are not built again');
  t.equal(catalog.get('a')?.serving?.version.version, first, 'the same version');

  await catalog.declare(
    [entryOf({ limits: { memory_mb: 64 } }), entryOf({ id: 'x', path: 'inner/x.ts' })],
    new Set(['a', 'x']),
  );
  t.match(catalog.get('a')?.serving?.version.limits, { memory_mb: 64 });
  t.ok(catalog.get('x')?.serving);

  await catalog.declare([], new Set(['a', 'x']));
  t.match(catalog.get('a'), { entry: { timeout: 300 } }, 'as one that was dropped in');
  await eventually(
    () => gone,
    ([id]) => id === 'x',
  );
  t.equal(catalog.get('x'), undefined);
});

t.test('what was built of an entry that says something else by now is built again', async (t) => {
  const entryOf = (timeout: number) => pluginEntrySchema.parse({ id: 'a', path: 'a.ts', timeout });
  const { catalog, compiler } = setUp(t, { 'a.ts': 'slow' }, [entryOf(1)]);
  const started = catalog.start(LONG_MS);
  await eventually(
    () => compiler.compiled.length,
    (builds) => builds === 1,
  );
  const declared = catalog.declare([entryOf(2)], new Set(['a']));
  compiler.slow.resolve();
  await Promise.all([started, declared]);
  t.match(catalog.get('a'), { entry: { timeout: 2 } });
  t.ok(catalog.get('a')?.serving);
});

t.test('a start waits for builds only so long; one that takes longer serves when it is done', async (t) => {
  const { catalog, compiler } = setUp(t, { 'a.ts': 'slow', 'b.ts': 'b', 'c.ts': 'slow broken' });
  await catalog.start(200);
  t.same(states(catalog), ['a - -', 'b serves -', 'c - -']);
  compiler.slow.resolve();
  await eventually(
    () => states(catalog),
    ([a, , c]) => a === 'a serves -' && c !== 'c - -',
  );
  t.same(states(catalog), ['a serves -', 'b serves -', 'c - COMPILE_ERROR']);
});

t.test('builds that take long hold up neither those of others nor what is saved meanwhile', async (t) => {
  const slow = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((id) => [`${id}.ts`, 'slow']));
  const { catalog, compiler, folder } = setUp(t, { ...slow, 'z.ts': 'z' }, [], { placeMs: 20 });
  const started = catalog.start(LONG_MS).then(() => 'started');
  const served = (id: string) => catalog.get(id)?.serving?.version.code;
  const serves = (id: string, code: string) =>
    eventually(
      () => served(id),
      (now) => now === code + HANDLER,
    );
  t.equal(await serves('z', 'z'), `z${HANDLER}`);
  folder.write('z.ts', 'edited');
  folder.write('a.ts', 'slow, and edited');
  t.equal(await serves('z', 'edited'), `edited${HANDLER}`);
  folder.remove('b.ts');
  await eventually(
    () => catalog.get('b'),
    (plugin) => plugin === undefined,
  );
  t.equal(compiler.compiled.filter((id) => id === 'a').length, 1, 'what is being compiled is not begun again');
  t.ok(compiler.told.includes('a'), 'but the build is told');
  t.notOk(compiler.told.includes('z'));
  t.equal(await Promise.race([started, Promise.resolve('waiting')]), 'waiting', 'a start has more patience');
  compiler.slow.resolve();
  t.equal(await started, 'started');
  t.equal(await serves('f', 'slow'), `slow${HANDLER}`);
  t.equal(await serves('a', 'slow, and edited'), `slow, and edited${HANDLER}`);
  t.equal(compiler.compiled.filter((id) => id === 'a').length, 2, 'but when it is done');
  t.equal(catalog.get('b'), undefined, 'what is gone does not come back');
});

t.test('a bundle for which there is no room beside the others is refused, and they serve on', async (t) => {
  const files = { 'a.ts': 'a'.repeat(10), 'b.ts': 'b'.repeat(10) };
  const { catalog, compiler, folder } = setUp(t, files, [], { mostBytes: 30 });
  await catalog.start(LONG_MS);
  t.same(states(catalog), ['a serves -', 'b serves -']);
  const first = catalog.get('a')?.serving;
  const standing = (wanted: string[]) =>
    eventually(
      () => states(catalog),
      (now) => now.join() === wanted.join(),
    );

  folder.write('a.ts', 'a'.repeat(21));
  t.same(await standing(['a serves SIZE_LIMIT', 'b serves -']), ['a serves SIZE_LIMIT', 'b serves -']);
  t.equal(catalog.get('a')?.serving, first);
  t.match(catalog.get('a')?.failure, {
    message:
      'The bundle of plugins/a.ts has 21 bytes with its source map, and those of the other plugins 10: together more than 30',
    status: 500,
    details: { pluginId: 'a', file: 'plugins/a.ts' },
  });
  folder.write('a.ts', 'a'.repeat(20));
  t.same(await standing(['a serves -', 'b serves -']), ['a serves -', 'b serves -'], 'up to the last byte');
  // Until processes have loaded the new version, the one before it is kept and counted too.
  catalog.loaded('a', catalog.get('a')?.serving?.version.version ?? '', null);
  folder.write('c.ts', 'c');
  t.same((await standing(['a serves -', 'b serves -', 'c - SIZE_LIMIT']))[2], 'c - SIZE_LIMIT');
  folder.write('b.ts', 'B'.repeat(10));
  await eventually(
    () => catalog.get('b')?.serving?.version.code,
    (code) => code?.startsWith('B') === true,
  );
  t.equal(compiler.compiled.filter((id) => id === 'c').length, 1, 'it is not compiled again in vain');
  folder.remove('b.ts');
  t.same(await standing(['a serves -', 'c serves -']), ['a serves -', 'c serves -'], 'there is room again');
});

t.test('a build that cannot be made at all is a failure like others, and the log says why', async (t) => {
  const { catalog, lines } = setUp(t, { 'a.ts': 'impossible', 'b.ts': 'b' });
  await catalog.start(LONG_MS);
  t.same(states(catalog), ['a - COMPILE_ERROR', 'b serves -']);
  t.match(lines.join(), 'the disk is gone');
});

t.test('new, changed and removed plugins are picked up, imported files included', async (t) => {
  const { catalog, compiler, folder } = setUp(t, { 'a.ts': 'uses lib/x', 'b.ts': 'b', 'lib/x': '1' });
  await catalog.start(LONG_MS);
  const version = (id: string) => catalog.get(id)?.serving?.version.version;
  const [a, b] = [version('a'), version('b')];
  compiler.compiled = [];

  folder.write('lib/x', 'changed');
  await eventually(
    () => compiler.compiled.length,
    (count) => count > 0,
  );
  t.same(compiler.compiled, ['a'], 'only what uses the file');
  t.equal(version('a'), a, 'the same bundle is the same version');

  folder.write('b.ts', 'bb');
  t.not(
    await eventually(
      () => version('b'),
      (now) => now !== b,
    ),
    b,
  );
  folder.write('new.ts', 'n');
  t.ok(
    await eventually(
      () => version('new'),
      (now) => now !== undefined,
    ),
  );
  folder.remove('new.ts');
  t.equal(
    await eventually(
      () => catalog.get('new'),
      (now) => now === undefined,
    ),
    undefined,
  );
});

t.test('a version that does not compile leaves the old one serving, until it is mended', async (t) => {
  const { catalog, folder, lines, begun } = setUp(t, { 'a.ts': 'first' });
  await catalog.start(LONG_MS);
  const first = catalog.get('a')?.serving?.version.version;
  folder.write('a.ts', 'broken');
  await eventually(
    () => catalog.get('a')?.failure,
    (failure) => failure !== undefined,
  );
  t.equal(catalog.get('a')?.serving?.version.version, first);
  t.match(lines.join(), 'the old one keeps serving');
  t.same(begun, ['a'], 'the first one');
  folder.write('a.ts', 'third');
  await eventually(
    () => catalog.get('a')?.failure,
    (failure) => failure === undefined,
  );
  t.not(catalog.get('a')?.serving?.version.version, first);
  t.same(begun, ['a', 'a'], 'who served anew is told');
});

t.test('a folder that is not there is empty', async (t) => {
  t.equal(await pluginsRoot('/nowhere/plugins'), '/nowhere/plugins');
  const { catalog, folder } = setUp(t, {});
  t.equal(await pluginsRoot(folder.path), folder.path);
  folder.remove();
  await catalog.start(LONG_MS);
  t.same(catalog.list(), []);
});

t.test('a file that is away for a moment takes nothing away', async (t) => {
  const { catalog, compiler, folder, lines } = setUp(t, { 'a.ts': 'first', 'b.ts': 'b' });
  await catalog.start(LONG_MS);
  const first = catalog.get('a')?.serving;
  compiler.compiled = [];
  folder.remove('a.ts');
  folder.write('b.ts', 'changed');
  await eventually(
    () => compiler.compiled.includes('b'),
    (isRead) => isRead,
  );
  t.equal(catalog.get('a')?.serving, first, 'the folder was read without it');
  folder.write('a.ts', 'second');
  await eventually(
    () => catalog.get('a')?.serving,
    (serving) => serving !== first,
  );
  t.not(catalog.get('a')?.serving, first);
  t.notMatch(lines.join(), 'a plugin was removed');
});

t.test('a new version serves once a process has loaded it', async (t) => {
  const { catalog, folder, lines, processes, begun } = setUp(t, { 'a.ts': 'first' });
  await catalog.start(LONG_MS);
  const serves = () => catalog.get('a')?.serving?.version.code.replace(HANDLER, '');
  const tried = async (count: number) =>
    (
      await eventually(
        () => processes.tried,
        ({ length }) => length === count,
      )
    ).at(-1) ?? '';
  processes.present = true;
  folder.write('a.ts', 'second');
  const second = await tried(1);
  t.equal(serves(), 'first');
  t.equal(catalog.loaded('a', second, null), true);
  t.equal(serves(), 'second');

  folder.write('a.ts', 'third');
  const outcome = { kind: 'threw', message: 'no such entry', code: 'TYPE_ERROR', status: 500, details: '{}' } as const;
  const failure = { outcome, report: 'Uncaught TypeError: no such entry\n    at f' };
  t.equal(catalog.loaded('a', await tried(2), failure), false);
  t.equal(serves(), 'second');
  t.match(catalog.get('a')?.failure, { code: 'TYPE_ERROR', message: 'no such entry' });
  t.match(
    lines.join(),
    /no such entry.*"stack":"Uncaught TypeError: no such entry\\n    at f".*the old one keeps serving/,
  );
  catalog.lost('a', 'no such version', true);
  catalog.lost('b', 'no such plugin', true);
  t.equal(catalog.loaded('b', 'any', null), true, 'of a plugin that is gone nothing is known');

  folder.write('a.ts', 'fourth');
  const fourth = await tried(3);
  const begunBefore = begun.length;
  processes.present = false;
  catalog.lost('a', fourth, true);
  t.equal(serves(), 'fourth', 'there is no process left that could try it out, so the next one does');
  t.equal(begun.length, begunBefore + 1, 'which is told as well');

  processes.present = true;
  folder.write('a.ts', 'fifth');
  const fifth = await tried(4);
  await catalog.close();
  processes.present = false;
  catalog.lost('a', fifth, true);
  t.equal(serves(), 'fourth', 'processes that end with the service say nothing of a version');
});

t.test('what changes while it is built is built again', async (t) => {
  const { catalog, compiler, folder } = setUp(t, { 'a.ts': 'uses lib/x', 'lib/x': '1' });
  await catalog.start(LONG_MS);
  const serves = () => catalog.get('a')?.serving?.version.code.replace(HANDLER, '');
  const seen: (string | undefined)[] = [];
  const compile = compiler.compile.bind(compiler);
  compiler.compile = async (id, source) => {
    const built = await compile(id, source);
    if (compiler.compiled.length === 2) folder.write('lib/x', 'changed once more');
    seen.push(serves());
    return built;
  };
  folder.write('a.ts', 'uses lib/x again');
  await eventually(serves, (code) => code === 'uses lib/x again');
  t.equal(serves(), 'uses lib/x again');
  t.strictSame(seen, ['uses lib/x', 'uses lib/x'], 'the first build served nobody');
});

t.test('a file without a handler is broken, and the version before it serves on', async (t) => {
  const { catalog, folder, lines } = setUp(t, { 'a.ts': 'first', 'b.ts': 'cut off' });
  await catalog.start(LONG_MS);
  const first = catalog.get('a')?.serving;
  t.match(catalog.get('b'), { serving: { version: { pluginId: 'b' } }, failure: { code: 'PLUGIN_ERROR' } });
  t.match(lines.join(), /"pluginId":"b".*"hint":"export it as `handler`;.*a plugin is broken/);
  folder.write('a.ts', 'cut off');
  await eventually(
    () => catalog.get('a')?.failure,
    (failure) => failure !== undefined,
  );
  t.match(catalog.get('a')?.failure, { code: 'PLUGIN_ERROR', message: 'Plugin must export a handler function' });
  t.equal(catalog.get('a')?.serving, first);
});

t.test('build places', async (t) => {
  /** Work that ends when the test says so. */
  function work(begun: string[], name: string) {
    const end = Promise.withResolvers<void>();
    const run = () => {
      begun.push(name);
      return end.promise;
    };
    return { run, end };
  }

  t.test('only so much is done at once, in the order in which it came', async (t) => {
    const places = new FairWorkLimit(2, 60_000);
    const begun: string[] = [];
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => work(begun, name));
    if (a === undefined || b === undefined || c === undefined || d === undefined) return t.fail('no work');
    const ends = [a, b, c, d].map(({ run }) => places.take(run));
    t.strictSame(begun, ['a', 'b']);
    b.end.resolve();
    t.equal(await ends[1], undefined);
    await Promise.resolve();
    t.strictSame(begun, ['a', 'b', 'c']);
    c.end.reject(new Error('no'));
    await t.rejects(Promise.all(ends.slice(2, 3)), { message: 'no' });
    await Promise.resolve();
    t.strictSame(begun, ['a', 'b', 'c', 'd'], 'what fails gives its place back as well');
    for (const { end } of [a, d]) end.resolve();
    await Promise.all([ends[0], ends[3]]);
    await places.take(async () => void begun.push('e'));
    t.strictSame(begun, ['a', 'b', 'c', 'd', 'e']);
  });

  t.test('what takes long gives up its place and goes on', async (t) => {
    const places = new FairWorkLimit(1, 20);
    const begun: string[] = [];
    const slow = work(begun, 'slow');
    const taken = places.take(slow.run);
    const quick = places.take(async () => void begun.push('quick'));
    const left = await taken;
    await quick;
    t.strictSame(begun, ['slow', 'quick']);
    slow.end.resolve();
    t.equal(await left?.rest, undefined);
    await t.rejects(
      places.take(() => {
        throw new Error('not even begun');
      }),
      { message: 'not even begun' },
    );
    await places.take(async () => void begun.push('last'));
    t.strictSame(begun, ['slow', 'quick', 'last'], 'its place was given away once');
  });
});

/** Threat: many plugins whose bundles are each within the limit, but together fill the server's memory. */
t.test('bundle room', async (t) => {
  const built = (bytes: number, pluginId = 'p') => ({
    version: {
      pluginId,
      version: 'v',
      code: '',
      filename: `plugins/${pluginId}.ts`,
      env: {},
      limits: DEFAULT_LIMITS,
      isolation: 'plugin' as const,
    },
    positions: { mapped: (text: string) => text },
    bytes,
    inputs: new Set([`/${pluginId}.ts`]),
    since: 1,
    reads: { environment: [], fetches: false, hosts: [] },
  });

  t.test('there is room up to the last byte', (t) => {
    const room = new BundleSizeLimit(100);
    t.equal(room.refusal(built(40), 60), undefined);
    t.equal(room.filesOfRefused('p', 60), undefined);
    t.match(room.refusal(built(41), 60), {
      code: 'SIZE_LIMIT',
      status: 500,
      message: /^The bundle of plugins\/p\.ts has 41 bytes .* other plugins 60: together more than 100$/,
      details: { pluginId: 'p', file: 'plugins/p.ts' },
    });
    t.end();
  });

  t.test('what was refused is known by its files until there is room, or something else', (t) => {
    const room = new BundleSizeLimit(100);
    room.refusal(built(41), 60);
    t.strictSame(room.filesOfRefused('p', 60), new Set(['/p.ts']));
    t.equal(room.filesOfRefused('p', 59), undefined);
    t.equal(room.filesOfRefused('q', 60), undefined);
    room.refusal(built(39), 60);
    t.equal(room.filesOfRefused('p', 90), undefined);
    room.refusal(built(41), 60);
    room.forget('p');
    t.equal(room.filesOfRefused('p', 60), undefined);
    t.end();
  });
});
