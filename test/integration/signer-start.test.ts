/** A failing key service only affects the start of its own relayers, and only if nothing is known about them yet. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { computeAddress, hexlify } from 'ethers';
import t, { type Test } from 'tap';
import { fund } from '../../examples/demo/chain.ts';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { eventually } from '../support/eventually.ts';
import type { StartedService } from '../support/service.ts';
import { startAwsKms } from '../support/signers/aws-kms-double.ts';
import { startAzure } from '../support/signers/azure-double.ts';
import { createWorkspace } from '../support/workspace.ts';

const anvil = await startAnvil({ blockTime: 0.1 });
t.teardown(() => anvil.stop());

const TRANSACTION = { to: '0x00000000000000000000000000000000000000b0', value: 1, speed: 'fast' };
const addressOf = (publicKey: Buffer) => computeAddress(hexlify(publicKey)).toLowerCase();

/** A service with the relayers `local-1`, on a keystore, and `azure`, on a key in Azure. */
async function stage(t: Test) {
  const azure = await startAzure();
  t.teardown(() => azure.service.stop());
  const workspace = await createWorkspace({ rpcUrl: anvil.url });
  t.teardown(() => workspace.remove());
  const path = join(workspace.dir, 'config', 'config.json');
  const config = JSON.parse(await readFile(path, 'utf8'));
  const relayer = { ...config.relayers[0], id: 'azure', name: 'Azure', signer_id: 'azure-key' };
  config.relayers.push(relayer);
  config.signers.push({ id: 'azure-key', type: azure.type, config: azure.config });
  await writeFile(path, JSON.stringify(config));
  const address = addressOf(azure.publicKey);
  await Promise.all([workspace.address, address].map((one) => fund(anvil.url, one)));
  const start = async () => {
    const service = await composeService(workspace.env);
    t.teardown(() => service.stop());
    return service;
  };
  return { azure, address, start, relayer };
}

async function sends(t: Test, service: StartedService, relayer: string): Promise<void> {
  const { status, body } = await service.request('POST', `/api/v1/relayers/${relayer}/transactions`, TRANSACTION);
  t.equal(status, 200, JSON.stringify(body));
  const path = `/api/v1/relayers/${relayer}/transactions/${body.data.id}`;
  const status2 = async () => (await service.request('GET', path)).body.data.status;
  t.match(await eventually(status2, (one) => one === 'mined' || one === 'confirmed', 60_000), /mined|confirmed/);
}

t.test('a relayer that was there before starts without its service, and works once that is back', async (t) => {
  const { azure, address, start } = await stage(t);
  await (await start()).stop();
  await azure.service.stop();
  const service = await start();
  await sends(t, service, 'local-1');
  const known = await service.request('GET', '/api/v1/relayers/azure');
  t.match(known, { status: 200, body: { data: { address } } });
  t.match(service.output(), /"level":"warn".*"relayerId":"azure".*ECONNREFUSED.*stored address/);
  const refused = await service.request('POST', '/api/v1/relayers/azure/sign', { message: 'hi' });
  t.match(refused, { status: 500, body: { error: /^Signer azure-key failed: / } });
  await azure.service.start();
  await sends(t, service, 'azure');
});

t.test('one that is new waits for its service alone, and is there once that answers', async (t) => {
  const { azure, address, start } = await stage(t);
  azure.revoke();
  const service = await start();
  await sends(t, service, 'local-1');
  t.match(await service.request('GET', '/api/v1/relayers/azure'), { status: 404 });
  t.match(service.output(), /"level":"error".*"relayerId":"azure".*answered 403/);
  azure.restore();
  const found = () => service.request('GET', '/api/v1/relayers/azure');
  t.match(await eventually(found, ({ status }) => status === 200, 60_000), { body: { data: { address } } });
  await sends(t, service, 'azure');
});

t.test('a key that is another one moves nobody: it is told of, and signs nothing', async (t) => {
  const { azure, address, start } = await stage(t);
  await (await start()).stop();
  azure.mixUp();
  const service = await start();
  const told = new RegExp(
    `^The signer has another key: signer azure-key has the key of 0x[0-9a-f]{40}, not of ${address}:`,
  );
  const disabled = { system_disabled: true, disabled_reason: { type: 'SignerCheckFailed', details: told } };
  const shown = await eventually(
    () => service.request('GET', '/api/v1/relayers/azure'),
    ({ body }) => body.data.system_disabled === true,
    60_000,
  );
  t.match(shown, { status: 200, body: { data: { address, ...disabled } } });
  t.match(service.output(), new RegExp(`"level":"error".*"address":"${address}","keyIsOf":"0x[0-9a-f]{40}"`));
  const refused = await service.request('POST', '/api/v1/relayers/azure/sign', { message: 'hi' });
  t.match(refused, { status: 403, body: { error: new RegExp(`The signer has another key: .* not of ${address}`) } });
  await sends(t, service, 'local-1');
});

