import { readFileSync } from 'node:fs';
import t from 'tap';
import { ApiClient, ApiError, EventParser } from '../../../../src/client/client.ts';
import { amountText, priceOf } from '../../../../src/client/format.ts';
import { allOf, findTransactions, patiently } from '../../../../src/client/lists.ts';
import { apiText } from '../../../client/api-text.ts';
import { describedApi } from '../../../client/description.ts';
import { API_KEY, startHttp } from '../../../support/http-server.ts';
import { transactionOf } from '../../../support/store.ts';
import { startWay } from '../../../support/way.ts';

t.test('operations are called by their names, and answers come with all digits', async (t) => {
  const { url, services } = await startHttp(t);
  const client = new ApiClient({ url, key: API_KEY });
  t.match(await client.call('listRelayers', { query: { per_page: 5 } }), { data: [{ id: 'r1' }] });
  services.transactions.onSend = async () => ({ id: 'a', value: 2n ** 70n });
  const sent = await client.call('sendTransaction', {
    path: { id: 'r1' },
    body: { to: '0x1', value: '1180591620717411303424' },
    idempotencyKey: 'order-1',
  });
  t.match(sent.data, { id: 'a', value: 2n ** 70n });
  await client.call('getRelayer', { path: { id: 'a/b ?' } }).then(
    () => t.fail('there is none'),
    (error: unknown) => {
      t.ok(error instanceof ApiError);
      t.match(error, { status: 404, code: 'RELAYER_NOT_FOUND', message: 'Relayer with ID a/b ? not found' });
    },
  );
});

t.test('it follows what happens, from where it was', async (t) => {
  const { url, store, events } = await startHttp(t);
  const client = new ApiClient({ url, key: API_KEY });
  const leaving = new AbortController();
  t.teardown(() => leaving.abort());
  const stream = client.follow({ query: { relayer_id: 'relayer-1' } }, leaving.signal);
  const first = await stream.next();
  t.match(first, { value: { event: 'open' } });
  await store.write((writer) => writer.insertTransaction(transactionOf({ id: 'a' })));
  events.notifyAny();
  const second = await stream.next();
  t.match(second, { value: { event: 'transaction', data: /"id":"a"/ } });
  const lastId = first.value?.id ?? '';
  const again = await client.follow({ lastId }, leaving.signal).next();
  t.match(again, { value: { event: 'open' } });
  const strange = new ApiClient({ url, key: 'wrong' }).follow({}, leaving.signal);
  await t.rejects(strange.next(), { status: 401, code: 'UNAUTHORIZED' });
});

t.test('a failure keeps its whole body', async (t) => {
  const { url } = await startHttp(t);
  const asked = new ApiClient({ url, key: API_KEY }).call('getRelayer', { path: { id: 'nobody' } });
  const failure: unknown = await asked.catch((error: unknown) => error);
  t.match(failure, { body: { success: false, data: null, code: 'RELAYER_NOT_FOUND' } });
  t.strictSame(new ApiError(502, {}).body, {});
});

t.test('a stream that says nothing any more is given up', async (t) => {
  const { url } = await startHttp(t);
  const way = await startWay(url);
  t.teardown(() => way.stop());
  const client = new ApiClient({ url: way.url, key: API_KEY, silenceMs: 300 });
  let heard = 0;
  const stream = client.follow({ heard: () => (heard += 1) }, new AbortController().signal);
  t.match(await stream.next(), { value: { event: 'open' } });
  t.ok(heard > 0);
  way.freeze();
  await t.rejects(stream.next(), { message: 'The server sent nothing for 0.3 s' });
  // A connection that never answers counts as silent too.
  await t.rejects(client.follow({}, new AbortController().signal).next(), /sent nothing/);
});

t.test('events come whole, however their text is cut', (t) => {
  const text = 'retry: 5\n\nid: 1\nevent: open\ndata: {}\n\n:\n\ndata:a\r\ndata: b\r\n\r\nid: 7\n\n';
  for (const size of [1, 3, 1_000]) {
    const parser = new EventParser();
    const events = [];
    for (let at = 0; at < text.length; at += size) events.push(...parser.push(text.slice(at, at + size)));
    const first = { id: '1', event: 'open', data: '{}' };
    // A chunk that ends between CR and LF adds an empty line, which has no meaning.
    t.strictSame(events[0], first);
    t.match(events.at(-1), { id: '1', event: 'message' });
    t.equal(parser.lastId, '7', 'an id alone counts');
  }
  t.end();
});

