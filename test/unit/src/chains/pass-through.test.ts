import t, { type Test } from 'tap';
import { passThrough } from '../../../../src/chains/pass-through.ts';
import { openRpc } from '../../../support/evm.ts';
import { type DoubleAnswer, startRpcDouble } from '../../../support/rpc-double.ts';

async function open(t: Test, answer: DoubleAnswer, settings = {}) {
  const double = await startRpcDouble(() => answer);
  const rpc = openRpc([`${double.url}/v3/0123456789abcdef`], { tries: 3, baseDelayMs: 1, ...settings });
  t.teardown(() => Promise.all([rpc.close(), double.stop()]));
  return { rpc, double, pass: (body: unknown) => passThrough(rpc, body, (method) => method.startsWith('eth_get')) };
}

t.test('results come back under the caller’s id', async (t) => {
  const { pass, double } = await open(t, { result: { any: ['thing'] } });
  const result = { any: ['thing'] };
  t.same(await pass({ jsonrpc: '1.0', method: 'eth_call', params: [1], id: 'x' }), { jsonrpc: '2.0', result, id: 'x' });
  t.same(await pass({ method: 'eth_call' }), { jsonrpc: '2.0', result, id: 1 });
  t.same(await pass({ method: 'eth_call', id: null }), { jsonrpc: '2.0', result });
  t.match(double.calls, [{ params: [1] }, { params: [] }]);
  const { pass: passNull } = await open(t, { result: null });
  t.same(await passNull({ method: 'eth_x' }), { jsonrpc: '2.0', result: null, id: 1 });
});

t.test('what is no call', async (t) => {
  const { pass, double } = await open(t, { result: 1 });
  for (const body of [{}, { method: 5 }, { method: '' }, [], [{ method: 'eth_call' }], null, 'eth_call']) {
    await t.rejects(pass(body), { code: 'INVALID_REQUEST', message: "Missing 'method' field" });
  }
  for (const id of [1.5, true, {}, []]) {
    const message = "Invalid 'id' field: must be a string, integer, or null";
    await t.rejects(pass({ method: 'eth_call', id }), { code: 'INVALID_REQUEST', message });
  }
  t.equal(double.calls.length, 0);
});

t.test('what a node answers stays what it is, with nothing of the endpoint', async (t) => {
  for (const [said, told] of [
    [{ code: 3, message: 'execution reverted: late', data: '0x08c379a0' }, {}],
    [{ code: -32_000, message: 'nonce too low' }, {}],
    [{ code: -32_602, message: 'bad', data: null }, {}],
    [{ code: -32_000, message: 'key 0123456789abcdef is over its limit' }, { message: /^key .*(?<!abcdef) is over/ }],
  ] as const) {
    const { pass } = await open(t, { error: said }, { tries: 1 });
    const description = `RPC error occurred (code: ${said.code})`;
    const answer = await pass({ method: 'eth_call', id: 5 });
    t.match(answer, { jsonrpc: '2.0', error: { ...said, description, ...told }, id: 5 });
    t.equal('data' in (answer.error ?? {}), 'data' in said);
    t.notMatch(JSON.stringify(answer), '0123456789abcdef');
  }
});

t.test('the reference’s codes and texts where no node answered, and nothing of the endpoint', async (t) => {
  const cases: [DoubleAnswer, number, string, string][] = [
    ['silence', -33_000, 'Request timeout', 'The request timed out. Please try again later'],
    [{ status: 429 }, -33_001, 'Rate limited', 'Rate limit exceeded. Please try again later'],
    [{ status: 502 }, -33_002, 'Bad gateway', 'Service temporarily unavailable. Please try again later'],
    [{ status: 403 }, -33_003, 'Request error', 'Request failed with status code 403'],
    ['hang-up', -32_603, 'Internal error', 'Network error occurred. Please try again later'],
    [{ body: 'nonsense' }, -32_603, 'Internal error', 'An internal error occurred. Please try again later'],
  ];
  for (const [answer, code, message, description] of cases) {
    const { pass } = await open(t, answer, { tries: 1, ...(answer === 'silence' && { timeoutMs: 100 }) });
    t.same(await pass({ method: 'eth_call', id: 5 }), { jsonrpc: '2.0', error: { code, message, description }, id: 5 });
  }
});

t.test('an endpoint that asked to be left alone is not asked, and that is told', async (t) => {
  const { pass, double } = await open(t, { status: 429 }, { tries: 1, limitMs: 60_000, limitCapMs: 60_000 });
  const limited = { error: { code: -33_001, message: 'Rate limited' } };
  t.match(await pass({ method: 'eth_call' }), limited);
  t.match(await pass({ method: 'eth_sendRawTransaction' }), limited);
  t.equal(double.calls.length, 1);
});

t.test('what may have an effect leaves once, what has none is tried again', async (t) => {
  for (const [method, times] of [
    ['eth_getBalance', 3],
    ['eth_sendRawTransaction', 1],
  ] as const) {
    const { pass, double } = await open(t, { status: 503 });
    t.match(await pass({ method }), { error: { code: -33_003 } });
    t.equal(double.calls.length, times, method);
  }
});

t.test('what nodes say of a client’s calls pauses no endpoint, in whatever words', async (t) => {
  const { rpc, pass } = await open(t, { error: { code: -32_603, message: 'a text that nobody knows' } }, { tries: 1 });
  for (let count = 0; count < 5; count += 1) {
    await pass({ method: 'eth_getBalance' });
    await pass({ method: 'eth_sendRawTransaction' });
  }
  t.match(rpc.endpoints(), [{ state: 'ready' }]);
  t.equal(rpc.contact.isLost, false);
  for (let count = 0; count < 5; count += 1) await rpc.read('eth_getBalance', []).catch(() => {});
  t.match(rpc.endpoints(), [{ state: 'paused' }], 'those of our own do');
});
