/** Requests about a running transaction: who may send them, in which form, and what happens if the network is away. */
import { Configuration, RelayersApi, Speed } from '@openzeppelin/relayer-sdk';
import t from 'tap';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { instancesFor, ownerOf } from '../support/instances.ts';
import {
  isVoid,
  lifecycleStages,
  OTHER,
  RECEIVER,
  RELAYER,
  stageOver,
  TRANSACTIONS,
  TRANSFER,
} from '../support/lifecycle-stage.ts';
import { startPostgres } from '../support/postgres.ts';

const relayer = { name: 'One', network: 'local', network_type: 'evm', signer_id: 'local-key', paused: false };
const relayers = ['', '-2', '-3', '-4'].map((end, index) => ({
  ...relayer,
  id: `local-${index + 1}`,
  signer_id: `local-key${end}`,
}));
/** The transactions of another relayer, on the same account. */
const STRANGER = '/api/v1/relayers/twin/transactions';
let outage = (_rate: number): void => {};
const nextStage = await lifecycleStages(
  t,
  relayers.length,
  { config: { relayers: [...relayers, { ...relayer, id: 'twin' }] } },
  async (target) => {
    const proxy = await startFaultProxy({ target, seed: 1, rates: {} });
    t.teardown(() => proxy.stop());
    outage = (rate) => proxy.setRates(rate === 0 ? {} : { 'request dropped': rate });
    return proxy.url;
  },
);

t.test(
  'another relayer, even of the same account, finds no transaction to change, and nothing is signed',
  async (t) => {
    const stage = await nextStage();
    const id = await stage.send();
    const before = await stage.untilPooled(id);
    for (const [method, body] of [['PUT', { ...TRANSFER, value: 9 }], ['DELETE']] as const) {
      const answer = await stage.ask(method, `${STRANGER}/${id}`, body);
      t.strictSame([answer.status, answer.body.error], [404, `Transaction with ID ${id} not found`], method);
    }
    t.match((await stage.ask('DELETE', `${STRANGER}/pending`)).body.data, { total_processed: 0 });
    t.equal((await stage.ask('GET', `${STRANGER}/${id}/timeline`)).status, 404);
    const byNonce = await stage.ask('GET', `${STRANGER}/by-nonce/0`);
    t.strictSame([byNonce.status, byNonce.body.error], [404, 'Transaction with nonce 0 not found']);
    t.strictSame(await stage.get(id), before);
    await stage.mineUntil(id, 'confirmed');
    t.equal(await stage.balance(RECEIVER), 7n);
  },
);

