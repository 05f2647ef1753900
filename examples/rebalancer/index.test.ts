import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { openSandbox } from 'isolayer/testing';

const VAULT = '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238';
const seen = { drift: 0, price: 10, status: 'mined' };
const sandbox = await openSandbox({
  folder: new URL('..', import.meta.url).pathname,
  entries: [
    {
      id: 'rebalancer',
      path: 'rebalancer/index.ts',
      config: { relayer: 'r', vault: VAULT, drift: 200, most_gas_price: '30' },
      permissions: {
        relayers: { r: { methods: ['read', 'send', 'rpc'], recipients: [VAULT], selectors: ['rebalance()'] } },
      },
    },
  ],
  relayers: {
    r: {
      rpc: (method) => `0x${(method === 'eth_call' ? seen.drift : seen.price).toString(16)}`,
      transaction: () => ({ status: seen.status }),
    },
  },
});
after(() => sandbox.close());
beforeEach(() => Object.assign(seen, { drift: 0, price: 10, status: 'mined' }));

const call = async (now: Partial<typeof seen>) => {
  Object.assign(seen, now);
  const before = sandbox.sent.length;
  const { status, body } = await sandbox.call('rebalancer');
  return { status, data: body.data, sent: sandbox.sent.slice(before) };
};

void test('a vault that has drifted is rebalanced', async () => {
  const { data, sent } = await call({ drift: 201 });
  assert.equal(data.rebalanced, true, JSON.stringify(data));
  assert.deepEqual(sent, [{ relayerId: 'r', request: { to: VAULT, value: 0, data: '0x7d7c2a1c', speed: 'average' } }]);
});

void test('it waits while the vault is near enough, or gas is dear', async () => {
  assert.deepEqual((await call({ drift: 200 })).sent, []);
  assert.match((await call({ drift: 201, price: 31 })).data.because, /gas/);
  assert.equal((await call({ drift: 401, price: 31 })).data.rebalanced, true, 'not for ever');
});

void test('a transaction that fails is an error', async () => {
  const { status, data } = await call({ drift: 201, status: 'failed' });
  assert.deepEqual([status, data.code], [502, 'NOT_REBALANCED']);
});
