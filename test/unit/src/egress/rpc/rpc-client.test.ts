import t from 'tap';
import { EndpointUnfit, isNodeError, RpcError } from '../../../../../src/egress/rpc/rpc-client.ts';

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
