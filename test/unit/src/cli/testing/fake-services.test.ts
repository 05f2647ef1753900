import t from 'tap';
import { FakeServices } from '../../../../../src/cli/testing/fake-services.ts';
import { NO_PLUGIN_HTTP } from '../../../../support/no-plugin-http.ts';

const caller = { pluginId: 'p', locks: [], quota: { keys: 1, bytes: 1, valueBytes: 1 } } as never;
const { signal } = new AbortController();

t.test('relayers answer as the test says, else as if all went well', async (t) => {
  let looks = 0;
  const fakes = new FakeServices({
    plain: {},
    slow: {
      info: { network_type: 'stellar' },
      status: { sequence_number: '7' },
      send: () => ({ status: 'sent' }),
      transaction: () => ({ status: ++looks < 3 ? 'sent' : 'confirmed' }),
      sign: (request) => ({ signature: JSON.stringify(request) }),
      rpc: (method, params) => [method, params],
    },
  });
  const { transactions, relayers, rpc, signing } = fakes.services(NO_PLUGIN_HTTP);
  t.match(await transactions.send('plain', { to: 'x' }), { id: 'tx-1', status: 'pending', relayer_id: 'plain' });
  t.match(await transactions.send('slow', {}), { id: 'tx-2', status: 'sent' });
  t.match(await transactions.get('plain', 'tx-1'), { id: 'tx-1', status: 'mined' });
  t.match(await transactions.wait('slow', 'tx-2', { intervalMs: 1, timeoutMs: 5000 }, signal), { status: 'confirmed' });
  looks = -1e9;
  t.equal(await transactions.wait('slow', 'tx-2', { intervalMs: 2, timeoutMs: 1 }, signal), undefined);
  t.match(await relayers.get('slow'), { id: 'slow', network_type: 'stellar', paused: false });
  t.match(await relayers.status('slow'), { network_type: 'stellar', sequence_number: '7' });
  t.match(await rpc.call('slow', { method: 'm', params: [1], id: 5 }), { id: 5, result: ['m', [1]] });
  t.match(await signing.signTransaction('slow', { a: 1 }), { signature: '{"a":1}' });
  await t.rejects(
    Promise.resolve().then(() => signing.signTransaction('plain', {})),
    { code: 'NOT_SUPPORTED' },
  );
  await t.rejects(
    Promise.resolve().then(() => relayers.get('other')),
    { code: 'RELAYER_NOT_FOUND' },
  );
  t.equal(fakes.sent.length, 2);
});

t.test('values and locks are kept in memory', async (t) => {
  const { kv } = new FakeServices({}).services(NO_PLUGIN_HTTP);
  t.equal(await kv.get('p', 'a'), null);
  t.ok(await kv.set(caller, 'a', '{"n":1}'));
  await kv.set(caller, 'b', '2');
  t.equal(await kv.get('p', 'a'), '{"n":1}');
  t.strictSame(await kv.listKeys('p', '', 'a'), ['b']);
  t.ok(await kv.exists('p', 'b'));
  t.ok(await kv.del(caller, 'b'));
  await t.rejects(kv.set(caller, 'no key', '1'), /invalid key/);
  const lock = await kv.lock(caller, 'l', 1000, undefined, signal);
  t.equal(await kv.lock(caller, 'l', 1000, undefined, signal), null);
  t.ok(lock !== null && (await kv.unlock('p', lock)));
  t.equal(await kv.clear(caller, undefined, signal), 1);
});

t.test('what a relayer of a test throws is heard of', async (t) => {
  const fail = () => {
    throw new Error('out of money');
  };
  const fakes = new FakeServices({ r: { send: fail, rpc: fail, sign: fail, transaction: fail } });
  const { transactions, rpc, signing } = fakes.services({ fetch: fail, close: async () => {} }) as unknown as Record<
    string,
    Record<string, (id: string, body: unknown) => Promise<unknown>>
  >;
  for (const ask of [transactions?.['send'], transactions?.['get'], rpc?.['call'], signing?.['signTransaction']]) {
    await t.rejects(ask?.('r', { method: 'm' }) ?? Promise.resolve(), {
      code: 'INVALID_REQUEST',
      message: /out of money/,
    });
  }
});
