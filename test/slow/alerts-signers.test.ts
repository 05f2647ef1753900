/** The alert about a signer fires only while its key service refuses. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { computeAddress, hexlify } from 'ethers';
import t from 'tap';
import { fund } from '../../examples/demo/chain.ts';
import { alertScene, firedAll, firesOnly } from '../support/alert-scene.ts';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { startAzure } from '../support/signers/azure-double.ts';
import { createWorkspace } from '../support/workspace.ts';

t.test('a service that takes the right to the key away', async (t) => {
  const [azure, anvil] = await Promise.all([startAzure(), startAnvil({ blockTime: 0.1 })]);
  t.teardown(() => Promise.all([azure.service.stop(), anvil.stop()]));
  await fund(anvil.url, computeAddress(hexlify(azure.publicKey)));
  const workspace = await createWorkspace({ rpcUrl: anvil.url, env: { HOST: '127.0.0.1' } });
  t.teardown(() => workspace.remove());
  const path = join(workspace.dir, 'config', 'config.json');
  const config = JSON.parse(await readFile(path, 'utf8'));
  config.signers = [{ id: 'local-key', type: azure.type, config: azure.config }];
  await writeFile(path, JSON.stringify(config));

  const scene = await alertScene(t, workspace.env, composeService);
  const sign = () => scene.service.request('POST', '/api/v1/relayers/local-1/sign', { message: 'hi' });
  await scene.minutes(8, async () => t.equal((await sign()).status, 200));
  firesOnly(t, scene, []);
  azure.revoke();
  await scene.minutes(9, async () => t.equal((await sign()).status, 500));
  // The caller only sends failing requests, so this alert may fire as well.
  firesOnly(t, scene, ['IsolayerSignerFailing'], ['IsolayerFailingRequests']);
  azure.restore();
  await scene.minutes(16, async () => t.equal((await sign()).status, 200));
  firesOnly(t, scene, []);
  firedAll(t, scene, ['IsolayerSignerFailing']);
});