t.test('it goes on with the id that it was given', (t) => {
  const parser = new EventParser('5');
  t.strictSame(parser.push('data\n\n'), [{ id: '5', event: 'message', data: '' }]);
  t.end();
});

t.test('a list is read to its end, and what moves meanwhile is there once', async (t) => {
  const asked: number[] = [];
  const all = await allOf(async ({ page, per_page: perPage }) => {
    asked.push(page);
    // An entry is added between two pages, so the last one of the first page is the first one of the second page.
    const first = (page - 1) * perPage - (page - 1);
    const data = Array.from({ length: Math.min(perPage, 600 - first) }, (_, at) => ({ id: `${first + at}` }));
    return { data, pagination: { total_items: 600 } };
  });
  t.strictSame(asked, [1, 2]);
  t.strictSame(
    all.map(({ id }) => id),
    Array.from({ length: 600 }, (_, at) => `${at}`),
  );
  t.strictSame(await allOf(async () => ({ data: [], pagination: { total_items: 0 } })), []);
});

t.test('it asks again while there were too many requests, and gives up at last', async (t) => {
  let asked = 0;
  const ask = (refusals: number, status: number) => {
    asked = 0;
    return patiently(async () => {
      asked += 1;
      if (asked <= refusals) throw new ApiError(status, {});
      return 'answer';
    }, 0);
  };
  t.equal(await ask(3, 429), 'answer');
  t.equal(asked, 4);
  await t.rejects(ask(1, 503), { message: 'The server answered with status 503' });
  await t.rejects(ask(100, 429), { message: 'The server answered with status 429' });
  t.equal(asked, 30);
});

t.test('a transaction is found by its id, a hash or a counter, among all relayers or some', async (t) => {
  const { url, metrics, services } = await startHttp(t);
  const client = new ApiClient({ url, key: API_KEY });
  t.match(await findTransactions(client, ' tx-1 '), [{ relayerId: 'r1', transaction: { id: 'tx-1' } }]);
  t.match(await findTransactions(client, '0xabc', ['r1']), [{ relayerId: 'r1', transaction: { hash: '0xabc' } }]);
  t.match(await findTransactions(client, '7', ['r1', 'r2']), [{ relayerId: 'r1' }, { relayerId: 'r2' }]);
  t.ok(metrics.of('http_requests_in_flight').some((route) => route.endsWith('/by-nonce/:nonce')));
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

t.test('amounts are told in the units that people use', (t) => {
  t.equal(amountText(1_500_000_000_000_000_000n, 'wei'), '1.5 of the native coin');
  t.equal(amountText('1234567890', 'lamport'), '1.234567 SOL');
  t.equal(amountText(0, 'stroop'), '0 XLM');
  t.equal(amountText(100, 'stroop'), '0.00001 XLM');
  t.equal(amountText(7, 'bean'), '7 bean');
  t.end();
});

t.test('gas has a price', (t) => {
  t.equal(priceOf({ max_fee_per_gas: '2500000000', gas_price: null }), '2.50 gwei');
  t.equal(priceOf({ max_fee_per_gas: null, gas_price: '31234567890' }), '31.2 gwei');
  t.equal(priceOf({ max_fee_per_gas: null, gas_price: null }), '');
  t.equal(priceOf({}), '');
  t.equal(priceOf(undefined), '');
  t.end();
});

t.test('a fee is told in the unit of its family', (t) => {
  t.equal(priceOf({ last_valid_block_height: 9, nonce_account: null, fee: 5_000n }), '5000 lamports');
  t.equal(priceOf({ sequence_number: '8', max_time: 1_000, fee: 100 }), '100 stroops');
  t.end();
});

t.test('the types of the client are those of the description: npm run client writes them', async (t) => {
  const file = new URL('../../../../src/client/api.ts', import.meta.url);
  t.equal(readFileSync(file, 'utf8'), apiText(describedApi()));
});
