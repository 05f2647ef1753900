/** A failing key service only affects the start of its own relayers, and only if nothing is known about them yet. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { computeAddress, hexlify } from 'ethers';
import t, { type Test } from 'tap';
import { fund } from '../../demo/chain.ts';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { eventually } from '../support/plugin-host.ts';
import type { StartedService } from '../support/service.ts';
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
