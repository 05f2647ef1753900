// Threat: plugins whose triggers fire for what they send, so that they pay for ever.
import { setTimeout as delay } from 'node:timers/promises';
import { JsonRpcProvider } from 'ethers';
import t from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { createWorkspace } from '../support/workspace.ts';

/** A plugin that sends through one relayer, whenever a transaction of another one is confirmed. */
const feeding = (id: string, watched: string, sends: string, more: object = {}) => ({
  ...{ id, path: 'send.ts', config: { relayer: sends } },
  triggers: [{ name: 'confirmed', on: 'transaction', relayers: [watched], status: ['confirmed'], ...more }],
});
const TO = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';

t.test('a plugin that would feed itself is stopped', { timeout: 120_000 }, async (t) => {
  const anvil = await startAnvil({ blockTime: 0.1 });
  t.teardown(() => anvil.stop());
  const node = new JsonRpcProvider(anvil.url, undefined, { staticNetwork: true });
  t.teardown(() => node.destroy());
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    accounts: 4,
    plugins: [
      feeding('self', 'local-1', 'local-1'),
      feeding('greedy', 'local-2', 'local-2', { own: true }),
      feeding('ping', 'local-3', 'local-4'),
      feeding('pong', 'local-4', 'local-3'),
    ],
    pluginFiles: {
      'send.ts': `export async function handler({ api, config }) {
        const { id } = await api.useRelayer(config.relayer).sendTransaction({ to: '${TO}', value: 1, speed: 'fast' });
        return id;
      }`,
    },
  });
  t.teardown(() => workspace.remove());
  for (const address of workspace.addresses) await node.send('anvil_setBalance', [address, '0xde0b6b3a7640000']);
  const service = await composeService(workspace.env, { lookMs: 50 });
  t.teardown(() => service.stop());
  const standing = async () =>
    await Promise.all(
      ['self', 'greedy', 'ping', 'pong'].map(async (id) => {
        const [{ fired, skipped }] = (await service.request('GET', `/api/v1/plugins/${id}`)).body.data.triggers;
        return `${id} ${fired} ${skipped}`;
      }),
    );
  for (const relayer of ['local-1', 'local-2', 'local-3']) {
    const { status } = await service.request('POST', `/api/v1/relayers/${relayer}/transactions`, {
      ...{ to: TO, value: 1, speed: 'fast', gas_limit: 21_000 },
    });
    t.equal(status, 200);
  }
  const expected = ['self 1 0', 'greedy 4 1', 'ping 2 1', 'pong 2 0'];
  for (let look = 0; look < 300 && (await standing()).join() !== expected.join(); look += 1) await delay(100);
  t.strictSame(await standing(), expected, 'a chain of triggers ends at depth 4');
  await delay(3_000);
  t.strictSame(await standing(), expected, 'and nothing comes after');
  let sent = 0;
  for (const address of workspace.addresses) sent += await node.getTransactionCount(address);
  t.equal(sent, 3 + 1 + 4 + 2 + 2);
});
