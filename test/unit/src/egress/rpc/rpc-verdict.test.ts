import t from 'tap';
import { EndpointUnfit, isNodeError, RpcError } from '../../../../../src/egress/rpc/rpc-client.ts';
import * as verdict from '../../../../../src/egress/rpc/rpc-verdict.ts';
import { allOf, GATEWAYS, VERDICTS } from './error-corpus.ts';

const judgeFailure = (error: RpcError) => verdict.judgeRpcFailure(error, verdict.NO_DIALECT);
const speaksAgainst = (answer: PromiseSettledResult<unknown>) =>
  verdict.countsAgainstEndpoint(answer, verdict.NO_DIALECT);

const node = (code: number, message: string, status = 200) => new RpcError('node', message, { code, status });
const http = (status: number) => new RpcError('http', `HTTP status ${status}`, { status });

t.test('what is said by gateways and in the words of JSON-RPC', async (t) => {
  for (const [meaning, [code, text, source, status]] of allOf(GATEWAYS)) {
    t.same(judgeFailure(node(code, text, status)), VERDICTS[meaning], `${code} ${text} (${source})`);
  }
});

t.test(
  'statuses without a JSON-RPC error say whether the endpoint refuses, is in trouble or has too much',
  async (t) => {
    for (const status of [401, 402, 403, 404, 410, 501, 505]) {
      t.same(judgeFailure(http(status)), VERDICTS.refuses, String(status));
    }
    // nginx also sends 503 beyond its rate limits (limit_req_status). 522 and 524 are timeouts of Cloudflare.
    for (const status of [408, 429, 503, 504, 522, 524, 529]) {
      t.same(judgeFailure(http(status)), VERDICTS.overloaded, String(status));
    }
    for (const status of [425, 500, 502, 506, 520, 521, 523, 530, 599]) {
      t.same(judgeFailure(http(status)), VERDICTS.troubled, String(status));
    }
    for (const status of [302, 400, 405, 413, 415, 422]) {
      t.same(judgeFailure(http(status)), VERDICTS.lacks, String(status));
    }
  },
);

t.test('no usable answer is tried again; silence also means less at once', async (t) => {
  const again = { meaning: 'transport', retry: 'again', countsAgainst: true };
  t.match(judgeFailure(new RpcError('timeout', 'no answer within 10000 ms')), { ...again, overload: true });
  t.match(judgeFailure(new RpcError('transport', 'connection failed (ECONNRESET)')), { ...again, overload: false });
  t.match(judgeFailure(new RpcError('malformed', 'nonsense')), { ...again, overload: false });
});

t.test('our own guard’s refusal is not the endpoint’s fault, and does not change', async (t) => {
  t.match(judgeFailure(new RpcError('blocked', 'refused')), {
    meaning: 'transport',
    retry: 'elsewhere',
    countsAgainst: false,
  });
});

t.test('an endpoint that the adapter calls unfit is left, with blame or without', async (t) => {
  const unfit = (pauseMs: number) =>
    new RpcError('malformed', 'unfit', { cause: new EndpointUnfit('behind', { pauseMs }) });
  t.same(judgeFailure(unfit(60_000)), VERDICTS.refuses);
  t.same(judgeFailure(unfit(0)), VERDICTS.lacks);
});

t.test('what came of a call speaks against an endpoint when its failure does', async (t) => {
  const failed = (reason: unknown): PromiseSettledResult<unknown> => ({ status: 'rejected', reason });
  t.ok(speaksAgainst(failed(new RpcError('timeout', 'late'))));
  t.notOk(speaksAgainst(failed(new RpcError('node', 'execution reverted'))));
  t.notOk(speaksAgainst(failed(new Error('ours'))));
  t.notOk(speaksAgainst({ status: 'fulfilled', value: 1 }));
});

t.test('a family’s words and codes hold before those of gateways, and its texts before each code', async (t) => {
  const dialect: verdict.RpcDialect = {
    texts: [
      ['state', /too many/],
      ['request', /too/],
    ],
    codes: new Map([
      [-32_005, 'nobody'],
      [-32_002, 'endpoint'],
    ]),
  };
  const judge = (code: number, text = '', status = 200) => verdict.judgeRpcFailure(node(code, text, status), dialect);
  t.same(judge(-32_002, 'too many requests'), VERDICTS.state);
  t.same(judge(-32_002, 'too large'), VERDICTS.permanent);
  t.same(judge(-32_005), VERDICTS.lacks);
  t.same(judge(-32_005, 'rate limit'), VERDICTS.overloaded, 'a text of gateways before a code');
  t.same(judge(-32_005, '', 403), VERDICTS.refuses);
  t.same(judge(-32_002), VERDICTS.troubled);
  t.same(judgeFailure(node(-32_002, '')), VERDICTS.permanent, 'a code of single families blames nobody in others');
});

t.test('an error carries what its kind knows', async (t) => {
  const cause = new Error('below');
  const error = new RpcError('node', 'nonce too low', { code: -32_000, data: '0x', status: 200, cause });
  t.match(error, { name: 'RpcError', kind: 'node', code: -32_000, data: '0x', status: 200, cause });
  t.match(new RpcError('timeout', 'no answer'), { kind: 'timeout', code: undefined, status: undefined });
});

t.test('an unfit endpoint has a reason and the time to leave it alone', async (t) => {
  t.match(new EndpointUnfit('it serves chain 5', { pauseMs: 60_000 }), {
    name: 'EndpointUnfit',
    message: 'it serves chain 5',
    pauseMs: 60_000,
  });
});

t.test('a node that says no is told from one that says nothing', async (t) => {
  t.ok(isNodeError(new RpcError('node', 'execution reverted', { code: 3 })));
  t.notOk(isNodeError(new RpcError('timeout', 'late')));
  t.notOk(isNodeError(new Error('ours')));
});
