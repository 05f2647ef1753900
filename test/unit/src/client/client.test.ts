import t from 'tap';
import { ApiClient, ApiError } from '../../../../src/client/client.ts';
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
  events.stir();
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
