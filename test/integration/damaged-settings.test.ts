/** Threat: one damaged value in the database keeps a whole service from starting, and its money from moving. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { computeAddress } from 'ethers';
import t from 'tap';
import { fund } from '../../examples/demo/chain.ts';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { eventually } from '../support/eventually.ts';
import type { StartedService } from '../support/service.ts';
import { startReceiver } from '../support/webhook-receiver.ts';
import { createWorkspace } from '../support/workspace.ts';

const anvil = await startAnvil({ blockTime: 0.1 });
t.teardown(() => anvil.stop());
const receiver = await startReceiver();
t.teardown(() => receiver.stop());

const SECRETS = {
  relayers: ['custom_rpc_urls', "id = 'own'"],
  networks: ['rpc_urls', "name = 'mine'"],
  plugin_settings: ['settings', "plugin_id = 'p'"],
} as const;

async function sends(service: StartedService, relayer: string): Promise<string> {
  const path = `/api/v1/relayers/${relayer}/transactions`;
  const transaction = { to: '0x00000000000000000000000000000000000000b0', value: 1, speed: 'fast' };
  const { body } = await service.request('POST', path, transaction);
  const status = async () => (await service.request('GET', `${path}/${body.data?.id}`)).body.data?.status;
  return eventually(status, (one) => one === 'mined' || one === 'confirmed', 60_000);
}

t.test('a damaged secret switches off what has it, until it is set again', async (t) => {
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    plugins: [{ id: 'p', path: 'p.ts' }],
    pluginFiles: { 'p.ts': 'export const handler = async () => ({ ran: true });' },
    config: { notifications: ['moved', 'keyed'].map((id) => ({ id, type: 'webhook', url: receiver.url })) },
  });
  t.teardown(() => workspace.remove());
  await fund(anvil.url, workspace.address);
  const first = await composeService(workspace.env);
  t.teardown(() => first.stop());
  const made = async (method: string, path: string, body: object) => {
    const answer = await first.request(method, `/api/v1${path}`, body);
    t.match(answer.status, /20[01]/, `${method} ${path} ${JSON.stringify(answer.body.error)}`);
  };
  const rpc_urls = [anvil.url];
  await made('POST', '/networks', { from: 'local', name: 'mine', network_type: 'evm', rpc_urls });
  for (const [index, id] of ['own', 'there'].entries()) {
    const key = `${index + 1}7`.repeat(32);
    await fund(anvil.url, computeAddress(`0x${key}`));
    await made('POST', '/signers', { id, type: 'plain', config: { key } });
    const relayer = { id, name: id, network_type: 'evm', paused: false, signer_id: id };
    const more =
      id === 'own' ? { network: 'local', custom_rpc_urls: [{ url: anvil.url, weight: 100 }] } : { network: 'mine' };
    await made('POST', '/relayers', { ...relayer, ...more, notification_id: id === 'own' ? 'keyed' : 'moved' });
  }
  await made('PATCH', '/notifications/keyed', { signing_key: 'a key of at least thirty-two bytes, for tests' });
  await made('PATCH', '/plugins/p', { config: { token: 'canary' } });
  for (const id of ['own', 'there']) t.match(await sends(first, id), /mined|confirmed/);
  await first.stop();

  const database = new DatabaseSync(join(workspace.dir, 'data', 'isolayer.db'));
  for (const [table, [column, where]] of Object.entries(SECRETS)) {
    database.exec(
      `update ${table} set ${column} = substr(${column}, 1, length(${column}) - 4) || 'AAAA' where ${where}`,
    );
  }
  database.exec(`update notifications set url = '1.0000000000000000.AAAA' where id = 'moved'`);
  // No longer in the form of a seal. It must not become the key.
  database.exec(
    `update notifications set signing_key = substr(signing_key, 1, 30) || '!' || substr(signing_key, 32) where id = 'keyed'`,
  );
  database.close();
  receiver.deliveries.length = 0;

  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  t.match(await sends(service, 'local-1'), /mined|confirmed/, 'the others go on');
  const view = (id: string) => service.request('GET', `/api/v1/relayers/${id}`).then(({ body }) => body.data);
  for (const id of ['own', 'there']) {
    const seen = await eventually(
      () => view(id),
      (one) => one.system_disabled === true,
      60_000,
    );
    t.match(JSON.stringify(seen.disabled_reason), /the-stored-address-is-damaged/, id);
  }
  t.match(await service.request('POST', '/api/v1/plugins/p/call', {}), { status: 403, body: { error: /disabled/ } });
  const outcome = async () =>
    (await service.request('GET', '/api/v1/notifications/keyed/deliveries')).body.data[0]?.outcome;
  t.match(await eventually(outcome, (one) => one != null, 60_000), /signing key is damaged/);
  t.equal(
    receiver.deliveries.filter(({ json }) => JSON.stringify(json).includes('"own"')).length,
    0,
    'nothing unsigned',
  );
  for (const record of ['own', 'evm:mine', 'p', 'moved', 'keyed']) {
    t.match(
      service.output(),
      new RegExp(`a stored secret cannot be opened.*"record":"${record}"|"record":"${record}".*a stored secret`),
    );
  }

  const set = (method: string, path: string, body?: object) => service.request(method, `/api/v1${path}`, body);
  t.match(await set('PATCH', '/relayers/own', { custom_rpc_urls: [{ url: anvil.url, weight: 100 }] }), { status: 200 });
  t.match(await set('PATCH', '/networks/evm:mine', { rpc_urls }), { status: 200 });
  t.match(await set('PATCH', '/notifications/keyed', { signing_key: 'another key of at least thirty-two bytes' }), {
    status: 200,
  });
  t.match(await set('PATCH', '/plugins/p', { config: { token: 'new' } }), { status: 200 });
  t.match(await set('POST', '/plugins/p/enable'), { status: 200 });
  for (const id of ['own', 'there']) {
    await eventually(
      () => view(id),
      (one) => one.system_disabled === false,
      120_000,
    );
    t.match(await sends(service, id), /mined|confirmed/, `${id} works again`);
  }
  t.match(await set('POST', '/plugins/p/call', {}), { status: 200 });
  await receiver.until('it is told, signed', (all) => all.some(({ json }) => JSON.stringify(json).includes('"own"')));
});
