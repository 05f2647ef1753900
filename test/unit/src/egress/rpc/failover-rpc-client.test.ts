import { inspect } from 'node:util';
import t, { type Test } from 'tap';
import { rpcDialect } from '../../../../../src/chains/evm/rpc-error-dialect.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { createAddressGuard } from '../../../../../src/egress/address-guard.ts';
import { createHttpClient } from '../../../../../src/egress/http-client.ts';
import {
  createRpcClient,
  type RpcCallReport,
  type RpcClientParts,
} from '../../../../../src/egress/rpc/failover-rpc-client.ts';
import { EndpointUnfit, RpcError } from '../../../../../src/egress/rpc/rpc-client.ts';
import { type DoubleHandler, type RpcDouble, startRpcDouble } from '../../../../support/rpc-double.ts';
import { TravelClock } from '../../../../support/travel-clock.ts';

const QUICK = { timeoutMs: 5_000, baseDelayMs: 1, maxDelayMs: 2 };

/** Starts doubles in the order in which the client tries them: the random choice always picks the first healthy one. */
async function open(t: Test, handlers: DoubleHandler[], parts: Partial<RpcClientParts> = {}) {
  const doubles = await Promise.all(handlers.map((handler) => startRpcDouble(handler)));
  const http = createHttpClient(createAddressGuard({ allowedHosts: [], blockPrivate: false }));
  const reports: RpcCallReport[] = [];
  const rpc = createRpcClient({
    endpoints: doubles.map(({ url }) => ({ url: `${url}/v3/0123456789abcdef`, weight: 100 })),
    http,
    clock: systemClock,
    random: () => 0,
    dialect: rpcDialect,
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

t.test('429, 502, resets and the like move a read to the next endpoint at once, with one try each', async (t) => {
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
  t.match(reports, [{ outcome: 'transport' }, { outcome: 'ok' }]);
});

t.test('a single endpoint is tried three times, and used again after it failed', async (t) => {
  let healthy = false;
  const { rpc, calls } = await open(t, [() => (healthy ? { result: '0x1' } : { status: 500 })]);
  await t.rejects(rpc.read('eth_chainId', []), { name: 'RpcError', kind: 'http', status: 500 });
  t.same(calls(), [3]);
  healthy = true;
  t.equal(await rpc.read('eth_chainId', []), '0x1');
});

t.test('endpoints that have been gone for a while are asked once for each call, until one serves', async (t) => {
  const clock = new TravelClock();
  let healthy = false;
  const { rpc, calls } = await open(t, [() => (healthy ? { result: '0x1' } : { status: 500 })], { clock });
  await t.rejects(rpc.read('eth_chainId', []));
  await t.rejects(rpc.read('eth_chainId', []));
  t.same(calls(), [6], 'a hiccup is worth three tries');
  clock.shift = 5_000;
  await t.rejects(rpc.read('eth_chainId', []));
  t.same(calls(), [7]);
  healthy = true;
  t.equal(await rpc.read('eth_chainId', []), '0x1');
  healthy = false;
  await t.rejects(rpc.read('eth_chainId', []));
  t.same(calls(), [11]);
});

t.test('nonce error wrapped in -32603 or -32002: what is said of a transaction pauses no provider', async (t) => {
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

t.test('an endpoint that answers 429 without a time is asked less and less, on every path', async (t) => {
  const clock = new TravelClock();
  const { rpc, calls, reports } = await open(t, [() => ({ status: 429 })], { clock, settings: { tries: 1 } });
  // One minute with a request every 50 ms.
  for (let at = 0; at < 60_000; at += 50) {
    clock.shift = at;
    await Promise.allSettled([
      rpc.read('eth_blockNumber', []),
      rpc.onOne((read) => Promise.all([read('eth_getBalance', [], String), read('eth_chainId', [], String)])),
      rpc.each('eth_chainId', []),
      rpc.offerAll('eth_sendRawTransaction', ['0x02']),
      rpc.offerEach('eth_sendRawTransaction', ['0x02'], (read) => read('eth_chainId', [], String)),
    ]);
  }
  const [asked = 0] = calls();
  t.ok(asked >= 6 && asked < 60, `${asked} calls in a minute`);
  t.equal(reports.length, asked, 'and what was not asked is not counted');
  t.match(await rpc.offerAll('eth_sendRawTransaction', ['0x02']), [{ reason: { kind: 'limited' } }]);
});

/** The limit of a plan with 30 requests a minute, a hundred times faster: 30 at once, then one every 20 ms. */
function plan(): () => boolean {
  let [left, at] = [30, performance.now()];
  return () => {
    const now = performance.now();
    left = Math.min(30, left + (now - at) / 20);
    at = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}

t.test(
  'where calls are refused by a plan or by chance, every call comes to its end, and few are in vain',
  async (t) => {
    let count = 0;
    for (const allows of [plan(), () => (count += 1) % 3 > 0]) {
      let refused = 0;
      const handler: DoubleHandler = ({ params }) => {
        if (allows()) return { result: params[0] };
        refused += 1;
        return { status: 429 };
      };
      const settings = { timeoutMs: 60_000, limitMs: 4, limitCapMs: 50, tries: 1 };
      const { rpc, reports } = await open(t, [handler], { settings });
      const look = (n: number) =>
        rpc.onOne(async (read) => [await read('eth_chainId', [n], String), await read('eth_blockNumber', [n], String)]);
      for (let n = 0; n < 50; n += 1) t.same(await look(n), [String(n), String(n)]);
      t.ok(refused > 2 && refused < 200, `${refused} refused`);
      t.equal(reports.length, 100 + refused, 'each is counted');
    }
  },
);

t.test('of more endpoints than one round takes the one that answers is found', async (t) => {
  const away: DoubleHandler = () => ({ status: 500 });
  const handlers = [away, away, away, away, away, away, says('0x1')];
  const { rpc, calls } = await open(t, handlers, { settings: { tries: 2, failovers: 3 } });
  t.equal(await rpc.read('eth_chainId', []), '0x1');
  t.same(calls(), [1, 1, 1, 1, 1, 1, 1]);
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

t.test('a cut answer of the only endpoint costs its own call, not those before it', async (t) => {
  for (const trouble of ['hang-up', { body: '{"jsonrpc":"2.0","id":1,"res' }] as const) {
    let cuts = 0;
    const cutting: DoubleHandler = ({ method }) => {
      if (method !== 'third' || cuts > 0) return { result: method };
      cuts += 1;
      return trouble;
    };
    const { rpc, doubles } = await open(t, [cutting], { settings: { tries: 1 } });
    const seen = await rpc.onOne(async (read) => [
      await read('first', [], String),
      await read('second', [], String),
      await read('third', [], String),
    ]);
    t.same(seen, ['first', 'second', 'third']);
    t.same(
      doubles[0]?.calls.map(({ method }) => method),
      ['first', 'second', 'third', 'third'],
    );
  }
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

t.test('offers of several go to one endpoint, and stay with the one that took the last', async (t) => {
  let draw = 0.99;
  const { rpc, calls } = await open(t, [says('0xa'), says('0xb')], { random: () => draw });
  t.match(await rpc.offerAll('eth_sendRawTransaction', [['0x01'], ['0x02']]), [{ value: '0xb' }, { value: '0xb' }]);
  draw = 0;
  t.match(await rpc.offerAll('eth_sendRawTransaction', [['0x03']]), [{ value: '0xb' }]);
  t.equal(await rpc.offer('eth_sendRawTransaction', ['0x04']), '0xb');
  t.same(calls(), [0, 4]);
  t.same(await rpc.offerAll('eth_sendRawTransaction', []), []);
});

t.test('an endpoint that fails an offer is no longer preferred; one that refuses it is', async (t) => {
  let draw = 0.99;
  const { rpc, doubles } = await open(t, [says('0xa'), says('0xb')], { random: () => draw });
  await rpc.offer('eth_sendRawTransaction', ['0x01']);
  draw = 0;
  doubles[1]?.answer(fails(-32_000, 'nonce too low'));
  t.match(await rpc.offerAll('eth_sendRawTransaction', [['0x02']]), [{ reason: { message: 'nonce too low' } }]);
  doubles[1]?.answer(() => 'hang-up');
  t.match(await rpc.offerAll('eth_sendRawTransaction', [['0x02']]), [{ reason: { kind: 'transport' } }]);
  t.match(await rpc.offerAll('eth_sendRawTransaction', [['0x02']]), [{ value: '0xa' }]);
});

t.test('the same bytes can be offered to every endpoint, each once', async (t) => {
  const { rpc, calls } = await open(t, [says('0xa'), fails(-32_000, 'already known'), () => 'hang-up']);
  t.match(await rpc.offerEach('eth_sendRawTransaction', [['0x02']]), [
    [{ status: 'fulfilled', value: '0xa' }],
    [{ status: 'rejected', reason: { kind: 'node', message: 'already known' } }],
    [{ status: 'rejected', reason: { kind: 'transport' } }],
  ]);
  t.same(calls(), [1, 1, 1]);
  t.equal(rpc.endpointCount, 3);
});

t.test('offers leave an endpoint that what it took speaks against, and go where it is said', async (t) => {
  const { rpc, doubles, calls } = await open(t, [says('0xa'), says('0xb')], { random: () => 0 });
  const offer = async (elsewhere: boolean) =>
    (await rpc.offerAll('eth_sendRawTransaction', [['0x01']], { elsewhere }))[0];
  t.match(await offer(false), { value: '0xa' });
  t.match(await offer(true), { value: '0xb' });
  t.match(await offer(false), { value: '0xb' }, 'and stay there');
  doubles[0]?.answer(fails(-32_000, 'already known'));
  t.match(await offer(true), { reason: { message: 'already known' } });
  t.match(await offer(false), { reason: { message: 'already known' } }, 'it has the bytes as well');
  rpc.prefer(1);
  t.match(await offer(false), { value: '0xb' });
  t.same(calls(), [3, 3]);

  const alone = await open(t, [says('0xa')]);
  await alone.rpc.offerAll('eth_sendRawTransaction', [['0x01']]);
  t.match(await alone.rpc.offerAll('eth_sendRawTransaction', [['0x01']], { elsewhere: true }), [{ value: '0xa' }]);
});

t.test('the other endpoints can be asked what one of them was', async (t) => {
  const { rpc, calls } = await open(t, [says('0xa'), says('0xb'), () => 'hang-up'], { random: () => 0 });
  const heard = await rpc.onOne(async (read) => {
    const own = await read('eth_chainId', [], String);
    const others = await Promise.allSettled(rpc.onOthers(read, (other) => other('eth_chainId', [], String)));
    return [own, ...others];
  });
  t.match(heard, ['0xa', { value: '0xb' }, { reason: { kind: 'transport' } }]);
  t.same(calls(), [1, 1, 1]);
});

t.test('all endpoints can be asked, of which one that hangs holds up none', async (t) => {
  const { promise: hung, resolve: endHanging } = Promise.withResolvers<'hang-up'>();
  const { rpc, calls } = await open(t, [() => hung, () => 'hang-up', says('0xb')]);
  const all = rpc.onAll((read) => read('eth_chainId', [], String));
  t.match(await Promise.allSettled(all.slice(1)), [{ reason: { kind: 'transport' } }, { value: '0xb' }]);
  endHanging('hang-up');
  t.match(await Promise.allSettled(all), [{ status: 'rejected' }, { status: 'rejected' }, { value: '0xb' }]);
  t.same(calls(), [1, 1, 1]);
});

t.test('wrong chain behind the URL: the endpoint is set aside, and another serves at once', async (t) => {
  const { rpc, calls } = await open(t, [says('0x5'), says('0x1')]);
  const isOurs = (answer: unknown) => {
    if (answer !== '0x1') throw new EndpointUnfit(`it serves chain ${String(answer)}`, { pauseMs: 60_000 });
    return answer;
  };
  t.equal(await rpc.read('eth_chainId', [], isOurs), '0x1');
  t.equal(await rpc.onOne((read) => read('eth_chainId', [], isOurs)), '0x1');
  t.same(calls(), [1, 2], 'and is not asked again');
});

t.test('the last endpoint that is left is never set aside; its reason reaches the caller', async (t) => {
  const { rpc, calls } = await open(t, [says('0x5'), says('0x5')]);
  const use = () =>
    rpc.onOne(async (read) => {
      await read('eth_chainId', [], String);
      throw new EndpointUnfit('it serves chain 5 by 0123456789abcdef', { pauseMs: 60_000 });
    });
  const error = { kind: 'malformed', message: /^http:\S+ cannot serve this: it serves chain 5 by \*\*\*$/ };
  await t.rejects(use(), error);
  t.same(calls(), [1, 1], 'each is asked once');
  await t.rejects(use(), error);
  t.same(calls(), [1, 2]);
});

t.test('a node that is behind costs it nothing: another is asked, and it is the first again next time', async (t) => {
  const { rpc, calls } = await open(t, [says('0x9'), says('0xa')]);
  const seen = (answer: unknown) => {
    if (answer === '0x9') throw new EndpointUnfit('it is behind block 10', { pauseMs: 0 });
    return answer;
  };
  for (let count = 0; count < 5; count += 1) t.equal(await rpc.read('eth_blockNumber', [], seen), '0xa');
  t.same(calls(), [5, 5]);
});

t.test('a node counts as behind until a read that judges its height says otherwise', async (t) => {
  const clock = new TravelClock();
  const news: string[] = [];
  const { rpc } = await open(t, [says('0x9'), says('0xa')], { clock, onEndpoint: ({ kind }) => void news.push(kind) });
  const judge = (isHigh: boolean) =>
    rpc.onOne(async (read) => {
      const head = await read('eth_blockNumber', [], String);
      if (isHigh) rpc.caughtUp(read);
      else if (head === '0x9') throw new EndpointUnfit('it is behind block 10', { pauseMs: 0 });
      return head;
    });
  t.equal(await judge(false), '0xa');
  t.equal(await rpc.read('eth_gasPrice', []), '0x9', 'the same endpoint serves other reads');
  clock.shift += 30_000;
  t.equal(await judge(false), '0xa');
  t.equal(await rpc.read('eth_gasPrice', []), '0x9');
  t.strictSame(news, ['behind']);
  t.equal(await judge(true), '0x9');
  t.strictSame(news, ['behind', 'back']);
});

t.test('each call of a batch is reported and parsed on its own', async (t) => {
  const { rpc, doubles, reports } = await open(t, [({ method }) => ({ result: method })], { settings: { tries: 1 } });
  const parse = (answer: unknown) => {
    if (answer === 'bad') throw new TypeError('not that');
    return String(answer);
  };
  const settled = await Promise.allSettled(['a', 'bad', 'c'].map((method) => rpc.read(method, [], parse)));
  t.match(settled, [{ value: 'a' }, { reason: { kind: 'malformed' } }, { value: 'c' }]);
  t.same(
    doubles[0]?.requests.map(({ length }) => length),
    [3],
  );
  t.same(
    reports.map(({ method, outcome }) => [method, outcome]),
    [
      ['a', 'ok'],
      ['bad', 'transport'],
      ['c', 'ok'],
    ],
  );
});

t.test('what an answer says never becomes the cause of an error, which a log would show', async (t) => {
  const { rpc } = await open(t, [says('key 0123456789abcdef')], { settings: { tries: 1 } });
  const parse = (answer: unknown) => {
    throw new Error(String(answer));
  };
  const error = await rpc.read('eth_chainId', [], parse).catch((caught: unknown) => caught);
  t.ok(error instanceof RpcError);
  t.notMatch(inspect(error, { depth: 10 }), /0123456789abcdef/);
});

t.test('all providers paused: there is still something to try, and they recover by themselves', async (t) => {
  let healthy = false;
  const flaky: DoubleHandler = () => (healthy ? { result: '0x1' } : { status: 503 });
  const { rpc, calls } = await open(t, [flaky, flaky], { settings: { tries: 2 } });
  for (let count = 0; count < 3; count += 1) await t.rejects(rpc.read('eth_chainId', []), { name: 'RpcError' });
  t.same(calls(), [6, 6], 'both are past their third failure');
  healthy = true;
  t.equal(await rpc.read('eth_chainId', []), '0x1');
});

t.test('best-effort tracing pauses no provider, whatever comes of it', async (t) => {
  const troubles: DoubleHandler[] = [
    () => ({ status: 403 }),
    () => ({ status: 500 }),
    () => 'hang-up',
    () => ({ body: 'nonsense' }),
    fails(-32_601, 'the method debug_traceTransaction does not exist/is not available'),
    says('not a trace'),
  ];
  const parse = (answer: unknown) => {
    if (answer === 'not a trace') throw new TypeError('no trace');
    return answer;
  };
  for (const trouble of troubles) {
    const handler: DoubleHandler = (call) => (call.method === 'debug_traceTransaction' ? trouble(call) : { result: 1 });
    const { rpc, calls } = await open(t, [handler, says(2)], { settings: { tries: 1, failovers: 0 } });
    for (let count = 0; count < 4; count += 1) {
      await t.rejects(rpc.read('debug_traceTransaction', [], parse, { bestEffort: true }), RpcError);
      const tracing = rpc.onOne((read) => read('debug_traceTransaction', [], parse), { bestEffort: true });
      await t.rejects(tracing, { name: 'RpcError' });
    }
    t.equal(await rpc.read('eth_chainId', []), 1, 'it is still the first to be asked');
    t.same(calls(), [9, 0]);
  }
});

t.test('SSRF via redirect: an endpoint cannot send us elsewhere', async (t) => {
  const target = await open(t, [says('0x1')]);
  const redirect: DoubleHandler = () => ({ status: 307, headers: { location: target.doubles[0]?.url ?? '' } });
  const metadata: DoubleHandler = () => ({ status: 302, headers: { location: 'http://169.254.169.254/latest' } });
  const { rpc, calls } = await open(t, [redirect, metadata]);
  await t.rejects(rpc.read('eth_chainId', []), { name: 'RpcError', status: 302 });
  await t.rejects(rpc.offer('eth_sendRawTransaction', ['0x02']), {
    name: 'RpcError',
    status: 307,
    message: / answered with HTTP status 307 \(a redirect to http:\/\/127\.0\.0\.1:\d+: redirects are not followed/,
  });
  t.same(calls(), [2, 1]);
  t.same(target.calls(), [0]);
});

t.test('retries set to 1 or 0 do not disable failover', async (t) => {
  for (const tries of [1, 0]) {
    const { rpc, calls } = await open(t, [() => ({ status: 500 }), says('0x1')], { settings: { tries } });
    t.equal(await rpc.read('eth_chainId', []), '0x1');
    t.same(calls(), [1, 1]);
  }
});

t.test('failure attributed to the right provider when many calls run at once', async (t) => {
  const { promise: allAsked, resolve: release } = Promise.withResolvers<void>();
  const failing: DoubleHandler = async () => {
    await allAsked;
    return { status: 500 };
  };
  const { rpc, doubles, reports } = await open(t, [failing, says('0x1')], { settings: { tries: 1 } });
  const pending: Promise<unknown>[] = [];
  for (let count = 1; count <= 12; count += 1) {
    pending.push(rpc.read('eth_chainId', []));
    while (doubles[0]?.calls.length !== count) await new Promise((resolve) => setImmediate(resolve));
  }
  release();
  t.same(new Set(await Promise.all(pending)), new Set(['0x1']));
  const [first, second] = doubles.map(({ url }) => reports.filter(({ endpoint }) => endpoint === url));
  t.same(new Set(first?.map(({ outcome }) => outcome)), new Set(['endpoint']));
  t.same(new Set(second?.map(({ outcome }) => outcome)), new Set(['ok']));
  t.equal(await rpc.read('eth_chainId', []), '0x1');
  t.equal(doubles[0]?.calls.length, 12, 'the one that failed is paused, the other is not');
});
