import t from 'tap';
import { startHttp } from '../../../../support/http-server.ts';

t.test('the answer is the bare JSON-RPC object', async (t) => {
  const { post, call } = await startHttp(t);
  const answer = await post('/api/v1/relayers/r1/rpc', '{"method":"eth_chainId","id":7}');
  t.equal(answer.status, 200);
  t.strictSame(answer.json, { jsonrpc: '2.0', result: '0x1', id: 7 });
  t.equal((await call('/api/v1/relayers/r1/rpc', { method: 'POST' })).status, 400);
});

t.test('a batch is answered by a list', async (t) => {
  const { post } = await startHttp(t);
  const call = { method: 'eth_chainId', id: 7 };
  const answer = await post('/api/v1/relayers/r1/rpc', JSON.stringify([call, call]));
  const outcome = { jsonrpc: '2.0', result: '0x1', id: 7 };
  t.equal(answer.status, 200);
  t.strictSame(answer.json, [outcome, outcome]);
});
