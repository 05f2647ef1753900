/**
 * A record of a call: what leaves the service has no secrets, and `plugin replay` runs it again and shows where an edited
 * plugin goes another way.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { compilePlugins } from '../../src/cli/check-config.ts';
import { LocalCalls } from '../../src/cli/plugin/replay.ts';
import { readPluginConfiguration } from '../../src/cli/settings.ts';
import { redactSecrets, replayRecordSchema, restoreSecrets } from '../../src/features/calls/replay-record.ts';
import { runTyped } from '../support/command.ts';
import { recordCall } from '../support/recorded-call.ts';

const PLUGIN = `
export async function handler({ kv, params, config }) {
  const { host } = new URL(config.url);
  const id = crypto.randomUUID();
  const [at, fast] = await Promise.race([
    kv.get('slow').then((value) => [Date.now(), value]),
    new Promise((resolve) => setTimeout(() => resolve([Date.now(), 'timer']), 15)),
  ]);
  await kv.set('sent', { id, at, host, key: process.env.PAY_KEY });
  if (params.fail) throw new Error('no ' + params.fail);
  return { id, fast, at, url: config.url, key: process.env.PAY_KEY };
}`;

const SECRET = 'sk_live_0123456789';
const env = { PAY_KEY: SECRET };
const CONFIG = { url: 'https://user:word@pay.example/' };
const EDITED = {
  'more.ts': PLUGIN.replace('return {', "await kv.get('more');\n  return {"),
  'other-payload.ts': PLUGIN.replace("'sent'", "'paid'"),
  'other-request.ts': PLUGIN.replace("kv.set('sent',", "kv.get('sent',"),
  'other-outcome.ts': PLUGIN.replace('{ id, fast,', '{ id, quick: fast,'),
  'less.ts': PLUGIN.replace('await kv.set', 'void'),
  'same.ts': `// Moved.\n${PLUGIN}`,
};

const calls = await LocalCalls.open();
t.teardown(() => calls.close());

async function recorded(dir: string, params: { fail?: string } = {}) {
  mkdirSync(join(dir, 'plugins'));
  mkdirSync(join(dir, 'config'));
  for (const [file, text] of Object.entries({ 'pay.ts': PLUGIN, ...EDITED }))
    writeFileSync(join(dir, 'plugins', file), text);
  const entry = {
    id: 'pay',
    path: 'pay.ts',
    permissions: { relayers: {}, kv: true, env: ['PAY_KEY'] },
    config: CONFIG,
  };
  const config = { relayers: [], signers: [], notifications: [], networks: [], plugins: [entry] };
  writeFileSync(join(dir, 'config', 'config.json'), JSON.stringify(config));
  const settings = await readPluginConfiguration({ env, cwd: dir });
  const plugins = await compilePlugins(dir, settings);
  const version = plugins.find(({ entry: { id } }) => id === 'pay')?.serving?.version;
  if (version === undefined) throw new Error(settings.fault ?? 'it was not built');
  const record = await recordCall(calls, {
    version,
    params,
    config: CONFIG,
    seed: 'ab'.repeat(32),
    // The timer is due long before.
    answer: ({ method }) => (method === 'kv.get' ? { value: '"x"', afterMs: 3000 } : { value: true }),
  });
  const file = join(dir, 'call.json');
  writeFileSync(file, JSON.stringify({ success: true, data: record }));
  return { record, file, replay: (...more: string[]) => runTyped(dir, ['plugin', 'replay', file, ...more], env) };
}

t.test('a record runs again without a difference, and holds no secret', async (t) => {
  const { record, replay } = await recorded(t.testdir({}));
  t.same(replayRecordSchema.parse(record), record);
  const text = JSON.stringify(record);
  t.notMatch(text, SECRET);
  t.notMatch(text, CONFIG.url);
  t.match(record.outcome, { returned: { fast: 'timer', url: '<secret config.url>', key: '<secret PAY_KEY>' } });
  for (const { method, hash } of record.deliveries) t.equal(hash === undefined, method === 'kv.set', method);
  t.match(await replay(), { code: 0, said: /^No difference: \d requests, and the same outcome$/ });
  t.match(await replay('--against', 'plugins/same.ts'), { code: 0, said: /another version[^]*No difference/ });
});

t.test('a failure is an outcome like any other', async (t) => {
  const { record, replay } = await recorded(t.testdir({}), { fail: 'money' });
  t.match(record.outcome, { error: { message: 'no money', status: 500 } });
  t.match(await replay(), { code: 0, said: /No difference/ });
});

t.test('each way in which an edited plugin differs is shown', async (t) => {
  const { replay } = await recorded(t.testdir({}));
  const against = async (file: string) => {
    const { code, said } = await replay('--against', `plugins/${file}`);
    t.equal(code, 1, file);
    t.match(said, /The record is of another version/);
    return said;
  };
  t.match(await against('other-payload.ts'), /Request 3 differs\n {2}recorded: kv\.set .*"sent".*\n {2}now: .*"paid"/);
  t.match(await against('other-request.ts'), /Request 3 differs\n {2}recorded: kv\.set .*\n {2}now: {6}kv\.get/);
  t.match(await against('other-outcome.ts'), /The outcome differs\n {2}recorded: .*"fast".*\n {2}now: .*"quick"/);
  t.match(await against('less.ts'), /Request 3 is missing\n {2}recorded: kv\.set .*\n {2}now: {6}not made/);
  t.match(
    await against('more.ts'),
    /The outcome differs[^]*has not ended: it waits for 1 kv\.get .*, 4 kv\.get .*"more"/,
  );
});

t.test('a record runs again as it is alone, as isolayer calls prints it', async (t) => {
  const { record, file, replay } = await recorded(t.testdir({}));
  writeFileSync(file, JSON.stringify(record));
  t.match(await replay(), { code: 0, said: /No difference/ });
});

t.test('what is no record is refused', async (t) => {
  const dir = t.testdir({ 'call.json': '{"format":2}' });
  t.match(await runTyped(dir, ['plugin', 'replay', 'call.json']), {
    code: 1,
    complained: /call\.json is not a call record/,
  });
  t.match(await runTyped(dir, ['plugin', 'replay']), { code: 1, complained: /It is: plugin replay <record>/ });
});

t.test('secrets are replaced wherever they stand, the longest first', async (t) => {
  const secrets = { KEY: 'abcdef', LONG: 'abcdefgh', SHORT: 'abc' };
  t.same(redactSecrets({ abcdef: ['xabcdefghx', 'abcdef abc', 5, null, true] }, secrets), {
    '<secret KEY>': ['x<secret LONG>x', '<secret KEY> abc', 5, null, true],
  });
  const value = { abcdef: ['xabcdefghx $& abcdef', 5] };
  t.same(restoreSecrets(redactSecrets(value, secrets), secrets), value);
});
