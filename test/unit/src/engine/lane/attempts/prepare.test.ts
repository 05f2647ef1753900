import t from 'tap';
import { price } from '../../../../../../src/engine/lane/attempts/prepare.ts';
import { takeUp } from '../../../../../../src/engine/lane/attempts/sign-pending.ts';
import { EngineWorld, pendingTransaction, present, stepAt } from '../../../../../support/engine-world.ts';
import { attemptOf } from '../../../../../support/store.ts';

t.test(
  'the refused fail with their reason, the parked wait as long as they were told, the rest may be signed',
  async (t) => {
    const world = await EngineWorld.open(t);
    const step = stepAt(await world.step(), { now: () => 1_000 });
    const [ready, refused, parked] = [await world.accept('a'), await world.accept('b'), await world.accept('c')];
    world.client.onPrepare = ({ id }) => {
      if (id === refused.id) return { kind: 'refused', reason: 'gas limit above the block' };
      return id === parked.id ? { kind: 'parked', reason: 'gas price above the cap', retryInMs: 5_000 } : undefined;
    };

    const priced = await price(step, [ready, refused, parked]);
    t.strictSame(
      priced.map(({ transaction }) => transaction.id),
      [ready.id],
    );
    t.match(await world.get(refused), {
      status: 'failed',
      statusReason: 'gas limit above the block',
      nextActionAt: null,
    });
    t.match(await world.get(parked), {
      status: 'pending',
      statusReason: 'gas price above the cap (checked again at 1970-01-01T00:00:06.000+00:00)',
      nextActionAt: 6_000,
    });
  },
);

t.test('the balance is not promised twice within a batch', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.balance = 10n;
  const batch = [];
  for (const cost of ['6', '6', '4']) batch.push(await world.accept('pay', { request: { effect: cost, cost } }));

  const priced = await price(await world.step(), batch);
  t.strictSame(
    priced.map(({ transaction }) => transaction.request['cost']),
    ['6', '4'],
  );
  t.match(await world.get(present(batch[1])), { status: 'pending', statusReason: /^Insufficient balance \(checked/ });
});

t.test('what signed transactions may cost is not promised again', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.balance = 10n;
  const step = await world.step();
  const open = pendingTransaction('open', { status: 'submitted', sequence: 0n, request: { effect: 'x', cost: '7' } });
  step.open.set(open.id, {
    transaction: open,
    attempts: [attemptOf(open), attemptOf(open, { request: { cost: '2' } })],
  });
  const transaction = await world.accept('pay', { request: { effect: 'y', cost: '4' } });

  t.strictSame(await price(step, [transaction]), []);
  t.equal((await world.get(transaction)).status, 'pending');
});

t.test('trouble with the endpoints fails nothing: the pause grows', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.fault = () => 'request-lost';
  const transaction = await world.accept('pay');
  const step = stepAt(await world.step(), { now: () => 1_000 });
  t.strictSame(await price(step, [transaction]), []);
  const after = await world.get(transaction);
  t.match(after, { status: 'pending', statusReason: /prepare timed out/, nextActionAt: 1_002 });
  await price(step, [transaction]);
  t.equal((await world.get(transaction)).nextActionAt, 1_004);
});

t.test('one of an unknown relayer holds up none but itself', async (t) => {
  const world = await EngineWorld.open(t);
  const [lost, fine] = [await world.accept('a'), await world.accept('b')];
  const priced = await price(await world.step(), [{ ...lost, relayerId: 'gone' }, fine]);
  t.strictSame(
    priced.map(({ transaction }) => transaction.id),
    [fine.id],
  );
  t.match(await world.get(lost), { status: 'pending', statusReason: 'Relayer gone is gone' });
});

t.test('that a transaction waits for a price is told once, and that it goes on when it is signed', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const transaction = await world.accept('pay');
  let gwei = 40;
  world.client.onPrepare = () =>
    gwei > 30 ? { kind: 'parked', reason: `asks for ${gwei}`, cause: 'price', retryInMs: 5 } : undefined;
  for (gwei of [40, 41, 42]) await takeUp(step, [await world.get(transaction)]);
  t.match(step.memory.offers.parked(), [{ relayerId: 'r1', cause: 'price' }]);
  gwei = 20;
  await takeUp(step, [await world.get(transaction)]);
  t.strictSame(step.memory.offers.parked(), []);
  const told = (await world.store.read.decisions(transaction.id, 10)).map(({ kind, text }) => [kind, text]);
  t.strictSame(told, [
    ['parked', 'asks for 40'],
    ['resumed', 'No longer blocked (price)'],
  ]);
});