t.test('the body of a replacement is read as that of a send', async (t) => {
  const stage = await nextStage();
  const id = await stage.send();
  await stage.untilPooled(id);
  const refused = [
    {},
    [],
    { to: RECEIVER, speed: 'fast' },
    { ...TRANSFER, value: null },
    { ...TRANSFER, value: -1 },
    { ...TRANSFER, to: '0x12' },
    { ...TRANSFER, data: '0x123' },
    { ...TRANSFER, data: 'payment' },
    { ...TRANSFER, speed: undefined },
    { ...TRANSFER, gas_price: 1 },
    { ...TRANSFER, gas_limit: 20_999 },
    { ...TRANSFER, valid_until: '2020-01-01T00:00:00Z' },
    { value: 1, speed: 'fast' },
  ];
  for (const body of refused) {
    const [sent, replaced] = [
      await stage.ask('POST', stage.transactions, body),
      await stage.ask('PUT', `${stage.transactions}/${id}`, body),
    ];
    t.equal(sent.status, 400, JSON.stringify(body));
    // A refusal may contain the time at which it was made.
    const timeless = (answer: object) => JSON.stringify(answer).replace(/it is \d[^"]*/, 'it is later');
    t.strictSame([replaced.status, timeless(replaced.body)], [sent.status, timeless(sent.body)], JSON.stringify(body));
  }
  t.equal((await stage.ask('PUT', `${stage.transactions}/${id}`)).status, 400, 'no body at all');
  t.equal((await stage.ask('GET', stage.transactions)).body.pagination.total_items, 1, 'nothing of it was accepted');

  for (const [value, shown] of [
    ['8', '0x8'],
    ['0x9', '0x9'],
    [10, '0xa'],
  ] as const) {
    const answer = await stage.ask('PUT', `${stage.transactions}/${id}`, { ...TRANSFER, value });
    t.match([answer.status, answer.body.data], [200, { value: shown }]);
  }
  await stage.untilPooled(id, ({ value }) => value === '0xa');
  await stage.mineUntil(id, 'confirmed');
  t.equal(await stage.balance(RECEIVER), 10n);
  t.equal(await stage.usedNonces(), 1, 'no refused body took a nonce');
  const next = await stage.send({ data: '0x6001600055', value: 0, to: '', speed: 'fast' });
  t.match(await stage.untilPooled(next), { nonce: 1, to: null }, 'an empty receiver creates a contract');
});

t.test('while no node answers, intents are kept, and carried out afterwards', async (t) => {
  const stage = await nextStage();
  const [replaced, canceled] = [await stage.send(), await stage.send()];
  for (const id of [replaced, canceled]) await stage.untilPooled(id);
  outage(1);
  const waiting = await stage.send();
  const begun = performance.now();
  const answers = await Promise.all([
    stage.ask('PUT', `${stage.transactions}/${replaced}`, { ...TRANSFER, to: OTHER }),
    stage.ask('DELETE', `${stage.transactions}/${canceled}`),
    stage.ask('DELETE', `${stage.transactions}/${waiting}`),
  ]);
  t.ok(performance.now() - begun < 10_000, 'the answers do not wait for the network');
  t.strictSame(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  const timeline = (await stage.ask('GET', `${stage.transactions}/${replaced}/timeline`)).body.data;
  t.match(JSON.stringify(timeline.events), /replace_requested/);
  outage(0);
  t.match(await stage.until(waiting, 'canceled', ({ status }) => status === 'canceled'), { nonce: null });
  await stage.untilPooled(replaced, ({ to }) => to === OTHER);
  await stage.untilPooled(canceled, isVoid(stage.address));
  await stage.mineUntil(replaced, 'confirmed');
  await stage.mineUntil(canceled, 'canceled');
  t.strictSame([await stage.balance(RECEIVER), await stage.balance(OTHER)], [0n, 7n]);
});

t.test('the public client replaces, cancels and finds', async (t) => {
  const stage = await nextStage();
  const { url, apiKey } = stage.service;
  const relayer = stage.relayer.split('/').at(-1) ?? '';
  const relayers = new RelayersApi(new Configuration({ basePath: url, accessToken: apiKey }));
  const send = async () => {
    const { data } = await relayers.sendTransaction(relayer, { ...TRANSFER, speed: Speed.FAST });
    const id = String(data.data?.id);
    await stage.untilPooled(id);
    return id;
  };
  const [first, second, third] = [await send(), await send(), await send()];

  const byNonce = await relayers.getTransactionByNonce(relayer, 1);
  t.match(byNonce.data.data, { id: second, nonce: 1 });
  const missing = await relayers.getTransactionByNonce(relayer, 7).catch(({ response }) => response);
  t.match([missing.status, missing.data], [404, { error: 'Transaction with nonce 7 not found' }]);
  const replaced = await relayers.replaceTransaction(relayer, first, { ...TRANSFER, value: 9, speed: Speed.FAST });
  t.match(replaced.data, { success: true, data: { id: first, value: '0x9' } });
  await stage.untilPooled(first, ({ value }) => value === '0x9');
  const canceled = await relayers.cancelTransaction(relayer, second);
  t.match(canceled.data.data, { id: second, is_canceled: true });
  await stage.untilPooled(second, isVoid(stage.address));
  const all = await relayers.deletePendingTransactions(relayer);
  t.strictSame(all.data.data?.queued_for_cancellation_transaction_ids, [first, third]);
  await stage.untilPooled(first, isVoid(stage.address));
  await stage.untilPooled(third, isVoid(stage.address));
  for (const id of [first, second, third]) await stage.mineUntil(id, 'canceled');
  t.match((await relayers.getTransactionById(relayer, first)).data.data, { id: first, status: 'canceled' });
  t.equal((await relayers.listTransactions(relayer, 1, 2)).data.pagination?.total_items, 3);
  t.equal(await stage.balance(RECEIVER), 0n);
});

t.test('on PostgreSQL, an instance that does not drive the account takes intents as well', async (t) => {
  const postgres = await startPostgres();
  t.teardown(() => postgres.stop());
  const instances = await instancesFor(t, postgres, { args: ['--no-mining'] });
  const services = [await instances.compose(), await instances.compose()];
  const [one] = services;
  if (one === undefined) throw new Error('no instance');
  const first = stageOver(instances.anvil, one, instances.address);
  const id = await first.send();
  await first.untilPooled(id);
  const owner = ownerOf(services);
  const other = services.find((service) => service !== owner) ?? owner;
  const stage = stageOver(instances.anvil, other, instances.address);
  const [second, third] = [await stage.send(), await stage.send()];
  for (const sent of [second, third]) await stage.untilPooled(sent);

  const answer = await stage.ask('PUT', `${TRANSACTIONS}/${id}`, { ...TRANSFER, to: OTHER });
  t.match([answer.status, answer.body.data], [200, { id, to: OTHER }], 'settled before the answer');
  await stage.untilPooled(id, ({ to }) => to === OTHER);
  const canceled = await stage.ask('DELETE', `${TRANSACTIONS}/${second}`);
  t.match([canceled.status, canceled.body.data], [200, { is_canceled: true }]);
  await stage.untilPooled(second, isVoid(stage.address));
  t.match((await stage.ask('GET', `${TRANSACTIONS}/by-nonce/2`)).body.data, { id: third });
  await stage.mineUntil(id, 'confirmed');
  await stage.mineUntil(second, 'canceled');
  await stage.mineUntil(third, 'confirmed');

  const more = await Promise.all(Array.from({ length: 10 }, () => stage.send()));
  t.match((await stage.ask('DELETE', `${TRANSACTIONS}/pending`)).body.data, { total_processed: 10 });
  for (const sent of more) {
    const { status } = await stage.until(sent, 'canceled or about to be', async (transaction) => {
      if (transaction.status === 'canceled') return true;
      if (!isVoid(stage.address)(transaction)) return false;
      return (await stage.anvil.rpc('eth_getTransactionByHash', [transaction.hash])) !== null;
    });
    t.ok(['canceled', 'sent', 'submitted'].includes(status));
  }
  for (const sent of more) await stage.mineUntil(sent, 'canceled');
  t.strictSame([await stage.balance(RECEIVER), await stage.balance(OTHER)], [7n, 7n]);
  t.match((await stage.ask('GET', `${RELAYER}/status`)).body.data, { pending_transactions_count: 0 });
  t.match((await stage.ask('GET', `${TRANSACTIONS}/${id}/timeline`)).body.data, { status: 'confirmed' });
});
