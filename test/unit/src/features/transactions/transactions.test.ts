import t from 'tap';
import type { ChainClient } from '../../../../../src/chains/chain-client.ts';
import { invalidRequest } from '../../../../../src/domain/errors.ts';
import type { Store } from '../../../../../src/store/store.ts';
import { EngineWorld, LANE, relayerNamed } from '../../../../support/engine-world.ts';
import { keyedEffect } from '../../../../support/keyed-effect.ts';

t.test('what was accepted is on disk before the answer, and its lane is woken', async (t) => {
  const world = await EngineWorld.open(t);
  const woken: string[] = [];
  const { transactions } = world.services({
    wake: (lane) => woken.push(lane),
    onChange: () => () => {},
    recheck: () => {},
  });
  const view = await transactions.send('r1', { effect: 'pay' });
  t.match(view, { status: 'pending', hash: null });
  const stored = await world.store.read.transaction('r1', String(view['id']));
  t.match(stored, { status: 'pending', lane: LANE, request: { effect: 'pay' }, sequence: null });
  t.equal(stored?.nextActionAt, stored?.createdAt);
  t.strictSame(woken, [LANE]);
  t.strictSame(world.metrics.of('transactions_created', 'relayer_id'), ['r1']);
});

t.test('what is refused leaves nothing behind', async (t) => {
  const world = await EngineWorld.open(t);
  const { transactions } = world.services();
  await t.rejects(transactions.send('none', {}), { code: 'RELAYER_NOT_FOUND' });
  await t.rejects(transactions.send('r1', { wrong: true }), { code: 'INVALID_REQUEST' });
  await t.rejects(transactions.send('r1', { effect: 'late', validUntil: 1 }), { code: 'INVALID_REQUEST' });
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { paused: true })));
  await t.rejects(transactions.send('r1', { wrong: true }), { code: 'RELAYER_PAUSED' }, 'before the body is read');
  t.equal((await transactions.list('r1', { page: 1, perPage: 10 })).total, 0);
  t.strictSame(world.metrics.of('transactions_created', 'relayer_id'), []);
});

t.test('a relayer whose chain nobody has seen yet accepts nothing', async (t) => {
  const world = await EngineWorld.open(t);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('new', { network: 'unseen' })));
  await t.rejects(world.services().transactions.send('new', { effect: 'pay' }), { code: 'RELAYER_DISABLED' });
});

t.test('a transaction is visible under its own relayer only', async (t) => {
  const world = await EngineWorld.open(t);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r2')));
  const { transactions } = world.services();
  const { id } = await world.accept('pay');
  t.match(await transactions.get('r1', id), { id });
  await t.rejects(async () => transactions.get('r2', id), { code: 'TRANSACTION_NOT_FOUND' });
  await t.rejects(async () => transactions.get('none', id), { code: 'RELAYER_NOT_FOUND' });
  const signal = AbortSignal.timeout(1_000);
  await t.rejects(transactions.wait('r2', id, { intervalMs: 1, timeoutMs: 5 }, signal), {
    code: 'TRANSACTION_NOT_FOUND',
  });
  t.strictSame(await transactions.list('r2', { page: 1, perPage: 10 }), { items: [], total: 0 });
});

t.test(
  'who asks for a transaction again gets the same view, which nobody can change, until it is another',
  async (t) => {
    const world = await EngineWorld.open(t);
    const { transactions } = world.services();
    const accepted = await world.accept('pay');
    const view = await transactions.get('r1', accepted.id);
    t.equal(await transactions.get('r1', accepted.id), view);
    t.equal((await transactions.list('r1', { page: 1, perPage: 10 })).items[0], view);
    t.ok(Object.isFrozen(view));
    await (await world.step()).ledger.apply([{ transaction: accepted, set: { statusReason: 'waits' } }]);
    t.match(await transactions.get('r1', accepted.id), { status_reason: 'waits' });
  },
);

