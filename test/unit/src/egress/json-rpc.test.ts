import t, { type Test } from 'tap';
import { systemClock } from '../../../../src/domain/clock.ts';
import { createAddressGuard } from '../../../../src/egress/address-guard.ts';
import { createHttpClient } from '../../../../src/egress/http-client.ts';
import { createRpcClient, type RpcCallReport, type RpcClientParts } from '../../../../src/egress/json-rpc.ts';
import { RpcError } from '../../../../src/egress/rpc-client.ts';
import { type DoubleHandler, type RpcDouble, startRpcDouble } from '../../../support/rpc-double.ts';

const QUICK = { timeoutMs: 5_000, baseDelayMs: 1, maxDelayMs: 2 };

/** Doubles in the order in which they are tried: the draw always takes the first that is healthy. */
async function open(t: Test, handlers: DoubleHandler[], parts: Partial<RpcClientParts> = {}) {
  const doubles = await Promise.all(handlers.map((handler) => startRpcDouble(handler)));
  const http = createHttpClient(createAddressGuard({ allowedHosts: [], blockPrivate: false }));
  const reports: RpcCallReport[] = [];
  const rpc = createRpcClient({
    endpoints: doubles.map(({ url }) => ({ url: `${url}/v3/0123456789abcdef`, weight: 100 })),
    http,
    clock: systemClock,
    random: () => 0,
    onCall: (report) => reports.push(report),
    ...parts,
    settings: { ...QUICK, ...parts.settings },
  });
  t.teardown(async () => {
    await rpc.close();
    await http.close();
    await Promise.all(doubles.map((double) => double.stop()));
  });
  return { rpc, doubles, reports, calls: () => doubles.map(({ calls }: RpcDouble) => calls.length) };
}

const says =
  (result: unknown): DoubleHandler =>
  () => ({ result });
const fails =
  (code: number, message: string): DoubleHandler =>
  () => ({ error: { code, message } });

t.test('asks one node, with parameters or without', async (t) => {
  const { rpc, doubles, reports } = await open(t, [says('0x1')]);
  t.equal(await rpc.read('eth_chainId', []), '0x1');
  t.equal(await rpc.read('web3_clientVersion', null, (answer) => `${String(answer)}!`), '0x1!');
  t.match(doubles[0]?.calls, [
    { method: 'eth_chainId', id: 1, params: [] },
    { method: 'web3_clientVersion', id: 2 },
  ]);
  t.match(reports, [
    { endpoint: doubles[0]?.url, method: 'eth_chainId', outcome: 'ok' },
    { method: 'web3_clientVersion', outcome: 'ok' },
  ]);
});

t.test('transport trouble moves a read to the next endpoint at once', async (t) => {
  const troubles: DoubleHandler[] = [
    () => ({ status: 502, body: '<html>' }),
    () => ({ status: 429 }),
    () => ({ status: 403 }),
    () => 'hang-up',
    () => ({ body: 'not json' }),
    fails(-32_603, 'internal error'),
    says('nonsense'),
  ];
  for (const trouble of troubles) {
    const { rpc, calls } = await open(t, [trouble, says('0x1')], { settings: { tries: 1 } });
    const parse = (answer: unknown) => {
      if (answer !== '0x1') throw new TypeError('not a quantity');
      return answer;
    };
    t.equal(await rpc.read('eth_chainId', [], parse), '0x1');
    t.same(calls(), [1, 1]);
  }
});

t.test('silence costs one time limit, then the next endpoint answers', async (t) => {
  const { rpc, reports } = await open(t, [() => 'silence', says('0x1')], { settings: { timeoutMs: 50 } });
  t.equal(await rpc.read('eth_chainId', []), '0x1');
  t.match(reports, [{ outcome: 'timeout' }, { outcome: 'ok' }]);
});

t.test('a single endpoint is tried three times, and used again after it failed', async (t) => {
  let healthy = false;
  const { rpc, calls } = await open(t, [() => (healthy ? { result: '0x1' } : { status: 500 })]);
  await t.rejects(rpc.read('eth_chainId', []), { name: 'RpcError', kind: 'http', status: 500 });
  t.same(calls(), [3]);
  healthy = true;
  t.equal(await rpc.read('eth_chainId', []), '0x1');
});

t.test('what a node answers about a transaction is no trouble of the node', async (t) => {
  for (const code of [-32_603, -32_002, -32_000]) {
    const { rpc, calls } = await open(t, [fails(code, 'nonce too low'), says('0x1')]);
    for (let count = 0; count < 4; count += 1) {
      await t.rejects(rpc.read('eth_call', []), { kind: 'node', code, message: 'nonce too low' });
    }
    t.same(calls(), [4, 0], 'it is neither retried nor paused');
  }
});

t.test('three failures pause an endpoint, and only that one', async (t) => {
  const { rpc, calls } = await open(t, [() => ({ status: 503 }), says('0x1')], { settings: { tries: 1 } });
  for (let count = 0; count < 10; count += 1) await rpc.read('eth_chainId', []);
  t.same(calls(), [3, 10]);
});

