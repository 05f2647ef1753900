/** Canceling on a real node: the API's answers and the chain agree in the end. */
import t from 'tap';
import { isVoid, lifecycleStages, RECEIVER, TRANSFER } from '../support/lifecycle-stage.ts';

/** A contract that always reverts. */
const REVERTING = '0x00000000000000000000000000000000000bad00';
const REVERTS = '0x60006000fd';

const nextStage = await lifecycleStages(t, 6);

t.test('a canceled transaction stays followed until its noop is final, and its nonce is used', async (t) => {
  const stage = await nextStage();
  const id = await stage.send();
  const before = await stage.untilPooled(id);
  const answer = await stage.ask('DELETE', `${stage.transactions}/${id}`);
  t.equal(answer.status, 200);
  t.match(answer.body.data, {
    id,
    status: 'submitted',
    is_canceled: true,
    status_reason: 'Transaction canceled by user, replacing with NOOP',
  });
  const pooled = await stage.untilPooled(id, isVoid(stage.address));
  t.match(pooled, { status: 'submitted', nonce: before.nonce, data: '0x' });
  t.not(pooled.hash, before.hash);
  const paid = await stage.send();
  await stage.untilPooled(paid);

  await stage.anvil.rpc('evm_mine');
  await stage.until(id, 'mined', ({ status }) => status === 'mined');
  const ended = await stage.mineUntil(id, 'canceled');
  t.match(ended, { is_canceled: true, hash: pooled.hash, confirmed_at: null });
  t.match(await stage.mineUntil(paid, 'confirmed'), { nonce: before.nonce + 1 }, 'the account goes on');
  t.equal(await stage.balance(RECEIVER), 7n, 'only the second paid');
  t.equal(await stage.usedNonces(), 2);

  const timeline = (await stage.ask('GET', `${stage.transactions}/${id}/timeline`)).body.data;
  t.match(timeline, { transaction_id: id, status: 'canceled', omitted: 0, inclusion: { succeeded: true } });
  const events = timeline.events.map((event: { event: string; purpose?: string }) => event.purpose ?? event.event);
  t.match(events.join(' '), /^accepted send submitted cancel_requested .*noop.* ended$/);
  const of = (name: string) => timeline.events.filter(({ event }: { event: string }) => event === name);
  t.match(of('submitted'), [
    { version: 1, endpoint: stage.anvil.url },
    { version: 2, endpoint: stage.anvil.url },
  ]);
  t.match(of('ended'), [{ inclusion: { block_hash: /^0x/, block_number: Number } }]);
  t.strictSame(timeline.original, { to: TRANSFER.to, value: '0x7' }, 'what was canceled');
  const decided = of('decided').map(({ decision }: { decision: string }) => decision);
  t.ok(decided.includes('canceling') && !decided.includes('canceled'), 'asked for, and only then canceled');
});

t.test('a canceled transaction whose original is in a block ends as that did', async (t) => {
  const stage = await nextStage();
  await stage.anvil.rpc('anvil_setCode', [REVERTING, REVERTS]);
  for (const [body, status] of [
    [TRANSFER, 'confirmed'],
    [{ ...TRANSFER, to: REVERTING, value: 0, gas_limit: 60_000 }, 'failed'],
  ] as const) {
    const id = await stage.send(body);
    const original = await stage.untilPooled(id);
    const raw = await stage.anvil.rpc('eth_getRawTransactionByHash', [original.hash]);
    await stage.ask('DELETE', `${stage.transactions}/${id}`);
    const { hash } = await stage.untilPooled(id, isVoid(stage.address));
    await stage.anvil.rpc('anvil_dropTransaction', [hash]);
    await stage.anvil.rpc('eth_sendRawTransaction', [raw]);
    const ended = await stage.mineUntil(id, status);
    t.match(ended, { hash: original.hash, to: body.to, is_canceled: true }, `what was ${status} is shown`);
    t.equal(BigInt(ended.value), BigInt(body.value));
  }
  t.equal(await stage.balance(RECEIVER), 7n);
  t.equal(await stage.usedNonces(), 2);
});