/** What clients are told of a relayer that is switched off. */
const DISABLED = { system_disabled: true, disabled_reason: { type: 'SignerCheckFailed' } };

// Threat: a narrow API key turns every key that the server's role may use into a relayer of its own.
t.test(
  'a signer of the API signs with its own credentials, and with the server’s only if the operator says so',
  async (t) => {
    const kms = await startAwsKms('secp256k1');
    t.teardown(() => kms.service.stop());
    // As AWS's own client finds them.
    const before = { ...process.env };
    Object.assign(process.env, { AWS_ENDPOINT_URL_KMS: kms.service.url });
    t.teardown(() => {
      process.env = before;
    });
    const workspace = await createWorkspace({ rpcUrl: anvil.url });
    t.teardown(() => workspace.remove());
    await fund(anvil.url, workspace.address);
    const { accessKeyId, secretAccessKey, sessionToken } = kms.credentials;
    const own = { access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: sessionToken };
    const key = { region: 'eu-central-1', key_id: 'alias/relayer' };
    const make = (service: StartedService, id: string, config: object) =>
      service.request('POST', '/api/v1/signers', { id, type: 'aws_kms', config });
    const relayer = { name: 'KMS', network: 'local', network_type: 'evm', paused: false };
    const address = addressOf(kms.publicKey);
    await fund(anvil.url, address);

    const strict = await composeService({ ...workspace.env, ...kms.environment });
    t.teardown(() => strict.stop());
    const refused = await make(strict, 'borrowed', key);
    t.match(refused, { status: 400, body: { error: /API_SIGNERS_USE_SERVER_IDENTITY=true/ } });
    t.equal(kms.service.asked.length, 0, 'nothing was asked in the name of the server');
    t.match(await make(strict, 'own', { ...key, ...own }), { status: 201, body: { data: { config: key } } });
    const made = await strict.request('POST', '/api/v1/relayers', { ...relayer, id: 'own', signer_id: 'own' });
    t.match(made, { status: 201, body: { data: { address } } });
    await sends(t, strict, 'own');
    await strict.stop();
    t.notMatch(strict.output(), new RegExp(secretAccessKey.replaceAll(/[+/]/g, '.')));

    const open = await composeService({
      ...workspace.env,
      ...kms.environment,
      API_SIGNERS_USE_SERVER_IDENTITY: 'true',
    });
    t.teardown(() => open.stop());
    t.match(await make(open, 'borrowed', key), { status: 201 });
    await open.stop();

    const later = await composeService({ ...workspace.env, ...kms.environment });
    t.teardown(() => later.stop());
    kms.service.asked.length = 0;
    const other = { ...relayer, id: 'stored', signer_id: 'borrowed' };
    const told = await later.request('POST', '/api/v1/relayers', other);
    t.match(told, { status: 201, body: { data: { address } } }, 'a stored signer works, whatever the switch says now');
    t.ok(kms.service.asked.length > 0);
    await sends(t, later, 'own');
  },
);

t.test('a stored signer that cannot be opened switches off its relayers, and nothing else', async (t) => {
  const workspace = await createWorkspace({ rpcUrl: anvil.url });
  t.teardown(() => workspace.remove());
  await fund(anvil.url, workspace.address);
  const first = await composeService(workspace.env);
  t.teardown(() => first.stop());
  const key = '17'.repeat(32);
  const signer = { id: 'handed', type: 'plain', config: { key } };
  t.match(await first.request('POST', '/api/v1/signers', signer), { status: 201 });
  const relayer = { id: 'handed', name: 'Handed', network: 'local', network_type: 'evm', paused: false };
  await fund(anvil.url, computeAddress(`0x${key}`));
  t.match(await first.request('POST', '/api/v1/relayers', { ...relayer, signer_id: 'handed' }), { status: 201 });
  await first.stop();
  const database = new DatabaseSync(join(workspace.dir, 'data', 'isolayer.db'));
  database.prepare("update signers set config = 'not sealed' where id = 'handed'").run();
  database.close();

  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  await sends(t, service, 'local-1');
  const damaged = () => service.request('GET', '/api/v1/relayers/handed');
  t.match(await eventually(damaged, ({ body }) => body.data.system_disabled, 60_000), { body: { data: DISABLED } });
  t.match(service.output(), /"level":"error".*table signers is damaged.*"record":"handed".*sign nothing/);
  t.match(await service.request('GET', '/api/v1/signers/handed'), { status: 200 });
});
