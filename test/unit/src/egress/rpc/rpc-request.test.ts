import t, { type Test } from 'tap';
import { dialect } from '../../../../../src/chains/evm/dialect.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { createAddressGuard } from '../../../../../src/egress/address-guard.ts';
import { createHttpClient } from '../../../../../src/egress/http-client.ts';
import { createEndpoint } from '../../../../../src/egress/rpc/endpoint.ts';
import { createRpcRequest } from '../../../../../src/egress/rpc/rpc-request.ts';
import { type DoubleHandler, startRpcDouble } from '../../../../support/rpc-double.ts';

async function open(t: Test, handler: DoubleHandler, settings: { timeoutMs?: number; maxAnswerBytes?: number } = {}) {
  const double = await startRpcDouble(handler);
  const http = createHttpClient(createAddressGuard({ allowedHosts: [], blockPrivate: false }));
  t.teardown(async () => {
    await http.close();
    await double.stop();
  });
  const held: number[] = [];
  let id = 0;
  const request = createRpcRequest({
    endpoint: createEndpoint({ url: `${double.url}/v3/0123456789abcdef`, weight: 100 }),
    http,
    clock: systemClock,
    pool: { hold: (_, ms) => held.push(ms) },
    settings: { timeoutMs: 5_000, maxAnswerBytes: 10_000, pauseMs: 60_000, ...settings },
    dialect,
    nextId: () => {
      id += 1;
      return id;
    },
  });
  return {
    double,
    held,
    request,
    texts: (count: number) => Array.from({ length: count }, () => request.textOf('m', [])),
  };
}

t.test('one call goes as an object, several as an array', async (t) => {
  const { double, request, texts } = await open(t, ({ id }) => ({ result: id }));
  t.same(await request.send(texts(1)), { kind: 'answers', answers: [{ status: 'fulfilled', value: 1 }] });
  t.match(await request.send(texts(2)), { answers: [{ value: 2 }, { value: 3 }] });
  t.same(
    double.requests.map((calls) => calls.map(({ batchSize }) => batchSize)),
    [[1], [2, 2]],
  );
  t.same(await request.send([]), { kind: 'answers', answers: [] });
  t.equal(double.requests.length, 2, 'and nothing as nothing');
});

t.test('parameters that are null are left out, and the length is that of the bytes', async (t) => {
  const { request } = await open(t, () => ({ result: 1 }));
  t.equal(request.textOf('m', null).text, '{"jsonrpc":"2.0","id":1,"method":"m"}');
  const { text, bytes } = request.textOf('m', ['ü']);
  t.equal(bytes, text.length + 1);
});

t.test('without an answer each call has failed for the same reason', async (t) => {
  const hangUp = await open(t, () => 'hang-up');
  const error = { kind: 'transport', message: /^http:\/\/127.0.0.1:\d+: connection failed/ };
  t.match(await hangUp.request.send(hangUp.texts(2)), { answers: [{ reason: error }, { reason: error }] });
  const silent = await open(t, () => 'silence', { timeoutMs: 30 });
  t.match(await silent.request.send(silent.texts(1)), { answers: [{ reason: { kind: 'timeout' } }] });
});

t.test('answers that are too long together may be short enough in smaller batches', async (t) => {
  const { request, texts } = await open(t, () => ({ result: 'x'.repeat(6_000) }));
  const reading = await request.send(texts(2));
  t.match(reading, { kind: 'refused', reason: 'size', isCertain: false });
  if (reading.kind === 'refused')
    t.match(reading.failure(request.textOf('m', []).call), { kind: 'malformed', message: /larger/ });
  t.match(await request.send(texts(1)), { answers: [{ status: 'fulfilled' }] });
});

t.test('only a 429 asks to be left alone, no longer than a pause lasts', async (t) => {
  let status = 429;
  const { held, request, texts } = await open(t, () => ({ status, headers: { 'retry-after': '3600' } }));
  await request.send(texts(1));
  await request.send(texts(2));
  t.same(held, [60_000, 60_000]);
  status = 503;
  await request.send(texts(1));
  t.equal(held.length, 2);
});
