import t from 'tap';
import { Executions, requestIdOf } from '../../../../../../src/chains/solana/swap/execute.ts';
import type { Json } from '../../../../../../src/domain/json/json.ts';
import { MarketFailure } from '../../../../../../src/egress/market-client.ts';
import { NO_MARKET } from '../../../../../support/no-market.ts';
import { fieldsOf, storedAttempt } from '../../../../../support/solana-relayer.ts';

const swap = { mint: 'M', given: 1, promised: 7, least: 6, request_id: 'r' };
const attempt = storedAttempt('h', { fields: fieldsOf({ swap }) });
const offered = (post: () => Promise<Json>) => new Executions({ ...NO_MARKET, post }).offer(attempt);

t.test('an attempt that the market brings to the chain is known by its id', async (t) => {
  t.equal(requestIdOf(attempt), 'r');
  t.equal(requestIdOf(storedAttempt('h')), undefined);
});

t.test('only these very bytes count as taken, and nothing that is said as an end', async (t) => {
  t.match(await offered(async () => ({ status: 'Success', signature: 'h' })), { kind: 'accepted' });
  t.match(await offered(async () => ({ status: 'Success', signature: 'other' })), { kind: 'unknown' });
  t.match(await offered(async () => ({ status: 'Failed', error: 'slippage' })), {
    kind: 'unknown',
    reason: /: slippage$/,
  });
  t.match(await offered(async () => 7), { kind: 'unknown' });
  const late = async () => Promise.reject(new MarketFailure('it is late'));
  t.match(await offered(late), { kind: 'unknown', reason: 'it is late' });
  await t.rejects(
    offered(async () => Promise.reject(new Error('ours'))),
    { message: 'ours' },
  );
});

t.test('one that is being executed is not given to the market twice', async (t) => {
  let asked = 0;
  const answer = Promise.withResolvers<Json>();
  const executions = new Executions({
    ...NO_MARKET,
    post: () => {
      asked += 1;
      return answer.promise;
    },
  });
  t.match(await executions.offer(attempt), { kind: 'unknown', reason: 'the market has not answered yet' });
  const second = executions.offer(attempt);
  answer.resolve({ status: 'Success', signature: 'h' });
  t.match(await second, { kind: 'accepted' });
  t.equal(asked, 1);
});
