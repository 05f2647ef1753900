import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, parse, resolve } from 'node:path';
import { runInNewContext } from 'node:vm';
import { inflateRawSync } from 'node:zlib';
import t from 'tap';
import { createCompiler } from '../../../../host/compiler/compiler.ts';
import { LAZY_MODULE_MARKER } from '../../../../protocol.ts';
import { PluginFolder } from '../../../support/plugin-folder.ts';

const folder = new PluginFolder();
const sandboxDir = resolve(import.meta.dirname, '../../../..');
const compiler = createCompiler({ root: folder.path, sandboxDir });
t.teardown(async () => {
  await compiler.close();
  folder.remove();
});

async function compile(name: string, text: string) {
  folder.write(name, text);
  return compiler.compile(name, { file: join(folder.path, name), label: `plugins/${name}` });
}

t.test('a bundle leaves the exports on its global and maps its stack to the source', async (t) => {
  folder.write(
    'lib/thrower.ts',
    'type Unused = string;\n\nexport function fail(): never {\n  throw new Error("boom");\n}\n',
  );
  const bundle = await compile(
    'a.ts',
    `import { fail } from './lib/thrower.ts';\nexport const handler = (n: number) => (n > 1 ? fail() : n);\n`,
  );
  if ('status' in bundle) return t.fail(bundle.message);
  const world: { __isolayer_plugin__?: { handler(n: number): number } } = {};
  runInNewContext(bundle.code, world, { filename: 'plugins/a.ts' });
  t.equal(world.__isolayer_plugin__?.handler(1), 1);
  let stack = '';
  try {
    world.__isolayer_plugin__?.handler(2);
  } catch (error) {
    stack = bundle.positions.mapped((error as Error).stack ?? '');
  }
  t.match(stack, 'plugins/lib/thrower.ts:4:9');
  t.match(stack, 'plugins/a.ts:2:');
  t.ok(bundle.bytes > bundle.code.length, 'the map takes room as well');
  t.same([...bundle.inputs].sort(), [join(folder.path, 'a.ts'), join(folder.path, 'lib/thrower.ts')]);
});

t.test('what does not compile names file, line, column and text', async (t) => {
  t.match(await compile('broken.ts', 'export function handler() {\n  return 1 +;\n}\n'), {
    code: 'COMPILE_ERROR',
    status: 500,
    message: 'Compilation failed: plugins/broken.ts:2:13: Unexpected ";"',
    details: { pluginId: 'broken.ts', file: 'plugins/broken.ts', line: 2, column: 13 },
  });
  t.match(await compile('node.ts', `import net from 'node:net';\nexport const handler = () => net;`), {
    message: /plugins\/node\.ts:1:17: Cannot import "node:net"/,
  });
  t.match(await compile('await.ts', 'await Promise.resolve();\nexport const handler = 1;'), {
    message: /plugins\/await\.ts:1:1: Top-level await/,
  });
});

t.test('a package with a map for browsers does without Node', async (t) => {
  const own = 'node_modules/two-worlds';
  const browser = { crypto: false, './random-node.js': './random-browser.js' };
  folder.write(`${own}/package.json`, JSON.stringify({ name: 'two-worlds', main: 'index.js', browser }));
  folder.write(`${own}/index.js`, `require('crypto'); exports.random = require('./random-node.js').random;`);
  folder.write(`${own}/random-node.js`, `exports.random = () => require('crypto').randomBytes(1);`);
  folder.write(`${own}/random-browser.js`, `exports.random = () => [process.env.NODE_ENV, 4];`);
  const bundle = await compile('worldly.ts', `import { random } from 'two-worlds';\nexport const handler = random;`);
  if ('status' in bundle) return t.fail(bundle.message);
  const world: { __isolayer_plugin__?: { handler(): unknown }; process: unknown } = {
    process: { env: { NODE_ENV: 'as granted' } },
  };
  runInNewContext(bundle.code, world);
  t.same(world.__isolayer_plugin__?.handler(), ['as granted', 4]);
});

t.test('the paths of a tsconfig lead to files of the folder, and a change of it makes another bundle', async (t) => {
  folder.write('tsconfig.json', '{"compilerOptions":{"paths":{"mine":["./lib/mine.ts"],"theirs":["../out.ts"]}}}');
  folder.write('lib/mine.ts', 'export default 4711;');
  const bundle = await compile('paths.ts', `import s from 'mine';\nexport const handler = () => s;`);
  if ('status' in bundle) return t.fail(bundle.message);
  t.match(bundle.code, '4711');
  t.ok(bundle.inputs.has(join(folder.path, 'tsconfig.json')));
  t.match(await compile('paths.ts', `import s from 'theirs';\nexport const handler = () => s;`), {
    message: /Could not resolve "theirs"/,
  });
});

t.test('a bundle beyond the limit is refused', async (t) => {
  folder.write('big.json', `["${'x'.repeat(10 * 1_048_576)}"]`);
  t.match(await compile('big.ts', `import big from './big.json';\nexport const handler = () => big;`), {
    code: 'SIZE_LIMIT',
    message: /The bundle of plugins\/big\.ts has \d+ bytes/,
  });
});

t.test('of very many imports that lead nowhere, in a long line, few become errors', async (t) => {
  const imports = Array.from({ length: 1200 }, (_, index) => `import"q${index}";`).join('');
  const failed = await compile('many.ts', `/*${'x'.repeat(500_000)}*/${imports}export const handler = 1;`);
  t.match(failed, { code: 'COMPILE_ERROR', message: /Could not resolve "q\d+"\n(.*\n){4}and \d\d? more$/ });
  t.match(await compile('named.ts', `import "${'x'.repeat(100_000)}";`), { message: /^[^]{400,2000}$/ });
  folder.write('node_modules/there/index.js', 'export default "found";');
  const optional = Array.from({ length: 60 }, (_, index) => `try{require("o${index}")}catch{}`).join('');
  const found = `import x from'there';import y from'./many-lib.ts';${optional}export const handler=()=>[x,y];`;
  folder.write('many-lib.ts', 'export default "own";');
  t.match(await compile('optional.ts', `/*${'x'.repeat(500_000)}*/${found}`), { code: /own[^]*__require\("o59"\)/ });
});

