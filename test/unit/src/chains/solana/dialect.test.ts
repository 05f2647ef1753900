import t from 'tap';
import { dialect } from '../../../../../src/chains/solana/dialect.ts';
import { RpcError } from '../../../../../src/egress/rpc/rpc-client.ts';
import { judgeFailure } from '../../../../../src/egress/rpc/rpc-verdict.ts';

const judge = (code: number, text = '') => judgeFailure(new RpcError('node', text, { code }), dialect);

t.test('a failed simulation, whatever it says, is no fault of the endpoint', async (t) => {
  const why = ['Blockhash not found', 'custom program error: 0x1', 'This transaction has already been processed'];
  for (const text of [...why, 'request timed out', 'too many requests', 'insufficient funds for rent']) {
    const verdict = judge(-32_002, `Transaction simulation failed: ${text}`);
    t.same(verdict, { meaning: 'state', retry: 'final', countsAgainst: false, overload: false }, text);
  }
});

t.test(
  'what one node lacks is asked of others, what no node takes is not, and who is behind is to blame',
  async (t) => {
    for (const code of [-32_001, -32_004, -32_007, -32_008, -32_009, -32_010, -32_011, -32_014, -32_016]) {
      t.match(judge(code), { retry: 'elsewhere', countsAgainst: false }, String(code));
    }
    for (const code of [-32_003, -32_006, -32_013, -32_015, -32_602]) {
      t.match(judge(code), { meaning: 'permanent', countsAgainst: false }, String(code));
    }
    t.match(judge(-32_005, 'Node is behind by 150 slots'), { retry: 'again', countsAgainst: true, overload: false });
    const storage = judge(-32_019, 'Failed to query long-term storage; please try again');
    t.match(storage, { meaning: 'endpoint', retry: 'again', countsAgainst: true });
    t.match(
      judge(-32_005, 'rate limit exceeded'),
      { countsAgainst: true, overload: true },
      'a gateway has the same code',
    );
  },
);
