/** The types for plugin authors match the world of the plugins, with and without the types of Node. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { findTypeProblems } from '../../src/cli/plugin/check.ts';
import { installTypes } from '../../src/cli/plugin/install-types.ts';
import { openSandbox } from '../../src/cli/testing/sandbox.ts';
import { commandBefore } from '../support/cli-answers.ts';
import { runTyped } from '../support/command.ts';

const root = join(import.meta.dirname, '..', '..');
const guest = join(root, 'sandbox', 'guest', 'types');

/** A plugins folder with only these packages. */
async function pluginsWith(t: Test, packages: readonly string[]): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'isolayer-types-'));
  t.teardown(() => rm(dir, { recursive: true, force: true }));
  const plugins = join(dir, 'plugins');
  await mkdir(join(dir, 'node_modules', '@types'), { recursive: true });
  for (const name of packages) await symlink(join(root, 'node_modules', name), join(dir, 'node_modules', name));
  await installTypes(commandBefore(dir, () => ({ body: {} })).context);
  return plugins;
}

const NAMES = `export const handler = () => ({
  globals: Object.getOwnPropertyNames(globalThis),
  process: Object.getOwnPropertyNames(process),
  errors: Object.getOwnPropertyNames(DOMException),
  array: Object.getOwnPropertyNames(Array),
  subtle: Object.getOwnPropertyNames(SubtleCrypto.prototype),
});`;

const WORLD = `import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { EventEmitter } from 'events';
import { type PluginContext, pluginError } from 'isolayer';

const calls = new AsyncLocalStorage<{ id: string }>();

export async function handler({ headers, query }: PluginContext) {
  await new Promise((resolve) => setTimeout(resolve, 50));
  await new Promise<void>((resolve) => setImmediate(resolve));
  clearInterval(setInterval(() => {}, 5));
  setTimeout((a: number, b: string) => a + b, 5, 1, 'x');
  if (headers['x-a']?.[0] !== query['a']?.[0]) throw pluginError('no', { code: 'NO', status: 401 });
  const answer = await fetch(new URL('https://a.example'), { signal: AbortSignal.timeout(5) });
  const pair = await crypto.subtle.generateKey({ name: 'Ed25519' }, true, ['sign']);
  const key = await crypto.subtle.importKey('raw', new Uint8Array(16), 'AES-GCM', false, ['encrypt']);
  addEventListener('error', (event) => event);
  process.on('exit', () => {});
  process.stdout.write('a');
  const found: string | undefined = new URLPattern({ pathname: '/a/:b' }).exec('https://a/a/b')?.pathname.groups['b'];
  const bytes: Buffer = Buffer.from('a');
  const stream: ReadableStream<number> = new ReadableStream();
  const list: number[] = await Array.fromAsync([1]);
  const hash: string = createHash('sha256').update('a').digest('hex');
  const id: string | undefined = calls.getStore()?.id;
  return [await answer.json(), pair.publicKey.type, key.type, found, bytes.toString('hex'), stream, list, hash, id,
    new EventEmitter(), process.uptime(), process.env['A'], DOMException.ABORT_ERR];
}
`;
const WRONG = `import { AsyncLocalStorage } from 'async_hooks';
export const store: string | undefined = new AsyncLocalStorage<number>().getStore();
setTimeout((given: number) => given, 5, 'x');`;

/** Asserts that valid code type-checks, and that the folder has errors in only the two wrong lines. */
async function assertOnlyWrong(t: Test, plugins: string): Promise<void> {
  await writeFile(join(plugins, 'world.ts'), WORLD);
  await writeFile(join(plugins, 'wrong.ts'), WRONG);
  const { problems } = await findTypeProblems(plugins);
  t.match(problems.join('\n'), /^wrong\.ts\(2,\d+\): error TS2322[^]*^wrong\.ts\(3,\d+\): error TS2/m);
  const others = problems.filter((problem) => /^\w+\.ts\(/.test(problem) && !/^wrong\.ts\([23],/.test(problem));
  t.strictSame(others, []);
}

t.test('every name that a plugin finds has a type, and every type a name', { timeout: 120_000 }, async (t) => {
  const plugins = await pluginsWith(t, []);
  await writeFile(join(plugins, 'names.ts'), NAMES);
  // The first access to some names loads code without a pause, which is slow on a busy machine.
  const limits = { slice_ms: 60_000, cpu_ms: 60_000 };
  const sandbox = await openSandbox({ folder: plugins, entries: [{ id: 'names', limits }] });
  t.teardown(() => sandbox.close());
  let named = await sandbox.call('names');
  // A busy machine needs time for the build.
  while (named.body.data?.code === 'SERVICE_UNAVAILABLE') named = await sandbox.call('names');
  const { globals, ...members } = named.body.data as Record<string, string[]>;
  t.ok(globals !== undefined && globals.length > 120, JSON.stringify(named.body));
  const all = (objects: Record<string, string>) =>
    Object.entries(objects).flatMap(([name, object]) => (members[name] ?? []).map((member) => `${object}.${member}`));
  const objects = { process: 'process', errors: 'DOMException', array: 'Array', subtle: 'SubtleCrypto.prototype' };
  const used = [...(globals ?? []), 'require', ...all(objects)];
  await writeFile(join(plugins, 'used.ts'), used.map((name) => `void ${name};`).join('\n'));
  await assertOnlyWrong(t, plugins);

  const declared: string[] = [];
  for (const file of await readdir(guest)) {
    if (!file.endsWith('.d.ts')) continue;
    const text = await readFile(join(guest, file), 'utf8');
    declared.push(
      ...[...text.matchAll(/^(?:declare|  )? ?(?:var|class|function) (\w+)/gm)].map(([, name = '']) => name),
    );
  }
  t.ok(declared.length > 70);
  t.strictSame(
    declared.filter((name) => name !== 'require' && globals?.includes(name) !== true),
    [],
  );
});

t.test('what authors write has its types beside those of Node', { timeout: 120_000 }, async (t) => {
  await assertOnlyWrong(t, await pluginsWith(t, ['@types/node', 'undici-types']));
});

t.test('nothing that lies in a checkout is in the way of a first plugin', { timeout: 120_000 }, async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'isolayer-checkout-'));
  t.teardown(() => rm(dir, { recursive: true, force: true }));
  for (const path of ['package.json', 'src', 'sandbox', 'config', 'plugins']) {
    await cp(join(root, path), join(dir, path), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(dir, 'node_modules'));
  t.notMatch((await runTyped(dir, ['plugin', 'new', 'greeter'])).said, 'is yours');
  const { code, said, complained } = await runTyped(dir, ['plugin', 'check', 'greeter']);
  t.match({ code, said, complained }, { code: 0, said: /types: ok/, complained: /^$/ });
});
