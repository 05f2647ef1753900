import t from 'tap';
import { RpcError } from '../../../../src/egress/rpc-client.ts';

t.test('an error carries what its kind knows', async (t) => {
  const cause = new Error('below');
  const error = new RpcError('node', 'nonce too low', { code: -32_000, data: '0x', status: 200, cause });
  t.match(error, { name: 'RpcError', kind: 'node', code: -32_000, data: '0x', status: 200, cause });
  t.match(new RpcError('timeout', 'no answer'), { kind: 'timeout', code: undefined, status: undefined });
});
