import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import {
  benchPlugin,
  callPlugin,
  findService,
  formatCallLogs,
  loggedCalls,
  showLogs,
} from '../../../../src/cli/plugin/calls.ts';
import { newPlugin } from '../../../../src/cli/plugin/new-plugin.ts';
import { testPlugins } from '../../../../src/cli/plugin/plugin.ts';
import { commandBefore, given } from '../../../support/cli-answers.ts';
import { runTyped } from '../../../support/command.ts';

t.test('actions are found, guessed and described', async (t) => {
  const dir = t.testdir({});
  const help = await runTyped(dir, ['plugin', '--help']);
  t.equal(help.code, 0);
  for (const name of ['new', 'check', 'types', 'call', 'logs', 'bench']) t.match(help.said, `plugin ${name}`);
  t.match(await runTyped(dir, ['plugin', 'chek']), {
    code: 1,
    complained: 'There is no plugin command "chek". Did you mean check?',
  });
  t.match((await runTyped(dir, ['plugin', 'xyzzy'])).complained, 'Say new, check');
  t.match(await runTyped(dir, ['plugin', 'call']), { code: 1, complained: /It is: plugin call <id>/ });
  t.match(await runTyped(dir, ['plugin', 'new', 'mine']), { code: 0, said: /Written: plugins\/mine\.ts/ });
});

t.test('a plugin is written once', async (t) => {
  const dir = t.testdir({});
  const { context, said } = commandBefore(dir, () => ({ body: {} }));
  t.equal(await newPlugin(context, given(['hello'])), 0);
  t.match(readFileSync(join(dir, 'plugins', 'hello.ts'), 'utf8'), 'POST /api/v1/plugins/hello/call');
  t.match(
    said(),
    /Written: plugins\/hello\.ts\nWritten: plugins\/hello\.test\.ts\n[^]*npx isolayer plugin call hello[^]*npx isolayer plugin test hello/,
  );
  await t.rejects(newPlugin(context, given(['hello'])), /exists; it is not overwritten/);
  for (const id of ['', '_own', '.own', '../x', 'a b']) {
    await t.rejects(newPlugin(context, given([id])), /is not a valid plugin id/, id);
  }
});

