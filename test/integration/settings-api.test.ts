/**
 * Settings of a running service: creating, changing and deleting them takes effect at once and never shows a secret.
 */
import { randomBytes } from 'node:crypto';
import { Configuration, NetworksApi, type SignerCreateRequest, SignersApi } from '@openzeppelin/relayer-sdk';
import t, { type Test } from 'tap';
import { composeService } from '../support/composed-service.ts';
import { answersByMethod, startRpcDouble } from '../support/rpc-double.ts';
import type { StartedService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

async function serviceFor(t: Test): Promise<StartedService & { configuration: Configuration }> {
  const node = await startRpcDouble(answersByMethod({ eth_chainId: '0x7a69' }));
  t.teardown(() => node.stop());
  const workspace = await createWorkspace({ rpcUrl: node.url });
  t.teardown(() => workspace.remove());
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  return { ...service, configuration: new Configuration({ basePath: service.url, accessToken: service.apiKey }) };
}

t.test('settings', async (t) => {
  const service = await serviceFor(t);
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await service.request(method, `/api/v1${path}`, body);
    return { status: answer.status, ...answer.body };
  };

  t.test('networks', async (t) => {
    const networks = new NetworksApi(service.configuration);
    const created = await ask('POST', '/networks', {
      name: 'mine',
      network_type: 'evm',
      rpc_urls: ['https://rpc.example/v3/a-secret-key'],
      chain_id: 5,
    });
    t.match(created, { status: 201, data: { id: 'evm:mine', rpc_urls: [{ url: 'https://rpc.example/v3/***' }] } });
    t.match((await networks.listNetworks(1, 2)).data, { data: [{ id: 'evm:mine' }, { id: 'evm:local' }] });
    t.match((await networks.getNetwork('evm:mine')).data, { data: { chain_id: 5, network_type: 'evm' } });
    const moved = await networks.updateNetwork('evm:mine', { rpc_urls: ['https://two.example'] as never });
    t.match(moved.data, { data: { rpc_urls: [{ url: 'https://two.example', weight: 100 }] } });
    for (const url of ['javascript:alert(1)//', 'data:text/html,x', 'ftp://x.example']) {
      const refused = await ask('PATCH', '/networks/evm:mine', { explorer_urls: [url] });
      t.match(refused, { status: 400, error: /explorer_urls.*http or https/ }, url);
    }
    t.match(await ask('DELETE', '/networks/evm:local'), { status: 400, message: 'Bad Request' });
    t.match(await ask('DELETE', '/networks/evm:mine'), { status: 200 });
    t.match(await ask('GET', '/networks/evm:mine'), { status: 404 });
    t.notMatch(service.output(), /a-secret-key/);
  });

  t.test('API keys', async (t) => {
    const form = { name: 'Reader', permissions: ['relayers:local-1:read'] };
    const created = await ask('POST', '/api-keys', { ...form, rate_limit: { requests_per_second: 1, burst: 7 } });
    t.match(created, { status: 201, data: { id: String, key: /^iso_/, permissions: form.permissions } });
    const { id, key } = created.data;
    const as = async (method: string, path: string, body?: object) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const answer = await fetch(`${service.url}/api/v1${path}`, init);
      return { status: answer.status, ...((await answer.json()) as { data: unknown; error: string }) };
    };
    t.match(await as('GET', '/relayers'), { status: 200, data: [{ id: 'local-1' }] });
    t.match(await as('POST', '/relayers/local-1/transactions', {}), { status: 403 });
    t.match(await as('GET', '/relayers/other'), { status: 404, error: 'Relayer with ID other not found' });
    t.match(await as('GET', '/signers'), { status: 404 });
    t.match(await as('POST', '/plugins/hello/call'), { status: 404 });
    t.match(await as('DELETE', `/api-keys/${id}`), { status: 404 });
    t.match(await as('GET', '/relayers'), { status: 200 });
    t.match(await as('GET', '/relayers'), { status: 429 }, 'its own rate');
    t.match(await ask('GET', '/relayers'), { status: 200 }, 'which slows nobody else');

    t.match((await ask('GET', '/api-keys')).data, [{ id }, { id: 'default', permissions: ['*'] }]);
    t.match(await ask('DELETE', `/api-keys/${id}`), { status: 200 });
    t.match(await as('GET', '/relayers'), { status: 401 });
    const audit = await ask('GET', '/audit?resource=api_key');
    t.match(audit.data, [
      { action: 'delete', key_id: 'default' },
      { action: 'create', resource_id: id },
    ]);
    t.notMatch(service.output() + JSON.stringify(audit), key);
  });

  t.test('signers', async (t) => {
    const signers = new SignersApi(service.configuration);
    const key = randomBytes(32).toString('hex');
    const created = await signers.createSigner({ id: 'mine', type: 'plain', config: { key } } as SignerCreateRequest);
    t.match([created.status, created.data], [201, { success: true, data: { id: 'mine', type: 'local', config: {} } }]);
    t.match((await signers.listSigners(1, 10)).data, { data: [{ id: 'mine' }, { id: 'local-key', type: 'local' }] });
    t.match((await signers.getSigner('mine')).data, { data: { id: 'mine' } });
    const refused = await signers.updateSigner('mine', {}).catch(({ response }) => response);
    t.match([refused.status, refused.data], [400, { error: /^Signer updates are not allowed/ }]);
    t.match(await ask('DELETE', '/signers/local-key'), { status: 400 });
    t.match((await signers.deleteSigner('mine')).data, { success: true, data: 'Signer deleted successfully' });
    t.match(await ask('GET', '/signers/mine'), { status: 404 });
    const audit = await ask('GET', '/audit?resource=signer');
    t.match(audit.data, [{ action: 'delete' }, { action: 'create', secrets: ['config'] }]);
    t.notMatch(service.output() + JSON.stringify(audit), key);
  });
});
