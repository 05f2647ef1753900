import t from 'tap';
import { startHttp } from '../../../../support/http-server.ts';

t.test('the body goes to the signing service and its answer into the envelope', async (t) => {
  const { post, call } = await startHttp(t);
  const answer = await post('/api/v1/relayers/r1/sign-transaction', '{"transaction":"AAA="}');
  t.equal(answer.status, 200);
  t.strictSame(answer.json, { success: true, data: { signature: '{"transaction":"AAA="}' }, error: null });
  t.equal((await call('/api/v1/relayers/r1/sign-transaction', { method: 'POST' })).status, 400);
});

t.test('texts and typed data go the same way', async (t) => {
  const { post, call } = await startHttp(t);
  const message = await post('/api/v1/relayers/r1/sign', '{"message":"x"}');
  t.strictSame(message.json, { success: true, data: { message: '{"message":"x"}' }, error: null });
  const typed = await post('/api/v1/relayers/r1/sign-typed-data', '{"domain_separator":"00"}');
  t.strictSame(typed.json, { success: true, data: { typedData: '{"domain_separator":"00"}' }, error: null });
  for (const path of ['sign', 'sign-typed-data']) {
    t.equal((await call(`/api/v1/relayers/r1/${path}`, { method: 'POST' })).status, 400);
  }
});

t.test('what users pay is quoted and built by the signing service', async (t) => {
  const { post, call } = await startHttp(t);
  const quote = await post('/api/v1/relayers/r1/transactions/sponsored/quote', '{"fee_token":"x"}');
  t.strictSame(quote.json, { success: true, data: { quoted: '{"fee_token":"x"}' }, error: null });
  const built = await post('/api/v1/relayers/r1/transactions/sponsored/build', '{"fee_token":"x"}');
  t.strictSame(built.json, { success: true, data: { built: '{"fee_token":"x"}' }, error: null });
  for (const step of ['quote', 'build']) {
    const path = `/api/v1/relayers/r1/transactions/sponsored/${step}`;
    t.equal((await call(path, { method: 'POST' })).status, 400);
  }
});
