import t from 'tap';
import { RpcError } from '../../../../src/egress/rpc-client.ts';
import { judgeFailure } from '../../../../src/egress/rpc-verdict.ts';

const node = (code: number, message: string, status = 200) => new RpcError('node', message, { code, status });
const http = (status: number) => new RpcError('http', `HTTP status ${status}`, { status });

t.test('what no retry can change is final and speaks against nobody', async (t) => {
  for (const error of [
    node(-32_603, 'nonce too low: next nonce 5, tx nonce 4'),
    node(-32_002, 'already known'),
    node(-32_603, 'replacement transaction underpriced'),
    node(-32_603, 'execution reverted: paused'),
    node(-32_603, 'insufficient funds for gas * price + value', 500),
    node(-32_000, 'some text that nobody knows'),
    node(-32_601, 'the method eth_x does not exist'),
    node(3, 'execution reverted'),
  ]) {
    t.match(judgeFailure(error), { retry: 'final', countsAgainst: false }, error.message);
  }
});

t.test('what may pass is tried again, and counts', async (t) => {
  for (const error of [
    node(-32_005, 'limit exceeded'),
    node(-32_603, 'internal error'),
    node(-32_002, 'resource unavailable'),
    node(-32_000, 'Too Many Requests'),
    node(-32_000, 'header not found', 503),
    new RpcError('timeout', 'no answer'),
    new RpcError('transport', 'connection failed (ECONNRESET)'),
    new RpcError('malformed', 'nonsense'),
    ...[408, 425, 429, 500, 502, 503, 504, 521].map(http),
  ]) {
    t.match(judgeFailure(error), { retry: 'again', countsAgainst: true }, error.message);
  }
});

t.test('what this endpoint will never serve is asked of another', async (t) => {
  for (const status of [401, 403, 404, 410, 501, 505]) {
    t.match(judgeFailure(http(status)), { retry: 'elsewhere', countsAgainst: true }, String(status));
  }
  for (const error of [http(302), http(400), http(413), new RpcError('blocked', 'refused')]) {
    t.match(judgeFailure(error), { retry: 'elsewhere', countsAgainst: false }, error.message);
  }
});
