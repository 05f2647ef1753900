/** Failed starts, as an operator sees them: the name of the setting, what is wrong with it, and what to do. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { fund } from '../../examples/demo/chain.ts';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { startAndFail } from '../support/service.ts';
import { createWorkspace, type WorkspaceOptions } from '../support/workspace.ts';

const NOWHERE = 'http://127.0.0.1:9';

t.test('a start that is refused says why', async (t) => {
  const cases: { name: string; options: WorkspaceOptions; says: RegExp[] }[] = [
    {
      name: 'a wrong passphrase',
      options: { rpcUrl: NOWHERE, env: { KEYSTORE_PASSPHRASE: 'not the one' } },
      says: [/local-key/, /passphrase/, /local\.json/],
    },
    {
      name: 'several problems at once',
      options: { rpcUrl: NOWHERE, env: { API_KEY: 'short' }, relayer: { signer_id: 'nobody', network: 'nowhere' } },
      says: [/API_KEY/, /32/, /relayers\[0\]\.signer_id/, /nobody/, /relayers\[0\]\.network/, /nowhere/],
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

t.test('a second server on the same data folder is refused', async (t) => {
  const workspace = await createWorkspace();
  t.teardown(() => workspace.remove());
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  await t.rejects(composeService(workspace.env), { message: /The data folder .* is in use by another Isolayer/ });
});

t.test('an endpoint that is down, or of another chain, disables its relayer and nothing else', async (t) => {
  const anvil = await startAnvil({ blockTime: 0.1 });
  t.teardown(() => anvil.stop());
  const relayer = { network_type: 'evm', signer_id: 'local-key', paused: false };
  const networks = { fine: 'local', down: 'down', 'of-another-chain': 'other' };
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    config: { relayers: Object.entries(networks).map(([id, network]) => ({ ...relayer, id, name: id, network })) },
  });
  t.teardown(() => workspace.remove());
  await fund(anvil.url, workspace.address);
  const network = { type: 'evm', required_confirmations: 1, symbol: 'ETH', average_blocktime_ms: 1000 };
  const declared = [
    { ...network, network: 'down', chain_id: 31_337, rpc_urls: [NOWHERE] },
    { ...network, network: 'other', chain_id: 1, rpc_urls: [anvil.url] },
  ];
  await writeFile(join(workspace.dir, 'config', 'networks', 'wrong.json'), JSON.stringify({ networks: declared }));
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  const shown = async (id: string) => (await service.request('GET', `/api/v1/relayers/${id}`)).body.data;
  t.equal((await service.request('GET', '/api/v1/health')).body, 'OK');
  t.equal((await shown('fine')).system_disabled, false);
  for (const id of ['down', 'of-another-chain']) {
    t.match(await shown(id), { system_disabled: true, disabled_reason: { type: String } }, id);
  }
  t.match(service.output(), /31337/, 'the log names the chain that answered');
  const payment = { to: workspace.address, value: 1, speed: 'fast' };
  const refused = await service.request('POST', '/api/v1/relayers/down/transactions', payment);
  t.equal(refused.status, 403);
  t.match(refused.body.error, /^Relayer disabled: RPC endpoint validation failed: .*ECONNREFUSED/);
  for (const what of ['status', 'balance']) {
    const told = await service.request('GET', `/api/v1/relayers/down/${what}`);
    t.match(told, { status: 200, body: { data: { balance: null, unavailable: { balance: /ECONNREFUSED/ } } } }, what);
  }
});
