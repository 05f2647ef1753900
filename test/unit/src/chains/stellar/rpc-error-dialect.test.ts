import t from 'tap';
import { rpcDialect } from '../../../../../src/chains/stellar/rpc-error-dialect.ts';
import { RpcError } from '../../../../../src/egress/rpc/rpc-client.ts';
import { judgeRpcFailure } from '../../../../../src/egress/rpc/rpc-verdict.ts';

const judge = (code: number, text = '') => judgeRpcFailure(new RpcError('node', text, { code }), rpcDialect);

t.test('an account’s sequence is no trouble of the endpoint, an internal error is', async (t) => {
  t.match(judge(-32_603, 'txBAD_SEQ'), { meaning: 'state', countsAgainst: false });
  t.match(judge(-32_603, 'bad sequence number'), { meaning: 'state', countsAgainst: false });
  t.match(judge(-32_603), { retry: 'again', countsAgainst: true });
  t.match(judge(-32_002), { retry: 'again', countsAgainst: true });
});
