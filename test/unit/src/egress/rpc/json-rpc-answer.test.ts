import t from 'tap';
import type { Json } from '../../../../../src/domain/json/json.ts';
import { createEndpoint } from '../../../../../src/egress/rpc/endpoint.ts';
import { readAnswer, retryAfterMs } from '../../../../../src/egress/rpc/json-rpc-answer.ts';

const endpoint = createEndpoint({ url: 'https://rpc.example.com/v3/0123456789abcdef', weight: 100 });
const call = { endpoint, id: 7, method: 'eth_test' };
const read = (body: string, status = 200) => readAnswer(call, { status, body: jsonOr(body) });

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
