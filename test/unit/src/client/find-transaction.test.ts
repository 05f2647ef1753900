import t from 'tap';
import { ApiClient } from '../../../../src/client/client.ts';
import { findTransactions } from '../../../../src/client/find-transaction.ts';
import { API_KEY, startHttp } from '../../../support/http-server.ts';

t.test('a transaction is found by its id, a hash or a counter, among all relayers or some', async (t) => {
  const { url, metrics, services } = await startHttp(t);
  const client = new ApiClient({ url, key: API_KEY });
  t.match(await findTransactions(client, ' tx-1 '), [{ relayerId: 'r1', transaction: { id: 'tx-1' } }]);
  t.match(await findTransactions(client, '0xabc', ['r1']), [{ relayerId: 'r1', transaction: { hash: '0xabc' } }]);
  t.match(await findTransactions(client, '7', ['r1', 'r2']), [{ relayerId: 'r1' }, { relayerId: 'r2' }]);
  t.ok(metrics.begun.some((route) => route.endsWith('/by-nonce/:nonce')));
  for (let n = 0; n < 501; n += 1) services.relayers.known.set(`more-${n}`, { id: `more-${n}` });
  t.equal((await findTransactions(client, '7')).length, services.relayers.known.size, 'however many there are');
  const strange = new ApiClient({ url, key: 'wrong' });
  await t.rejects(findTransactions(strange, 'tx-1'), { code: 'UNAUTHORIZED' });
});

t.test('who looks through many relayers waits when the key has asked too often', async (t) => {
  const { url, services } = await startHttp(t, { rate: { perSecond: 20, burst: 20 } });
  for (let n = 0; n < 30; n += 1) services.relayers.known.set(`more-${n}`, { id: `more-${n}` });
  const found = await findTransactions(new ApiClient({ url, key: API_KEY }), '7');
  t.equal(found.length, services.relayers.known.size);
});
