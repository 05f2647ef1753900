/** The first commands of a plugin author, typed against a running service. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { runTyped } from '../support/command.ts';
import { composeService } from '../support/composed-service.ts';
import { eventually } from '../support/eventually.ts';
import { createWorkspace } from '../support/workspace.ts';

t.test(
  'new plugin, call, edit, type error, check, failing call with its place, test',
  { timeout: 200_000 },
  async (t) => {
    const began = performance.now();
    const workspace = await createWorkspace({
      rpcUrl: 'http://127.0.0.1:9',
      plugins: [{ id: 'other', path: 'other.ts' }],
      pluginFiles: { 'other.ts': 'export const handler = () => 1;' },
    });
    t.teardown(() => workspace.remove());
    const service = await composeService(workspace.env);
    t.teardown(() => service.stop());
    const there = ['--url', service.url, '--key', service.apiKey];
    const typed = (...words: string[]) => runTyped(workspace.dir, ['plugin', ...words], workspace.env);
    const call = (params: unknown) => typed('call', 'greeter', JSON.stringify(params), ...there);
    const called = (params: unknown, wanted: (answer: Awaited<ReturnType<typeof call>>) => boolean) =>
      eventually(() => call(params), wanted, 30_000);

    const made = await typed('new', 'greeter');
    t.equal(made.code, 0, made.complained);
    const file = join(workspace.env['PLUGINS_DIR'] ?? '', 'greeter.ts');
    const first = await called({ name: 'you' }, ({ code }) => code === 0);
    t.match(first.said, /^200\n[^]*"greeting": "Hello, you!"/);
    t.match(await typed('check', 'greeter'), { code: 0, said: /plugin greeter: greeter\.ts compiles[^]*types: ok/ });

    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('`Hello, ${name}!`', '`Good day, ${name.length.first}!`'));
    const wrong = await typed('check', 'greeter');
    t.equal(wrong.code, 1);
    t.match(wrong.complained, /^greeter\.ts\(10,\d+\): error TS2339: Property 'first' does not exist on type 'number'/);

    await writeFile(file, text.replace('return {', 'JSON.parse(name);\n  return {'));
    const failed = await called({ name: 'x{' }, ({ said }) => said.startsWith('500'));
    t.match(failed.said, /"code": "SYNTAX_ERROR"/);
    t.match(failed.complained, /error: Uncaught SyntaxError: [^]*at handler \(plugins\/greeter\.ts:10:8\)/);
    t.match((await typed('logs', 'greeter', ...there)).said, /plugins\/greeter\.ts:10:8/);

    await writeFile(file, text);
    const tested = await typed('test', 'greeter');
    t.equal(tested.code, 0, tested.complained);
    t.match(tested.said, /✔ it greets the caller[^]*pass 2[^]*fail 0/);

    const bench = await typed('bench', 'greeter', '{"name":"1"}', '--calls', '50', ...there);
    t.match(bench, { code: 0, said: /^50 calls, 8 at once: \d+ a second, 0 failed/ });
    t.ok(performance.now() - began < 120_000, 'within two minutes');
  },
);
