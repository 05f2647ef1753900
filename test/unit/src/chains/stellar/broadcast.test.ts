import t from 'tap';
import { broadcast } from '../../../../../src/chains/stellar/broadcast.ts';
import { openRpc } from '../../../../support/evm.ts';
import { answersByMethod, startRpcDouble } from '../../../../support/rpc-double.ts';

const HASH = 'ab'.repeat(32);
const attempt = { raw: 'AAAA', hash: HASH, acceptedAt: null } as Parameters<typeof broadcast>[1][number];

t.test('what a node has queued is accepted, by the hash that it names', async (t) => {
  const answer = (status: string, hash = HASH) => ({ status, hash, latestLedger: 5, latestLedgerCloseTime: '1' });
  for (const [told, kind] of [
    [answer('PENDING'), 'accepted'],
    [answer('DUPLICATE'), 'accepted'],
    [answer('TRY_AGAIN_LATER'), 'busy'],
    [answer('PENDING', 'cd'.repeat(32)), 'unknown'],
  ] as const) {
    const node = await startRpcDouble(answersByMethod({ sendTransaction: told }));
    const rpc = openRpc([node.url]);
    t.teardown(() => Promise.all([rpc.close(), node.stop()]));
    t.match(await broadcast(rpc, [attempt]), [{ kind }], JSON.stringify(told));
  }
});
