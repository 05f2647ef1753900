/** The kit for plugin tests with a relayer of a running service, on anvil. */
import { JsonRpcProvider } from 'ethers';
import t from 'tap';
import { relayerOfService } from '../../src/cli/testing/fake-relayer.ts';
import { openSandbox } from '../../src/cli/testing/sandbox.ts';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { createWorkspace } from '../support/workspace.ts';

const RECEIVER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const PAYS = `export async function handler({ api, params }) {
  const relayer = api.useRelayer('local-1');
  const sent = await relayer.sendTransaction({ to: params.to, value: 7, gas_limit: 21000, speed: 'fast' });
  const { status, hash } = await sent.wait({ interval: 100, timeout: 30000 });
  const chain = await relayer.rpc({ method: 'eth_chainId', params: [] });
  return { status, hash, chain: chain.result };
}`;

t.test('a plugin under test pays on a real chain', { timeout: 120_000 }, async (t) => {
  const anvil = await startAnvil({ blockTime: 0.1 });
  t.teardown(() => anvil.stop());
  const node = new JsonRpcProvider(anvil.url, undefined, { staticNetwork: true });
  t.teardown(() => node.destroy());
  const workspace = await createWorkspace({ rpcUrl: anvil.url });
  t.teardown(() => workspace.remove());
  await node.send('anvil_setBalance', [workspace.address, '0xde0b6b3a7640000']);
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());

  const relayers = { 'local-1': relayerOfService('local-1', { url: service.url, key: service.apiKey }) };
  const sandbox = await openSandbox({ folder: t.testdir({ 'pays.ts': PAYS }), relayers });
  t.teardown(() => sandbox.close());
  const before = await node.getBalance(RECEIVER);
  const { status, body } = await sandbox.call('pays', { params: { to: RECEIVER } });
  t.equal(status, 200, JSON.stringify(body));
  t.match(body.data, { status: /mined|confirmed/, chain: '0x7a69' });
  t.equal((await node.getTransactionReceipt(body.data.hash))?.status, 1);
  t.equal((await node.getBalance(RECEIVER)) - before, 7n);
  const refused = await sandbox.call('pays', { params: { to: 'nobody' } });
  t.match(refused.body.error, /^Relayer error: Bad Request: .*`?to`?/, 'what the service says comes through');
  t.equal(refused.body.success, false);
});
