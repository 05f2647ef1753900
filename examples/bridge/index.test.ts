import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSandbox } from 'isolayer/testing';

const [BURNER, MINTER, RECEIVER] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`, `0x${'cc'.repeat(20)}`];
let asked = 0;
let burned = 'confirmed';
const sandbox = await openSandbox({
  folder: new URL('..', import.meta.url).pathname,
  entries: [
    {
      id: 'bridge',
      path: 'bridge/index.ts',
      config: {
        ...{ from: 'source', to: 'target', burner: BURNER, minter: MINTER, poll_seconds: 0.01 },
        attestations: 'https://attestations.example',
      },
      permissions: {
        relayers: { source: { methods: ['read', 'send'] }, target: { methods: ['read', 'send'] } },
        hosts: ['attestations.example'],
      },
    },
  ],
  relayers: {
    source: { transaction: () => ({ status: burned, hash: '0xb0' }) },
    target: { transaction: () => ({ status: 'confirmed', hash: '0xa0' }) },
  },
  fetch: ({ url }) => {
    assert.equal(url, 'https://attestations.example/0xb0');
    asked += 1;
    if (asked === 1) return new Response('out of order', { status: 503 });
    const status = asked < 4 ? 'pending' : 'complete';
    return Response.json({ status, message: '0x1234', attestation: '0x5678' });
  },
});
after(() => sandbox.close());
const bridge = (params: Record<string, string>) => sandbox.call('bridge', { params });

void test('it burns, waits for the attestation, and mints', async () => {
  const { status, body } = await bridge({ amount: '5', receiver: RECEIVER });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(body.data, { burn: '0xb0', mint: '0xa0' });
  assert.equal(asked, 4);
  const [burn, mint, ...others] = sandbox.sent.map(({ relayerId, request }) => ({ relayerId, ...(request as object) }));
  assert.partialDeepStrictEqual(burn, { relayerId: 'source', to: BURNER });
  assert.partialDeepStrictEqual(mint, { relayerId: 'target', to: MINTER });
  assert.equal(others.length, 0);
});

void test('nothing is minted for what was not burned', async () => {
  burned = 'failed';
  const before = sandbox.sent.length;
  const { status, body } = await bridge({ amount: '5', receiver: RECEIVER });
  assert.deepEqual([status, body.data.code], [422, 'NOT_CONFIRMED']);
  assert.equal(sandbox.sent.length - before, 1);
  assert.equal((await bridge({ amount: '-5', receiver: RECEIVER })).status, 400);
});
