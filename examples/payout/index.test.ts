import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSandbox } from 'isolayer/testing';

const to = (row: number) => `0x${row.toString(16).padStart(40, '0')}`;
const sandbox = await openSandbox({
  folder: new URL('..', import.meta.url).pathname,
  entries: [
    {
      id: 'payout',
      path: 'payout/index.ts',
      config: { relayer: 'r' },
      limits: { calls: 2000, cpu_ms: 10_000 },
      permissions: { relayers: { r: { methods: ['send'], selectors: ['0x'] } } },
    },
  ],
  relayers: {
    r: {
      send(request) {
        if ((request as { to: string }).to === to(13)) throw new Error('the receiver is not allowed');
        return {};
      },
    },
  },
});
after(() => sandbox.close());
const pay = (rows: object[]) => sandbox.call('payout', { params: { rows: rows.map((row) => ({ ...row })) } });

void test('1,000 rows are paid, in order, and one that is refused holds up no other', async () => {
  const { status, body } = await pay(Array.from({ length: 1000 }, (_, row) => ({ to: to(row + 1), value: '7' })));
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.data.paid.length, 999);
  assert.deepEqual(
    body.data.refused.map(({ row }: { row: number }) => row),
    [12],
  );
  assert.deepEqual(
    sandbox.sent.map(({ request }) => (request as { to: string }).to),
    Array.from({ length: 1000 }, (_, row) => to(row + 1)),
  );
});

void test('nothing is paid while one row is wrong', async () => {
  const before = sandbox.sent.length;
  const { status, body } = await pay([
    { to: to(1), value: '1' },
    { to: to(2), value: '-1' },
    { to: 'nobody', value: '1' },
  ]);
  assert.equal(status, 400);
  assert.deepEqual(body.data.details.wrong, [1, 2]);
  assert.equal(sandbox.sent.length, before);
});