t.test(
  'code with very many errors, each with its long line, ends at the memory of the bundler',
  { timeout: 120_000 },
  async (t) => {
    if (process.platform !== 'linux') return void t.pass('this system does not tell');
    const frugal = createCompiler({ root: folder.path, sandboxDir, memoryBytes: 400 * 1_048_576 });
    t.teardown(() => frugal.close());
    folder.write('wrong.ts', 'let a;'.repeat(7000));
    const source = { file: join(folder.path, 'wrong.ts'), label: 'plugins/wrong.ts' };
    const failed = await frugal.compile('wrong', source);
    t.match(failed, {
      code: 'COMPILE_ERROR',
      message: /^Compilation failed: the bundler took more than 400 MiB of memory over it/,
    });
    t.equal(await frugal.compile('wrong', source), failed, 'it is not tried again as long as it is the same');
    folder.write('wrong.ts', 'let a;let a;');
    t.match(await frugal.compile('wrong', source), { message: /wrong\.ts:1:11: The symbol "a" has already been decl/ });
  },
);

t.test('a build that its bundler is closed over is not held against the plugin', async (t) => {
  const closing = createCompiler({ root: folder.path, sandboxDir });
  t.teardown(() => closing.close());
  folder.write('closed.ts', 'export const handler = () => "closed";');
  const source = { file: join(folder.path, 'closed.ts'), label: 'plugins/closed.ts' };
  const building = closing.compile('closed', source);
  // One microtask is enough for the look-up of known builds, because it opens no file here. After it the build has
  // begun.
  await Promise.resolve();
  await closing.close();
  t.match(await building, { code: 'COMPILE_ERROR', message: 'Compilation failed: the bundler was closed meanwhile' });
  t.match(await closing.compile('closed', source), { code: /closed/ });
});

t.test(
  'a build that hangs is ended; what is mended or built meanwhile is done at once',
  { timeout: 120_000 },
  async (t) => {
    folder.write('node_modules/hanging/index.js', 'export default 1;');
    folder.write('node_modules/hanging/package.json', '{"main":"./inner"}');
    folder.write('node_modules/hanging/inner/index.js', '');
    execFileSync('mkfifo', [join(folder.path, 'node_modules/hanging/inner/package.json')]);
    t.teardown(() => folder.remove('node_modules/hanging'));
    const impatient = createCompiler({ root: folder.path, sandboxDir, timeoutMs: 4000 });
    t.teardown(() => impatient.close());
    const builds = new Map(
      ['h1.ts', 'h2.ts', 'h3.ts', 'h4.ts'].map((name) => {
        folder.write(name, `import x from 'hanging';\nexport const handler = () => x;`);
        return [name, impatient.compile(name, { file: join(folder.path, name), label: `plugins/${name}` })];
      }),
    );
    const [first, failed] = await Promise.race([...builds].map(async ([name, build]) => [name, await build] as const));
    t.match(failed, { code: 'COMPILE_ERROR', message: /Compilation timed out after 4000ms/ });
    builds.delete(first);
    folder.write('beside.ts', 'export const handler = () => "beside";');
    const beside = impatient.compile('beside.ts', { file: join(folder.path, 'beside.ts'), label: 'plugins/beside.ts' });
    const [unchanged, ...mended] = [...builds.keys()];
    for (const name of mended) folder.write(name, 'export const handler = () => "mended";');
    for (const name of builds.keys()) await impatient.filesChanged(name);
    for (const name of mended) t.match(await builds.get(name), { code: /"mended"/ }, 'mended');
    t.match(await builds.get(unchanged ?? ''), { message: /timed out/ }, 'one whose own files are the same goes on');
    t.match(await beside, { code: /beside/ });
    await impatient.filesChanged('nobody');
    folder.remove('node_modules/hanging/package.json');
    const again = await impatient.compile(first, { file: join(folder.path, first), label: `plugins/${first}` });
    t.match(again, { code: /handler/ }, 'it is tried again when the package is mended');
  },
);

t.test('the guest runtime and each of its lazy modules is an expression that evaluates to a function', async (t) => {
  const [runtime, ...modules] = (await compiler.runtime()).split(LAZY_MODULE_MARKER);
  t.equal(runInNewContext(`typeof ${runtime}`), 'function');
  // What a lazy module finds when it runs: the global names that always exist, and Node's modules.
  const globals = () => {
    const global: Record<string | symbol, unknown> = {
      process: {},
      Buffer,
      AbortSignal,
      AbortController,
      TextEncoder,
      TextDecoder,
    };
    global[Symbol.for('isolayer.module')] = () => ({ Buffer, EventEmitter: class {} });
    return Object.assign(global, { global });
  };
  const names = modules.map((module) => String(module.split('\n', 1)[0]));
  const files = readdirSync(join(sandboxDir, 'guest', 'lazy')).filter((file) => file.endsWith('.ts'));
  t.strictSame(new Set(names), new Set(files.map((file) => parse(file).name)));
  for (const module of modules) {
    const text = inflateRawSync(Buffer.from(module.slice(module.indexOf('\n')), 'base64')).toString('latin1');
    t.notMatch(text, /[^\0-\x7f]/);
    t.equal(runInNewContext(`typeof ${text}`, globals()), 'function');
  }
});
