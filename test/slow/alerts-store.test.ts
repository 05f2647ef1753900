/** The alerts about the store fire for their own fault only. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { alertScene, firedAll, firesOnly } from '../support/alert-scene.ts';
import { startAnvil } from '../support/anvil.ts';
import { TRANSFER } from '../support/instances.ts';
import { startService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const LANES = 6;

const anvil = await startAnvil({ args: ['--no-mining'] });
t.teardown(() => anvil.stop());
const workspace = await createWorkspace({ rpcUrl: anvil.url, accounts: LANES, env: { HOST: '127.0.0.1' } });
t.teardown(() => workspace.remove());
for (const address of workspace.addresses) await anvil.rpc('anvil_setBalance', [address, '0x56bc75e2d63100000']);

t.test('a database that another program keeps from being written, or has nearly all the time', async (t) => {
  const scene = await alertScene(t, workspace.env, startService);
  const { service } = scene;
  const send = (lane = 1) => service.request('POST', `/api/v1/relayers/local-${lane}/transactions`, TRANSFER);
  const ask = async () => {
    const asked = ['/api/v1/ready', '/api/v1/relayers'].map((path) => service.request('GET', path));
    return (await Promise.all([send(), ...asked])).map(({ status }) => status);
  };
  for (let lane = 2; lane <= LANES; lane += 1) t.equal((await send(lane)).status, 200);
  await scene.minutes(5, async () => t.strictSame(await ask(), [200, 200, 200]));
  firesOnly(t, scene, []);

  const other = new DatabaseSync(join(workspace.dir, 'data', 'isolayer.db'), { timeout: 5_000 });
  t.teardown(() => other.close());
  other.exec('begin immediate');
  await scene.minutes(7, async () => t.equal((await ask())[0], 503));
  t.equal((await service.request('GET', '/api/v1/ready')).status, 503);
  const unwritable = ['IsolayerNotReady', 'IsolayerFailingRequests', 'IsolayerStoreUnwritable'];
  // Accepted transactions do not move either.
  const stuck = ['IsolayerLaneFaults', 'IsolayerRelayerStalled'];
  firesOnly(t, scene, unwritable, stuck);
  await scene.minutes(2, () => scene.untilCounted('isolayer_lane_faults_total'));
  await scene.minutes(6);
  firesOnly(t, scene, ['IsolayerLaneFaults'], [...unwritable, ...stuck]);
  other.exec('rollback');

  // Each write waits for another program, which holds the database almost all the time.
  let isBusy = true;
  const busy = (async () => {
    while (isBusy) {
      other.exec('begin immediate');
      await delay(800);
      other.exec('rollback');
      await delay(10);
    }
  })();
  await scene.untilFires('IsolayerStoreSlow', 30, () => send());
  isBusy = false;
  await busy;
  while ((await service.request('GET', '/api/v1/ready')).status !== 200) await delay(50);
  await scene.minutes(20, ask);
  firesOnly(t, scene, [], ['IsolayerRelayerStalled']);
  firedAll(t, scene, [
    'IsolayerNotReady',
    'IsolayerFailingRequests',
    'IsolayerStoreUnwritable',
    'IsolayerLaneFaults',
    'IsolayerStoreSlow',
  ]);
});
