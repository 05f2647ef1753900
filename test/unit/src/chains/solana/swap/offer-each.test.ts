import t from 'tap';
import { Executions } from '../../../../../../src/chains/solana/swap/execute.ts';
import { offerEach } from '../../../../../../src/chains/solana/swap/offer-each.ts';
import { NO_MARKET } from '../../../../../support/no-market.ts';
import { openSolana } from '../../../../../support/solana-node.ts';
import { fieldsOf, storedAttempt } from '../../../../../support/solana-relayer.ts';

t.test('orders go to the market and all else to the nodes, and each has its own outcome', async (t) => {
  const { rpc } = await openSolana(t, { instead: { sendTransaction: { result: 'plain' } } });
  const executions = new Executions({ ...NO_MARKET, post: async () => ({ status: 'Success', signature: 'ordered' }) });
  const swap = { mint: 'M', given: 1, promised: 7, least: 6, request_id: 'r' };
  const ordered = storedAttempt('ordered', { fields: fieldsOf({ swap }) });
  const other = storedAttempt('other', { fields: fieldsOf({ swap: { ...swap, request_id: 'q' } }) });
  const outcomes = await offerEach(rpc, executions, [other, storedAttempt('plain'), ordered]);
  t.match(outcomes, [{ kind: 'unknown' }, { kind: 'accepted' }, { kind: 'accepted' }]);
  t.strictSame(await offerEach(rpc, executions, []), []);
});