t.test('lists can be narrowed to a status', async (t) => {
  const world = await EngineWorld.open(t);
  const { transactions } = world.services();
  const [first, second] = [await world.accept('a'), await world.accept('b')];
  await world.store.write((writer) => writer.updateTransaction(first.id, 'pending', { status: 'failed' }));
  const { items, total } = await transactions.list('r1', { page: 1, perPage: 10 }, 'pending');
  t.equal(total, 1);
  t.match(items, [{ id: second.id, status: 'pending' }]);
});

t.test('a wait ends as soon as the engine says that the transaction is mined', async (t) => {
  const world = await EngineWorld.open(t);
  const engine = world.engine();
  t.teardown(() => engine.close());
  await engine.start();
  const { transactions } = world.services(engine);
  const { id } = await transactions.send('r1', { effect: 'pay' });
  const timing = { intervalMs: 600_000, timeoutMs: 600_000 };
  const waiting = transactions.wait('r1', String(id), timing, new AbortController().signal);
  await world.until('submitted', async () => world.chain.received.length > 0);
  world.chain.mine();
  t.match(await waiting, { id, status: 'mined' });
});

t.test('a wait tells of a revert as a failure, while the status says that it is not final', async (t) => {
  const world = await EngineWorld.open(t);
  const engine = world.engine();
  t.teardown(() => engine.close());
  await engine.start();
  const { transactions } = world.services(engine);
  const { id } = await transactions.send('r1', { effect: 'pay', reverts: true });
  const timing = { intervalMs: 600_000, timeoutMs: 600_000 };
  const waiting = transactions.wait('r1', String(id), timing, new AbortController().signal);
  await world.until('submitted', async () => world.chain.received.length > 0);
  world.chain.mine();
  const status_reason = 'Failed in its block, not final yet: Transaction reverted on-chain';
  t.match(await waiting, { id, status: 'failed', status_reason });
  t.match(await transactions.get('r1', String(id)), { status: 'mined', status_reason });
  for (let block = 0; block < world.chain.confirmations; block += 1) world.chain.mine();
  await world.until('final', async () => (await transactions.get('r1', String(id)))['status'] === 'failed');
  t.match(await transactions.get('r1', String(id)), { status_reason: 'Transaction reverted on-chain' });
});

t.test('a wait does not take the noop of what was canceled for its effect', async (t) => {
  const world = await EngineWorld.open(t);
  const engine = world.engine();
  t.teardown(() => engine.close());
  await engine.start();
  const { transactions, lifecycle } = world.services(engine);
  const id = String((await transactions.send('r1', { effect: 'pay' }))['id']);
  const timing = { intervalMs: 600_000, timeoutMs: 600_000 };
  const waiting = transactions.wait('r1', id, timing, new AbortController().signal);
  await world.until('submitted', async () => (await transactions.get('r1', id))['status'] === 'submitted');
  await lifecycle.cancel('r1', id);
  await world.until('its noop is in the pool', async () => new Set(world.chain.received).size > 1);
  world.chain.mine();
  t.match(await waiting, { id, status: 'canceled' });
});

t.test('a wait finds by itself what nobody told it', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await world.accept('pay');
  const { transactions } = world.services();
  const timing = { intervalMs: 0, timeoutMs: 600_000 };
  const waiting = transactions.wait('r1', transaction.id, timing, new AbortController().signal);
  await world.store.write((writer) => writer.updateTransaction(transaction.id, 'pending', { status: 'failed' }));
  t.match(await waiting, { status: 'failed' });
});