t.test('Retry-After holds an endpoint back, and a call waits for the only one', async (t) => {
  let limited = true;
  const limiting: DoubleHandler = () => {
    if (!limited) return { result: '0x1' };
    limited = false;
    return { status: 429, headers: { 'retry-after': '1' } };
  };
  const { rpc } = await open(t, [limiting]);
  const startedAt = performance.now();
  t.equal(await rpc.read('eth_chainId', []), '0x1');
  t.ok(performance.now() - startedAt >= 900);

  const long = await open(t, [() => ({ status: 429, headers: { 'retry-after': '3600' } })]);
  await t.rejects(long.rpc.read('eth_chainId', []), { name: 'RpcError', status: 429 }, 'an hour is not waited for');
  t.same(long.calls(), [1]);
});

t.test('an offer leaves exactly once, whatever comes back', async (t) => {
  const troubles: DoubleHandler[] = [
    () => ({ status: 502 }),
    () => 'hang-up',
    fails(-32_005, 'busy'),
    () => ({ body: '?' }),
  ];
  for (const trouble of troubles) {
    const { rpc, calls } = await open(t, [trouble, says('0xhash')]);
    await t.rejects(rpc.offer('eth_sendRawTransaction', ['0x02']), RpcError);
    t.same(calls(), [1, 0]);
  }
  const { rpc } = await open(t, [says('0xhash')]);
  t.equal(await rpc.offer('eth_sendRawTransaction', ['0x02']), '0xhash');
});

t.test('each endpoint is asked once, in the order of the configuration', async (t) => {
  const { rpc } = await open(t, [says('0x1'), fails(-32_000, 'no'), says('0x3')], { random: () => 0.99 });
  t.match(await rpc.each('eth_chainId', []), [
    { status: 'fulfilled', value: '0x1' },
    { status: 'rejected', reason: { message: 'no' } },
    { status: 'fulfilled', value: '0x3' },
  ]);
});

t.test('several reads see one node, and start over together on another', async (t) => {
  const breaking: DoubleHandler = ({ method }) => (method === 'second' ? 'hang-up' : { result: 'a' });
  const { rpc } = await open(t, [breaking, ({ method }) => ({ result: `b ${method}` })], { settings: { tries: 1 } });
  const seen = await rpc.onOne(async (read) => {
    const first = await read('first', [], String);
    return [first, await read('second', [], String)];
  });
  t.same(seen, ['b first', 'b second']);
});

t.test('a fault in the caller’s own code is not the endpoint’s', async (t) => {
  const { rpc, calls } = await open(t, [says('0x1'), says('0x1')]);
  const own = new RangeError('mine');
  await t.rejects(
    rpc.onOne(async (read) => {
      await read('first', [], String);
      throw own;
    }),
    own,
  );
  t.same(calls(), [1, 0]);
});

t.test('no message names path, query or credentials', async (t) => {
  const repeating = fails(-32_000, 'project 0123456789abcdef exceeded its quota');
  for (const handler of [repeating, () => ({ status: 500 }) as const, () => 'hang-up' as const, says('x')]) {
    const { rpc, doubles } = await open(t, [handler], { settings: { tries: 1 } });
    const parse = (answer: unknown) => {
      throw new Error(`${String(answer)} 0123456789abcdef`);
    };
    const error = await rpc.read('eth_chainId', [], parse).catch((caught: unknown) => caught);
    t.ok(error instanceof RpcError);
    t.notMatch(String(error), /0123456789abcdef|v3/);
    if (error instanceof RpcError && error.kind !== 'node') t.match(error.message, new RegExp(`^${doubles[0]?.url}`));
  }
});

t.test('a blocked address is refused on every path, and closing ends the wait between tries', async (t) => {
  const http = createHttpClient(createAddressGuard({ allowedHosts: [], blockPrivate: true }));
  t.teardown(() => http.close());
  const endpoints = [{ url: 'http://127.0.0.1:1/secret-key', weight: 100 }];
  const rpc = createRpcClient({ endpoints, http, clock: systemClock, random: () => 0 });
  await t.rejects(rpc.read('eth_chainId', []), { kind: 'blocked', message: /^http:\/\/127.0.0.1:1: 127.0.0.1/ });
  await t.rejects(rpc.offer('eth_chainId', []), { name: 'RpcError', kind: 'blocked' });

  const slow = await open(t, [() => ({ status: 500 })], { settings: { baseDelayMs: 60_000, maxDelayMs: 60_000 } });
  const call = slow.rpc.read('eth_chainId', []);
  const rejected = t.rejects(call, { name: 'RpcError', status: 500 });
  while (slow.calls()[0] === 0) await new Promise((resolve) => setImmediate(resolve));
  await slow.rpc.close();
  await slow.rpc.close();
  await rejected;
});

t.test('without an endpoint that is switched on there is nobody to ask', async (t) => {
  const { rpc } = await open(t, [says('0x1')], { endpoints: [{ url: 'http://127.0.0.1:1', weight: 0 }] });
  await t.rejects(rpc.read('eth_chainId', []), { kind: 'transport', message: 'no RPC endpoint is switched on' });
  await t.rejects(rpc.offer('eth_chainId', []), { name: 'RpcError', kind: 'transport' });
  t.same(await rpc.each('eth_chainId', []), []);
});

t.test('thousands of calls share a few connections', async (t) => {
  const { rpc, doubles } = await open(t, [says('0x1')]);
  const ports = new Set<unknown>();
  doubles[0]?.answer(({ remotePort }) => {
    ports.add(remotePort);
    return { result: '0x1' };
  });
  for (let round = 0; round < 20; round += 1) {
    await Promise.all(Array.from({ length: 100 }, () => rpc.read('eth_chainId', [])));
  }
  t.ok(ports.size > 0 && ports.size <= 64, `${ports.size} connections`);
});