t.test('a call shows its answer', async (t) => {
  const { context, seen, said } = commandBefore(t.testdir({}), () => ({ body: { success: true, data: 5 } }));
  t.equal(await callPlugin(context, given(['p', '{"a":1}'], { route: 'x/y' })), 0);
  t.match(seen[0], { method: 'POST', path: '/api/v1/plugins/p/call/x/y', body: { params: { a: 1 } } });
  t.match(said(), /^200\n\{\n {2}"success": true/);
  await callPlugin(context, given(['p'], {}, ['get']));
  t.match(seen[1], { method: 'GET', path: '/api/v1/plugins/p/call', body: null });
  await t.rejects(callPlugin(context, given(['p', '{a'])), /not valid JSON/);
});

t.test('a call that fails shows what it wrote', async (t) => {
  const logged = {
    request_id: 'req-1',
    at: 'now',
    outcome: 'threw',
    duration_ms: 1,
    logs: [{ level: 'error', message: 'Uncaught Error: no\\n    at handler (plugins/p.ts:3:9)' }],
  };
  const { context, complained } = commandBefore(t.testdir({}), ({ path }) =>
    path.endsWith('/logs') ? { body: { data: [logged] } } : { status: 500, body: { success: false } },
  );
  t.equal(await callPlugin(context, given(['p'])), 1);
  t.match(complained(), 'at handler (plugins/p.ts:3:9)');
});

t.test('many calls come to figures', async (t) => {
  let made = 0;
  const { context, said } = commandBefore(t.testdir({}), () => ({ status: ++made === 7 ? 500 : 200, body: {} }));
  t.equal(await benchPlugin(context, given(['p'], { calls: '10', parallel: '3' })), 1);
  t.equal(made, 10);
  t.match(said(), /^10 calls, 3 at once: \d+ a second, 1 failed\np50 \d+\.\d ms/);
  await t.rejects(benchPlugin(context, given(['p'], { calls: '0' })), /--calls is a whole number/);
});

t.test('last logs', async (t) => {
  const call = (id: string) => ({
    request_id: id,
    key_id: 'k',
    at: '2026-01-01T00:00:00.000Z',
    outcome: 'threw',
    duration_ms: 5,
    logs: [{ level: 'error', message: 'Uncaught Error: no\n    at handler (plugins/p.ts:3:9)' }],
  });

  t.test('the latest call comes last, stacks line by line', async (t) => {
    const { context, said } = commandBefore(t.testdir({}), () => ({ body: { data: [call('late'), call('early')] } }));
    t.equal(await showLogs(context, given(['p'])), 0);
    t.match(said(), /early[^]*at handler \(plugins\/p\.ts:3:9\)[^]*late/);
    t.equal(formatCallLogs(call('x'))[0]?.split('\n').length, 2);
  });

  t.test('a plugin that wrote nothing, and one that there is not', async (t) => {
    const quiet = commandBefore(t.testdir({}), () => ({ body: { data: [] } }));
    await showLogs(quiet.context, given(['p']));
    t.match(quiet.said(), 'No call of p has written a log');
    await t.rejects(
      loggedCalls(async () => ({ status: 404, requestId: '', body: { error: 'no plugin p' } }), 'p'),
      /404.*no plugin p/,
    );
  });
});

t.test('it speaks to the service of the folder, with its key', async (t) => {
  const { context, seen } = commandBefore(
    t.testdir({ data: { 'api-key': 'made-by-the-service\n' } }),
    () => ({ body: { a: 1 } }),
    {},
  );
  const ask = await findService(context, given([]));
  t.strictSame(await ask('/x'), { status: 200, requestId: 'req-1', body: { a: 1 } });
  t.match(seen[0], { method: 'GET', path: '/api/v1/x', authorization: 'Bearer made-by-the-service' });
  const other = await findService(context, given([], { url: 'http://127.0.0.1:1', key: 'own' }));
  await other('/y', { method: 'POST', body: '{"b":2}' });
  t.match(seen[1], { method: 'POST', path: '/api/v1/y', authorization: 'Bearer own', body: { b: 2 } });
});

t.test('what is no JSON is text, and silence names the remedy', async (t) => {
  const plain = commandBefore(t.testdir({}), () => ({ body: 'busy', status: 503 }));
  t.match(await (await findService(plain.context, given([])))('/x'), { status: 503, body: 'busy' });
  const refused = new Error('fetch failed', { cause: new Error('connect ECONNREFUSED') });
  const silent = commandBefore(t.testdir({}), () => refused);
  await t.rejects(
    (await findService(silent.context, given([])))('/x'),
    /No server answers at .*ECONNREFUSED.*npm start/,
  );
});

t.test('test plugins', async (t) => {
  t.test('the tests of one plugin or of all run, wherever the folder lies', { timeout: 120_000 }, async (t) => {
    const dir = await mkdtemp(join(tmpdir(), 'isolayer-tests-'));
    t.teardown(() => rm(dir, { recursive: true, force: true }));
    const { context, said } = commandBefore(dir, () => ({ body: {} }));
    await t.rejects(testPlugins(context, given([])), /No file \*\.test\.ts lies in .*plugins/);
    await newPlugin(context, given(['hello']));
    await t.rejects(testPlugins(context, given(['nobody'])), /Neither nobody\.test\.ts nor a test in nobody\/ lies/);
    const plugins = join(dir, 'plugins');
    const wrong = "import { test } from 'node:test'; test('fails', () => { throw new Error('no'); });";
    writeFileSync(join(plugins, 'wrong.test.ts'), wrong);
    t.equal(await testPlugins(context, given(['hello'])), 0, said());
    t.match(said(), /✔ it greets the caller[^]*pass 2/);
    writeFileSync(join(dir, 'package.json'), '{ "name": "mine", "type": "commonjs" }');
    const { context: typed, said: typedSaid } = commandBefore(dir, () => ({ body: {} }));
    t.equal(await testPlugins(typed, given(['hello'])), 0, typedSaid());
    t.match(typedSaid(), /pass 2/, 'as npm init leaves the folder');
    writeFileSync(
      join(plugins, 'old.test.js'),
      "const { test } = require('node:test'); test('old form passes', () => {});",
    );
    t.equal(await testPlugins(typed, given(['old'])), 0, typedSaid());
    t.match(typedSaid(), /old form passes/);
    rmSync(join(plugins, 'old.test.js'));
    const { context: other, said: otherSaid } = commandBefore(dir, () => ({ body: {} }));
    rmSync(join(plugins, 'hello.test.ts'));
    writeFileSync(join(plugins, 'more.test.ts'), "import { test } from 'node:test'; test('passes', () => {});");
    t.equal(await testPlugins(other, given([])), 1);
    t.match(otherSaid(), /✖ fails[^]*pass 1[^]*fail 1/);
  });

  t.test('the types of the kit name what there is', (t) => {
    const root = join(import.meta.dirname, '../../../../src/cli');
    const read = (file: string) => readFileSync(join(root, file), 'utf8');
    const kit = read('plugin/kit.d.ts');
    for (const [name, file] of [
      ['SandboxOptions', 'testing/sandbox.ts'],
      ['CallOptions', 'testing/sandbox.ts'],
      ['Sandbox', 'testing/sandbox.ts'],
      ['FakeRelayer', 'testing/fake-relayer.ts'],
    ] as const) {
      const members = membersOf(kit, name);
      t.ok(members.length > 3, name);
      t.strictSame(members, membersOf(read(file), name), name);
    }
    t.end();
  });

  function membersOf(text: string, name: string): string[] {
    const body =
      new RegExp(`export interface ${name}(?: extends [^{]+)? \\{\\n([^]*?)\\n\\s*\\}\\n`).exec(text)?.[1] ?? '';
    return [...body.matchAll(/^ {2,4}(?:readonly )?(\w+)\??[:(]/gm)].map(([, member = '']) => member);
  }
});