t.test('however many wait, a transaction is looked at once for a change, and rarely without one', async (t) => {
  const world = await EngineWorld.open(t);
  const { id } = await world.accept('pay');
  const listeners = new Set<() => void>();
  let looks = 0;
  const find = world.store.read.transaction.bind(world.store.read);
  world.store.read.transaction = (...asked) => {
    looks += 1;
    return find(...asked);
  };
  const { transactions } = world.services({
    wake: () => {},
    recheck: () => {},
    onChange: (_, listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  const never = new AbortController().signal;
  const wait = (timeoutMs: number) =>
    Array.from({ length: 50 }, () => transactions.wait('r1', id, { intervalMs: 0, timeoutMs }, never));
  t.strictSame(new Set(await Promise.all(wait(300))), new Set([undefined]));
  t.ok(looks < 150, `${looks} looks; one each 10 ms were 1,500`);

  const waiting = wait(600_000);
  await world.until('all wait', async () => listeners.size === 50);
  await world.store.write((writer) => writer.updateTransaction(id, 'pending', { status: 'failed' }));
  looks = 0;
  for (const listener of listeners) listener();
  for (const view of await Promise.all(waiting)) t.match(view, { id, status: 'failed' });
  t.ok(looks < 10, `${looks} looks for one change`);
});

t.test('a wait ends with nothing after its time, and with the reason when it is aborted', async (t) => {
  const world = await EngineWorld.open(t);
  const { id } = await world.accept('pay');
  let listeners = 0;
  const { transactions } = world.services({
    wake: () => {},
    recheck: () => {},
    onChange: () => {
      listeners += 1;
      return () => {
        listeners -= 1;
      };
    },
  });
  const never = new AbortController().signal;
  t.equal(await transactions.wait('r1', id, { intervalMs: 5, timeoutMs: 20 }, never), undefined);
  t.equal(await transactions.wait('r1', id, { intervalMs: 5, timeoutMs: 0 }, never), undefined);

  const abort = new AbortController();
  const waiting = transactions.wait('r1', id, { intervalMs: 600_000, timeoutMs: 600_000 }, abort.signal);
  const reason = new Error('the call is over');
  setImmediate(() => abort.abort(reason));
  await t.rejects(waiting, reason);
  t.equal(listeners, 0, 'nobody listens any more');
});

t.test('under one name a transaction is accepted once, and answered with as it is now', async (t) => {
  const world = await EngineWorld.open(t);
  const { transactions } = world.services();
  const effect = await keyedEffect(world.store);
  const both = [{ effect: 'pay' }, { effect: 'pay' }].map((body) => transactions.send('r1', body, { effect }));
  const [first, second] = await Promise.all(both);
  t.equal(first?.['id'], second?.['id']);
  t.strictSame(world.metrics.of('transactions_created', 'relayer_id'), ['r1']);
  t.equal((await transactions.list('r1', { page: 1, perPage: 10 })).total, 1);

  const id = String(first?.['id']);
  await world.store.write(async (writer) => {
    await writer.updateTransaction(id, 'pending', { status: 'failed' });
    await writer.putRelayer(relayerNamed('r1', { paused: true }));
  });
  t.match(
    await transactions.send('r1', { effect: 'pay' }, { effect }),
    { id, status: 'failed' },
    'whatever the gates say',
  );
  t.equal(await world.store.write((writer) => writer.pruneTransactions(Date.now() + 1000, 10)), 0);
  t.match(await transactions.send('r1', { effect: 'pay' }, { effect }), { id }, 'however long ago it ended');
});

t.test('what only the network can check is checked before anything is stored', async (t) => {
  const world = await EngineWorld.open(t);
  const asked: unknown[] = [];
  const screen: NonNullable<ChainClient['screen']> = async ({ request }, { identity }) => {
    asked.push([request, identity]);
    if (request['effect'] === 'stale') throw invalidRequest('its time is over');
  };
  Object.assign(world.client, { screen });
  const { transactions } = world.services();
  await t.rejects(transactions.send('r1', { effect: 'stale' }), { message: 'its time is over' });
  t.equal((await transactions.list('r1', { page: 1, perPage: 10 })).total, 0);
  await transactions.send('r1', { effect: 'pay' });
  t.match(asked, [
    [{ effect: 'stale' }, '31337'],
    [{ effect: 'pay' }, '31337'],
  ]);
});

t.test('the same bytes of a client are one transaction, until that ended in vain', async (t) => {
  const world = await EngineWorld.open(t);
  const parseRequest = world.family.parseRequest.bind(world.family);
  world.family.parseRequest = (body, account, now) => {
    const parsed = parseRequest(body, account, now);
    return { ...parsed, contentKey: String(parsed.request['effect']) };
  };
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r2')));
  const woken: string[] = [];
  const { transactions } = world.services({
    wake: (lane) => woken.push(lane),
    onChange: () => () => {},
    recheck: () => {},
  });
  const { id } = await transactions.send('r1', { effect: 'pay' });
  const spender = { pluginId: 'p', caveats: { valuePerHour: 10n } };
  for (const effect of [undefined, await keyedEffect(world.store)]) {
    t.match(await transactions.send('r1', { effect: 'pay', cost: '6' }, { effect, spender }), {
      id,
      status: 'pending',
    });
  }
  t.strictSame(await world.store.read.spentLastHour('p', 'r1'), { value: 0n, fee: 0n }, 'it moves nothing twice');
  await t.rejects(transactions.send('r2', { effect: 'pay' }), { code: 'TRANSACTION_EXISTS', status: 409 });
  t.strictSame([world.metrics.of('transactions_created', 'relayer_id'), woken], [['r1'], [LANE]]);

  await world.store.write((writer) =>
    writer.updateTransaction(String(id), 'pending', { status: 'expired', contentKey: null }),
  );
  const again = await transactions.send('r2', { effect: 'pay' });
  t.not(again['id'], id);
  t.not((await transactions.send('r1', { effect: 'other' }))['id'], id);
});

t.test('a plugin’s limits are reserved with the transaction, once under one name', async (t) => {
  const world = await EngineWorld.open(t);
  const { transactions } = world.services();
  const spender = { pluginId: 'p', caveats: { valuePerHour: 10n } };
  const effect = await keyedEffect(world.store);
  const body = { effect: 'pay', cost: '6' };
  const { id } = await transactions.send('r1', body, { effect, spender });
  t.match(await transactions.send('r1', body, { effect, spender }), { id }, 'a repeat asks for nothing more');
  t.strictSame(await world.store.read.spentLastHour('p', 'r1'), { value: 6n, fee: 0n });
  const second = { ...effect, occurrence: 1 };
  await t.rejects(transactions.send('r1', body, { effect: second, spender }), { code: 'BUDGET_SPENT' });
  t.equal(await world.store.read.effect(second), undefined, 'what was refused may be asked for again');
  await t.rejects(transactions.send('r1', { effect: 'other', cost: 1 }, { effect: second, spender }), {
    code: 'INVALID_REQUEST',
  });
  t.equal((await transactions.list('r1', { page: 1, perPage: 10 })).total, 1);
});

t.test('a commit that fails in several places at once ends as one error, and not the process', async (t) => {
  const world = await EngineWorld.open(t);
  const failed = new Error('could not serialize access');
  const failing: Store = {
    ...world.store,
    write: (body) =>
      world.store.write((writer) =>
        body({
          ...writer,
          holdRelayer: () => Promise.reject(failed),
          async reserveSpending() {
            // PostgreSQL runs nothing after the failure, and says so later.
            for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
            throw new Error('was not run');
          },
        }),
      ),
  };
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  t.teardown(() => process.off('unhandledRejection', note));
  const { transactions } = world.services(undefined, failing);
  const spender = { pluginId: 'p', caveats: { valuePerHour: 10n } };
  await t.rejects(transactions.send('r1', { effect: 'pay', cost: '6' }, { spender }), failed);
  await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(unhandled, []);
  t.equal((await world.services().transactions.list('r1', { page: 1, perPage: 10 })).total, 0);
});
