import t, { type Test } from 'tap';
import { rpcDialect } from '../../../../../src/chains/evm/rpc-error-dialect.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import type { Json } from '../../../../../src/domain/json/json.ts';
import { createAddressGuard } from '../../../../../src/egress/address-guard.ts';
import { createHttpClient } from '../../../../../src/egress/http-client.ts';
import { createEndpoint } from '../../../../../src/egress/rpc/endpoint.ts';
import {
  isBatchError,
  type JsonRpcBatchResult,
  readJsonRpcAnswer,
  readJsonRpcBatch,
  retryAfterMs,
} from '../../../../../src/egress/rpc/json-rpc-answer.ts';
import { RpcError } from '../../../../../src/egress/rpc/rpc-client.ts';
import { createRpcRequest } from '../../../../../src/egress/rpc/rpc-request.ts';
import { type DoubleHandler, startRpcDouble } from '../../../../support/rpc-double.ts';

const endpoint = createEndpoint({ url: 'https://rpc.example.com/v3/0123456789abcdef', weight: 100 });
const call = { endpoint, id: 7, method: 'eth_test' };
const read = (body: string, status = 200) => readJsonRpcAnswer(call, { status, body: jsonOr(body) });

function jsonOr(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

t.test('a result is a result, also null', async (t) => {
  t.same(read('{"jsonrpc":"2.0","id":7,"result":{"a":1}}'), { a: 1 });
  t.equal(read('{"jsonrpc":"2.0","id":7,"result":null}'), null);
  t.equal(read('{"id":7,"result":"0x1","error":null}'), '0x1', 'old nodes say both');
});

t.test('an error is the node’s, whatever the status', async (t) => {
  const body = '{"id":7,"error":{"code":3,"message":"reverted","data":"0x08c3"}}';
  for (const status of [200, 400, 500]) {
    t.throws(() => read(body, status), { kind: 'node', code: 3, message: 'reverted', data: '0x08c3', status });
  }
  t.throws(() => read('{"id":null,"error":{"code":-32700,"message":"parse error"}}'), { kind: 'node', code: -32_700 });
  t.throws(() => read('{"id":7,"error":{"code":-32000,"message":"key 0123456789abcdef is over its limit"}}'), {
    message: 'key *** is over its limit',
  });
});

t.test('what is no answer to this very request is malformed', async (t) => {
  for (const body of [
    '',
    '<html>welcome</html>',
    '[]',
    'null',
    '"0x1"',
    '{"jsonrpc":"2.0","id":7,"resu',
    '{"jsonrpc":"2.0","id":8,"result":"0x1"}',
    '{"jsonrpc":"2.0","result":"0x1"}',
    '{"jsonrpc":"2.0","id":7}',
    '{"jsonrpc":"2.0","id":9,"error":{"code":3,"message":"for another"}}',
    '{"jsonrpc":"2.0","id":7,"error":"no"}',
  ]) {
    t.throws(() => read(body), { kind: 'malformed', message: /^https:\/\/rpc.example.com answered eth_test/ }, body);
  }
});

t.test('a status that is not a success is an HTTP failure', async (t) => {
  t.throws(() => read('<html>bad gateway</html>', 502), { name: 'RpcError', kind: 'http', status: 502 });
  t.throws(() => read('{"error":"unauthorized"}', 401), { name: 'RpcError', kind: 'http', status: 401 });
  t.throws(() => read('', 302), { name: 'RpcError', kind: 'http', status: 302 }, 'a redirect is not followed');
});

t.test('Retry-After is in seconds or a date', async (t) => {
  t.equal(retryAfterMs('2', 0), 2_000);
  t.equal(retryAfterMs(['3', '9'], 0), 3_000);
  t.equal(retryAfterMs('Thu, 01 Jan 1970 00:00:10 GMT', 4_000), 6_000);
  t.equal(retryAfterMs('Thu, 01 Jan 1970 00:00:10 GMT', 40_000), 0);
  t.equal(retryAfterMs('soon', 0), undefined);
  t.equal(retryAfterMs(undefined, 0), undefined);
});

t.test('json rpc batch', async (t) => {
  const endpoint = createEndpoint({ url: 'https://rpc.example.com/v3/0123456789abcdef', weight: 100 });
  const call = (id: number) => ({ endpoint, id, method: `method_${id}` });

  function read(body: unknown, status = 200): JsonRpcBatchResult {
    return readJsonRpcBatch([call(1), call(2), call(3)], { status, body: parsed(body) }, rpcDialect);
  }

  /** A string is a raw response body. Anything else is encoded as JSON first. */
  function parsed(body: unknown): Json | undefined {
    try {
      return JSON.parse(typeof body === 'string' ? body : JSON.stringify(body)) as Json;
    } catch {
      return undefined;
    }
  }

  const ok = (id: unknown, result: unknown = `r${String(id)}`) => ({ jsonrpc: '2.0', id, result });
  const bad = (id: unknown, message: string, code = -32_000) => ({ jsonrpc: '2.0', id, error: { code, message } });

  /** Each call's result, or its error message or error kind. */
  function outcomes(reading: JsonRpcBatchResult): unknown[] {
    if (reading.kind === 'refused') throw new Error(`refused: ${reading.reason}`);
    return reading.answers.map((answer) => {
      if (answer.status === 'fulfilled') return answer.value;
      const error = answer.reason as RpcError;
      return error.kind === 'node' ? error.message : error.kind;
    });
  }

  t.test('answers are matched by id, in whatever order they come', async (t) => {
    t.same(outcomes(read([ok(3), ok(1), ok(2)])), ['r1', 'r2', 'r3']);
    t.same(outcomes(read([ok(1, null), ok(2), ok(3)])), [null, 'r2', 'r3']);
  });

  t.test('an error of one call is that call’s alone', async (t) => {
    t.same(outcomes(read([ok(1), bad(2, 'nonce too low'), ok(3)])), ['r1', 'nonce too low', 'r3']);
    t.same(outcomes(read([bad(1, 'a'), bad(2, 'b'), bad(3, 'c')], 500)), ['a', 'b', 'c'], 'whatever the status');
  });

  t.test('what is missing, doubled, foreign or no answer costs only the call it belongs to', async (t) => {
    for (const [what, entries] of Object.entries({
      missing: [ok(1), ok(3)],
      foreign: [ok(1), ok(99), ok(3)],
      'of another type': [ok(1), ok('2'), ok(3)],
      doubled: [ok(1), ok(2), ok(2), ok(3)],
      'doubled and contradictory': [ok(1), ok(2), bad(2, 'nonce too low'), ok(3)],
      'without result': [ok(1), { id: 2 }, ok(3)],
      'without id': [ok(1), bad(null, 'Too Many Requests'), ok(3)],
      'no object': [ok(1), 'r2', ok(3)],
      'a false error': [ok(1), { id: 2, error: 'no' }, ok(3)],
    })) {
      t.same(outcomes(read(entries)), ['r1', 'malformed', 'r3'], what);
    }
    t.same(outcomes(read([])), ['malformed', 'malformed', 'malformed']);
  });

  t.test('a refusal of batches, as providers write it', async (t) => {
    const refusals: [unknown, number, 'size' | 'batch' | 'mixture'][] = [
      // hiero-ledger/hiero-json-rpc-relay issue 1820
      [bad(null, 'Invalid Request', -32_600), 200, 'batch'],
      // erigontech/erigon issues 7072 and 17245
      [bad(null, 'batch limit 100 exceeded: 142 requests given'), 200, 'size'],
      [
        [bad(null, 'batch limit 100 exceeded (can increase by --rpc.batch.limit). Requested batch of size: 401')],
        200,
        'size',
      ],
      // go-ethereum rpc/handler.go respondWithBatchTooLarge: one entry with the id of the first call
      [[bad(1, 'batch too large', -32_600)], 200, 'size'],
      // besu-eth/besu issue 4951
      [bad(null, 'Number of requests in batch exceeds --rpc-max-batch-size.', -32_602), 200, 'size'],
      // ethereum-optimism/infra proxyd/backend.go ErrTooManyBatchRequests, ErrRequestBodyTooLarge
      [bad(null, 'too many RPC calls in batch request', -32_014), 200, 'size'],
      [bad(null, 'request body too large', -32_021), 413, 'size'],
      // Alchemy, as agnosticeng/clickhouse-evm issue 4 shows.
      [bad(null, 'Unsupported methods [trace_block] in batch call. See available methods at …'), 400, 'mixture'],
      // The free plan of drpc.org, from memory.
      [bad(null, 'Batch of more than 3 requests are not allowed on free tier', 31), 500, 'size'],
      [bad(null, 'batch requests are not supported', -32_601), 200, 'batch'],
      ['<html>Request Entity Too Large</html>', 413, 'size'],
      ['Bad Request', 400, 'batch'],
      ['', 415, 'batch'],
      ['', 501, 'batch'],
    ];
    for (const [body, status, reason] of refusals) {
      t.match(read(body, status), { kind: 'refused', reason, isCertain: true }, JSON.stringify(body));
    }
  });

  t.test('a single answer to a batch says of no call what became of it', async (t) => {
    // Infura answers like this when any call of the batch fails (ethereum-optimism/infra proxyd/backend.go
    // ErrBackendUnexpectedJSONRPC).
    const infura = read(bad(2, 'nonce too low'));
    t.match(infura, { kind: 'refused', reason: 'mixture', isCertain: false });
    if (infura.kind !== 'refused') return;
    t.match(infura.failure(call(1)), { kind: 'malformed', message: /^https:\/\/rpc.example.com answered method_1/ });

    t.match(read(bad(null, 'internal error', -32_603), 500), { kind: 'refused', reason: 'batch', isCertain: false });
    t.match(read('', 500), { kind: 'refused', reason: 'batch', isCertain: false });
    t.match(read(ok(1)), { kind: 'refused', reason: 'batch', isCertain: false });
  });

  t.test('an endpoint that turns us away does so for each call, and batches are not to blame', async (t) => {
    const limited = 'Your app has exceeded its compute units per second capacity.';
    t.same(outcomes(read(bad(null, limited, 429), 429)), [limited, limited, limited]);
    t.same(outcomes(read([bad(null, limited), bad(null, limited)])), [limited, limited, limited]);
    t.same(outcomes(read(bad(null, 'Must be authenticated!', -32_600), 401)).at(0), 'Must be authenticated!');
    t.same(outcomes(read(bad(null, 'no backend is currently healthy to serve traffic', -32_011), 503)).length, 3);
    for (const status of [401, 403, 404, 410, 429, 502, 503, 504]) {
      t.same(outcomes(read('<html>', status)), ['http', 'http', 'http'], String(status));
    }
  });

  t.test('what was cut off or is no JSON tells nothing of any call', async (t) => {
    for (const body of ['', '[{"jsonrpc":"2.0","id":1,"result":"r1"},{"js', '<html>welcome</html>']) {
      t.same(outcomes(read(body)), ['malformed', 'malformed', 'malformed'], body);
    }
  });

  t.test('no failure names more of the endpoint than its host', async (t) => {
    const leaking = 'key 0123456789abcdef is over its batch quota';
    for (const reading of [
      read(bad(null, leaking)),
      read(bad(null, 'key 0123456789abcdef failed')),
      read([ok(1), bad(2, leaking)]),
      read('', 400),
      read('', 502),
      read('['),
    ]) {
      const errors = reading.kind === 'refused' ? [reading.failure(call(1))] : reading.answers.map((answer) => answer);
      t.notMatch(
        JSON.stringify(errors.map((error) => ('reason' in error ? String(error.reason) : String(error)))),
        /0123456789abcdef|v3/,
      );
    }
  });

  t.test('an error of one call may be about the batch it was in', async (t) => {
    const node = (message: string) => new RpcError('node', message, { code: -32_000 });
    t.ok(isBatchError(node('response too large')), 'go-ethereum rpc/errors.go errMsgResponseTooLarge');
    t.ok(isBatchError(node('validation errors in batch')), 'erpc/erpc architecture/evm/error_normalizer.go');
    t.notOk(isBatchError(node('nonce too low')));
    t.notOk(isBatchError(new RpcError('transport', 'batch')));
    t.notOk(isBatchError(undefined));
  });
});

t.test('rpc request', async (t) => {
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
      dialect: rpcDialect,
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

  t.test(
    'memory and time: a large answer of tiny values is refused, one of a large answer’s usual values is read',
    async (t) => {
      const maxAnswerBytes = 16 * 1_048_576;
      const tiny = await open(t, () => ({ body: `{"jsonrpc":"2.0","id":1,"result":[${'[],'.repeat(1_000_001)}0]}` }), {
        maxAnswerBytes,
      });
      t.match(await tiny.request.send(tiny.texts(1)), { answers: [{ reason: { kind: 'malformed' } }] });
      const deep = await open(t, () => ({ body: `{"jsonrpc":"2.0","id":1,"result":${'['.repeat(1_100_000)}` }), {
        maxAnswerBytes,
      });
      t.match(await deep.request.send(deep.texts(1)), { answers: [{ reason: { kind: 'malformed' } }] });
      const logs = Array.from({ length: 20_000 }, () => ({ data: 'x'.repeat(128), topics: ['x'.repeat(66)] }));
      const usual = await open(t, () => ({ result: logs }), { maxAnswerBytes });
      t.match(await usual.request.send(usual.texts(1)), { answers: [{ value: { length: 20_000 } }] });
    },
  );

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
});
