import t from 'tap';
import { startHttp } from '../../../../support/http-server.ts';

t.test('the body goes to the signing service and its answer into the envelope', async (t) => {
  const { post, call } = await startHttp(t);
  const answer = await post('/api/v1/relayers/r1/sign-transaction', '{"transaction":"AAA="}');
  t.equal(answer.status, 200);
  t.strictSame(answer.json, { success: true, data: { signature: '{"transaction":"AAA="}' }, error: null });
  t.equal((await call('/api/v1/relayers/r1/sign-transaction', { method: 'POST' })).status, 400);
});
