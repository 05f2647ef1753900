import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSandbox } from 'isolayer/testing';

let price: string | null = '0x10';
const sandbox = await openSandbox({
  folder: new URL('..', import.meta.url).pathname,
  entries: [
    {
      id: 'policy',
      path: 'gas-policy/index.ts',
      config: { relayer: 'r', most_gas_price: '20' },
      permissions: { relayers: { r: ['send', 'rpc'] } },
    },
  ],
  relayers: { r: { rpc: (method) => (method === 'eth_gasPrice' ? price : null) } },
});
after(() => sandbox.close());
const send = () => sandbox.call('policy', { params: { to: `0x${'22'.repeat(20)}` } });

void test('it sends while gas is cheap', async () => {
  assert.deepEqual((await send()).body.data, { id: 'tx-1', gas_price: '16' });
  price = '0x20';
  const refused = await send();
  assert.equal(refused.status, 409);
  assert.deepEqual(refused.body.data.details, { gas_price: '32', most: '20' });
  price = null;
  assert.equal((await send()).status, 503);
  assert.equal(sandbox.sent.length, 1);
});