t.test('what is being canceled is left out of the lists of running transactions, and of their counts', async (t) => {
  const stage = await nextStage();
  const ids = [await stage.send(), await stage.send(), await stage.send()];
  for (const id of ids) await stage.untilPooled(id);
  const [canceled = ''] = ids;
  await stage.ask('DELETE', `${stage.transactions}/${canceled}`);
  await stage.untilPooled(canceled, isVoid(stage.address));
  const list = async (query: string) => {
    const { body } = await stage.ask('GET', `${stage.transactions}${query}`);
    return [body.data.map(({ id }: { id: string }) => id).sort(), body.pagination.total_items];
  };
  const others = ids.slice(1).sort();
  t.strictSame(await list('?status=submitted'), [others, 2]);
  t.strictSame(await list('?status=SUBMITTED&per_page=1&page=2').then(([page, total]) => [page.length, total]), [1, 2]);
  t.strictSame(await list(''), [ids.toSorted(), 3], 'without a filter all are there');
  await stage.mineUntil(canceled, 'canceled');
  t.strictSame(await list('?status=canceled'), [[canceled], 1]);
  const unknown = await stage.ask('GET', `${stage.transactions}?status=cancelled`);
  t.equal(unknown.status, 400);
});

t.test('canceling all cancels each of them, and nothing is paid', async (t) => {
  const stage = await nextStage();
  const ids = await Promise.all(Array.from({ length: 50 }, () => stage.send()));
  const answer = await stage.ask('DELETE', `${stage.transactions}/pending`);
  t.equal(answer.status, 200);
  t.strictSame(answer.body.data.queued_for_cancellation_transaction_ids.toSorted(), ids.toSorted());
  t.match(answer.body.data, { failed_to_queue_transaction_ids: [], total_processed: 50 });

  const signed: string[] = [];
  for (const id of ids) {
    const { status } = await stage.until(id, 'canceled or about to be', async (transaction) => {
      if (transaction.status === 'canceled') return true;
      if (!isVoid(stage.address)(transaction)) return false;
      return (await stage.anvil.rpc('eth_getTransactionByHash', [transaction.hash])) !== null;
    });
    if (status !== 'canceled') signed.push(id);
  }
  for (const id of ids) t.match(await stage.mineUntil(id, 'canceled'), { is_canceled: true });
  t.equal(await stage.balance(RECEIVER), 0n);
  t.equal(await stage.usedNonces(), signed.length, 'each nonce that was given is used');
  const nonces = (await Promise.all(signed.map((id) => stage.get(id)))).map(({ nonce }) => nonce);
  t.strictSame(
    nonces.toSorted((a, b) => a - b),
    nonces.map((_, index) => index),
  );
  t.match((await stage.ask('GET', `${stage.relayer}/status`)).body.data, { pending_transactions_count: 0 });
  t.match((await stage.ask('DELETE', `${stage.transactions}/pending`)).body.data, { total_processed: 0 });
});

t.test('of two that cancel at once none is told something wrong', async (t) => {
  const stage = await nextStage();
  const id = await stage.send();
  await stage.untilPooled(id);
  const answers = await Promise.all([1, 2].map(() => stage.ask('DELETE', `${stage.transactions}/${id}`)));
  t.strictSame(
    answers.map(({ status, body }) => [status, body.data.is_canceled]),
    [
      [200, true],
      [200, true],
    ],
  );
  await stage.untilPooled(id, isVoid(stage.address));
  await stage.mineUntil(id, 'canceled');
  t.equal(await stage.balance(RECEIVER), 0n);
  t.equal(await stage.usedNonces(), 1, 'one nonce, used once');
  const late = await stage.ask('DELETE', `${stage.transactions}/${id}`);
  t.strictSame(
    [late.status, late.body.error],
    [
      400,
      'Invalid transaction state for cancel_transaction. Current: Canceled, Expected one of: [Pending, Sent, Submitted]',
    ],
  );
});

t.test('a paused relayer takes no intents, and what it sent goes on', async (t) => {
  const stage = await nextStage();
  const id = await stage.send();
  await stage.untilPooled(id);
  await stage.ask('PATCH', stage.relayer, { paused: true });
  for (const [method, path, body] of [
    ['DELETE', `/${id}`],
    ['PUT', `/${id}`, TRANSFER],
    ['DELETE', '/pending'],
  ] as const) {
    const answer = await stage.ask(method, `${stage.transactions}${path}`, body);
    t.strictSame([answer.status, answer.body.error], [403, 'Relayer paused'], `${method} ${path}`);
  }
  t.equal((await stage.ask('GET', `${stage.transactions}/${id}/timeline`)).status, 200);
  t.match((await stage.ask('GET', `${stage.transactions}/by-nonce/0`)).body.data, { id });
  await stage.mineUntil(id, 'confirmed');
  t.equal(await stage.balance(RECEIVER), 7n);
});
