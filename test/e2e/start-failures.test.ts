/** What an operator sees who gets the start wrong: the name of the thing, what is wrong with it, what to do. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { startAndFail, startService } from '../support/service.ts';
import { createWorkspace, type WorkspaceOptions } from '../support/workspace.ts';

const NOWHERE = 'http://127.0.0.1:9';

t.test('a start that is refused says why', async (t) => {
  const cases: { name: string; options: WorkspaceOptions; env?: Record<string, string>; says: RegExp[] }[] = [
    { name: 'a short API key', options: { env: { API_KEY: 'short' } }, says: [/API_KEY/, /32/] },
    { name: 'reachable from outside without a key', options: { env: { HOST: '0.0.0.0' } }, says: [/API_KEY/, /HOST/] },
    { name: 'a port that is none', options: { env: { APP_PORT: 'http' } }, says: [/APP_PORT/, /65535/] },
    {
      name: 'a wrong passphrase',
      options: { rpcUrl: NOWHERE, env: { KEYSTORE_PASSPHRASE: 'not the one' } },
      says: [/local-key/, /passphrase/, /local\.json/],
    },
    {
      name: 'two problems at once',
      options: {
        rpcUrl: NOWHERE,
        relayer: { signer_id: 'nobody', network: 'nowhere' },
      },
      says: [/relayers\[0\]\.signer_id/, /nobody/, /relayers\[0\]\.network/, /nowhere/],
    },
  ];
  for (const { name, options, says } of cases) {
    const workspace = await createWorkspace(options);
    t.teardown(() => workspace.remove());
    const { code, output } = await startAndFail(workspace.env);
    t.not(code, 0, `${name}: the exit code tells`);
    for (const text of says) t.match(output, text, `${name}: says ${text}`);
    t.notMatch(output, /not the one|made on the spot/, `${name}: shows no passphrase`);
    t.notMatch(output, /\n\s+at .*\.ts:\d+/, `${name}: shows no stack`);
  }
});

t.test('an unreadable configuration names the file and the place', async (t) => {
  const workspace = await createWorkspace();
  t.teardown(() => workspace.remove());
  await writeFile(join(workspace.dir, 'config', 'config.json'), '{ "relayers": [], }');
  const { code, output } = await startAndFail(workspace.env);
  t.not(code, 0);
  t.match(output, /config\.json/);
  t.match(output, /line 1/i);

  const missing = await startAndFail({ ...workspace.env, CONFIG_DIR: join(workspace.dir, 'nowhere') });
  t.not(missing.code, 0);
  t.match(missing.output, /nowhere.config\.json/);
});

t.test('a second server on the same data folder is refused', async (t) => {
  const workspace = await createWorkspace();
  t.teardown(() => workspace.remove());
  const service = await startService(workspace.env);
  t.teardown(() => service.stop());
  const { code, output } = await startAndFail(workspace.env);
  t.not(code, 0);
  t.match(output, /data/);
  t.match(output, /another|in use|already/i);
});

t.test('an RPC endpoint that is down disables its relayer and nothing else', async (t) => {
  const workspace = await createWorkspace({
    rpcUrl: NOWHERE,
    pluginFiles: { 'hello.ts': `export const handler = () => 'served';` },
  });
  t.teardown(() => workspace.remove());
  const service = await startService(workspace.env);
  t.teardown(() => service.stop());
  t.equal((await service.request('GET', '/api/v1/health')).body, 'OK');
  t.equal((await service.call('hello')).body.data, 'served');
  const relayer = await service.request('GET', '/api/v1/relayers/local-1');
  t.equal(relayer.body.data.system_disabled, true);
  t.ok(relayer.body.data.disabled_reason.type);
  const refused = await service.request('POST', '/api/v1/relayers/local-1/transactions', {
    to: workspace.address,
    value: 1,
    speed: 'fast',
  });
  t.equal(refused.status, 403);
  t.match(refused.body.error, /^Relayer disabled: RPC endpoint validation failed: .*ECONNREFUSED/);
});

t.test('an endpoint of another chain than the network declares is never used', async (t) => {
  const anvil = await startAnvil();
  t.teardown(() => anvil.stop());
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    network: { chain_id: 1, type: 'evm', required_confirmations: 1, symbol: 'ETH', average_blocktime_ms: 1000 },
  });
  t.teardown(() => workspace.remove());
  const service = await startService(workspace.env);
  t.teardown(() => service.stop());
  const relayer = await service.request('GET', '/api/v1/relayers/local-1');
  t.equal(relayer.body.data.system_disabled, true);
  t.match(service.output(), /31337/, 'the log names the chain that answered');
});
