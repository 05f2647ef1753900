/** A configuration from the reference's documents, with their errors corrected, starts without changes. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { createWorkspace } from '../support/workspace.ts';

t.test('relayers of three types, keystores, webhooks, inherited networks and plugins', async (t) => {
  const anvil = await startAnvil({ blockTime: 0.1 });
  t.teardown(() => anvil.stop());
  const secret = { type: 'env', value: 'WEBHOOK_SIGNING_KEY' };
  const policies = {
    evm: { gas_price_cap: 30000000000000, eip1559_pricing: true, min_balance: 0 },
    solana: {
      fee_payment_strategy: 'user',
      min_balance: 0,
      allowed_tokens: [{ mint: 'So11111111111111111111111111111111111111112', max_allowed_fee: 100000000 }],
    },
    stellar: { fee_payment_strategy: 'relayer', min_balance: 0, concurrent_transactions: true },
  };
  const relayer = (type: 'evm' | 'solana' | 'stellar', network: string) => ({
    id: `${type}-example`,
    name: `${type} Example`,
    network,
    paused: false,
    notification_id: 'notification-example',
    signer_id: 'local-key',
    network_type: type,
    policies: policies[type],
    custom_rpc_urls:
      type === 'evm' ? undefined : ['http://127.0.0.1:9', { url: 'http://127.0.0.1:9/backup', weight: 50 }],
  });
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    config: {
      relayers: [relayer('evm', 'local-child'), relayer('solana', 'devnet'), relayer('stellar', 'testnet')],
      notifications: [
        { id: 'notification-example', type: 'webhook', url: 'https://example.com/webhook', signing_key: secret },
      ],
      plugins: [
        {
          id: 'example',
          path: 'plugins/examples/example.ts',
          timeout: 30,
          emit_logs: true,
          emit_traces: true,
          raw_response: false,
          allow_get_invocation: true,
          config: { featureFlags: { enableExperimental: true } },
          forward_logs: true,
        },
      ],
    },
    pluginFiles: {
      'examples/example.ts': `import { Speed } from '@openzeppelin/relayer-sdk';
        export async function handler(api, params) { return { speed: Speed.FAST, params, relayer: (await api.useRelayer('evm-example').getRelayer()).id }; }`,
    },
    env: {
      WEBHOOK_SIGNING_KEY: 'a-signing-key-of-thirty-two-bytes-or-more',
      REDIS_URL: 'redis://localhost:6379',
      PLUGIN_POOL_MAX_CONNECTIONS: '100',
    },
  });
  t.teardown(() => workspace.remove());
  await mkdir(join(workspace.dir, 'config', 'networks'), { recursive: true });
  await writeFile(
    join(workspace.dir, 'config', 'networks', 'local.json'),
    JSON.stringify({
      networks: [
        {
          type: 'evm',
          network: 'local-parent',
          chain_id: 31337,
          required_confirmations: 1,
          symbol: 'ETH',
          features: ['eip1559'],
          tags: ['local'],
          is_testnet: true,
          average_blocktime_ms: 1000,
          explorer_urls: ['https://example.com'],
          rpc_urls: [anvil.url],
        },
        { type: 'evm', network: 'local-child', from: 'local-parent', rpc_urls: null },
      ],
    }),
  );
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());

  const { body } = await service.request('GET', '/api/v1/relayers');
  t.same(body.data.map(({ id }: { id: string }) => id).sort(), ['evm-example', 'solana-example', 'stellar-example']);
  const evm = await service.request('GET', '/api/v1/relayers/evm-example');
  t.match(evm.body.data, { system_disabled: false, network: 'local-child', notification_id: 'notification-example' });
  t.match(evm.body.data.policies, { gas_price_cap: 30000000000000, eip1559_pricing: true, min_balance: 0 });
  const call = await service.call('example', { a: 1 });
  t.match(call.body, { data: { speed: 'fast', params: { a: 1 }, relayer: 'evm-example' }, error: null });
  t.match(service.output(), /no meaning here and are ignored:[^"]*REDIS_URL/, 'one warning for what has no meaning');
});
