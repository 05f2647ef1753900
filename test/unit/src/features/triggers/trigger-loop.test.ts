import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { CallState } from '../../../../../src/features/calls/record.ts';
import { pluginEntrySchema } from '../../../../../src/features/plugins/records/plugin.ts';
import { momentKey, TriggerLoop, type TriggerTiming } from '../../../../../src/features/triggers/trigger-loop.ts';
import type { Store } from '../../../../../src/store/store.ts';
import { EngineWorld } from '../../../../support/engine-world.ts';
import { InstanceLeases } from '../../../../support/instance-leases.ts';
import { notificationOf, transactionOf } from '../../../../support/store.ts';

const FAST: TriggerTiming = { roundMs: 20, floorMs: 2, heldMs: 5, balanceMs: 5, noteMs: 60_000 };

/** The loops of several instances over one store, for the triggers of one plugin. */
async function stage(
  t: Test,
  triggers: object[],
  { instances = 1, now }: { instances?: number; now?: () => number } = {},
) {
  const world = await EngineWorld.open(t);
  const store: Store = now === undefined ? world.store : { ...world.store, now: async () => now() };
  const shared = new InstanceLeases(60_000);
  const declared = { triggers };
  const news = new Set<() => void>();
  const begin = () => {
    const loop = new TriggerLoop({
      store: shared.storeFor(store),
      declared: () => [pluginEntrySchema.parse({ id: 'p', path: 'p.ts', ...declared })],
      calls: { wake: () => undefined },
      outbox: world.outbox,
      onNews(listener) {
        news.add(listener);
        return () => news.delete(listener);
      },
      elapsed: () => performance.now(),
      newId: randomUUID,
      log: world.log,
      metrics: world.metrics,
      timing: FAST,
    });
    loop.start();
    t.teardown(() => loop.close());
    return loop;
  };
  const loops = Array.from({ length: instances }, begin);
  const calls = async () => (await store.read.calls('p', { page: 1, perPage: 500 }, {})).items.toReversed();
  const end = async (state: Exclude<CallState, 'running' | 'waiting'> = 'returned') => {
    const open = await store.read.openTriggerCalls();
    for (const { id } of open) await store.write((writer) => writer.stopCall(id, state, null));
  };
  const keys = async () => (await calls()).map(({ key }) => key);
  const state = async (name = 'a') => await store.read.trigger('p', name);
  const accept = async (id: string, given: Parameters<typeof transactionOf>[0] = {}) => {
    await store.write((writer) => writer.insertTransaction(transactionOf({ id, ...given })));
    for (const listener of news) listener();
  };
  return { world, store, loops, begin, declared, calls, keys, end, state, accept };
}

t.test('one call for each moment, however many instances look', async (t) => {
  const one = { name: 'a', every: '1s', params: { x: 1 } };
  const { world, loops, calls, keys, end, state } = await stage(t, [one], { instances: 3 });
  await world.until('three moments', async () => {
    await end();
    return (await keys()).length >= 3;
  });
  await Promise.all(loops.map((loop) => loop.close()));
  const made = await calls();
  const moments = made.map(({ key }) => Date.parse(key)).toSorted((a, b) => a - b);
  t.strictSame(new Set(moments).size, moments.length);
  t.ok(moments.every((at) => at % 1000 === 0));
  const { fired = 0, skipped = 0, since = 0, cursor } = (await state()) ?? {};
  const to = cursor?.kind === 'moment' ? cursor.at : 0;
  t.equal(fired, made.length);
  t.equal(fired + skipped, Math.floor(to / 1000) - Math.floor(since / 1000), 'and none is passed over');
  const { request, trigger, keyId } = made[0] ?? {};
  t.match(request, { params: { x: 1 }, method: 'POST' });
  t.match(trigger, { name: 'a', at: moments[0], depth: 1 });
  t.equal(keyId, 'trigger:p/a');
});

t.test('a firing while the last call runs is left out and counted', async (t) => {
  let now = 1_000_000;
  const { world, keys, end, state } = await stage(t, [{ name: 'a', every: '1m' }], { now: () => now });
  await world.until('the declaration', async () => (await state()) !== undefined);
  now = 1_020_000;
  await world.until('a call', async () => (await keys()).length === 1);
  now = 1_080_000;
  await world.until('a firing that is left out', async () => (await state())?.skipped === 1);
  await end();
  now = 1_140_000;
  await world.until('the next call', async () => (await keys()).length === 2);
  t.strictSame(await keys(), [momentKey(1_020_000), momentKey(1_140_000)]);
  t.match(await state(), { fired: 2, skipped: 1, cursor: { kind: 'moment', at: 1_140_000 } });
});

t.test('a clock that is set back and forth makes no second call for a moment', async (t) => {
  let now = 1_000_000;
  const { world, keys, end, state } = await stage(t, [{ name: 'a', every: '1m' }], { now: () => now });
  await world.until('the declaration', async () => (await state()) !== undefined);
  const goTo = async (at: number) => {
    now = at;
    await world.until('the next look', async () => {
      const { cursor } = (await state()) ?? {};
      return cursor?.kind === 'moment' && cursor.at <= at && cursor.at >= at - (at % 60_000);
    });
    await end();
  };
  for (const at of [1_020_000, 1_080_000, 90_000_000, 1_030_000, 1_090_000, 1_140_000, 1_000_000, 1_200_000])
    await goTo(at);
  const made = await keys();
  t.equal(new Set(made).size, made.length);
  for (const at of [1_020_000, 1_080_000, 1_140_000, 1_200_000]) t.ok(made.includes(momentKey(at)), momentKey(at));
});

t.test('what it fires at has changed: it begins anew', async (t) => {
  let now = 1_000_000;
  const { world, keys, declared, state } = await stage(t, [{ name: 'a', every: '1m' }], { now: () => now });
  await world.until('the declaration', async () => (await state()) !== undefined);
  const before = (await state())?.digest;
  declared.triggers = [{ name: 'a', every: '2m', missed: 'all' }];
  now = 10_000_000;
  await world.until('the new declaration', async () => (await state())?.digest !== before);
  now = 10_080_000;
  await world.until('a call', async () => (await keys()).length > 0);
  t.strictSame(await keys(), [momentKey(10_080_000)], 'nothing was missed before it was declared');
});

t.test('all missed moments, one after the other', async (t) => {
  let now = 1_000_000;
  const { world, keys, end, state } = await stage(t, [{ name: 'a', every: '1m', missed: 'all' }], { now: () => now });
  await world.until('the declaration', async () => (await state()) !== undefined);
  now = 1_150_000;
  let most = 0;
  await world.until('three calls', async () => {
    most = Math.max(most, (await keys()).length);
    await end();
    return most === 3;
  });
  t.strictSame(await keys(), [1_020_000, 1_080_000, 1_140_000].map(momentKey));
});

t.test('five calls in a row that throw pause it, and nothing but a person resumes it', async (t) => {
  const { world, store, keys, end, state, declared } = await stage(t, [
    { name: 'a', on: 'transaction', status: ['pending'] },
  ]);
  await store.write(async (writer) => {
    await writer.putNotification(notificationOf({ id: 'n' }));
    const [relayer] = await writer.allRelayers();
    if (relayer !== undefined) await writer.putRelayer({ ...relayer, notificationId: 'n' });
  });
  await world.until('the declaration', async () => (await state()) !== undefined);
  let sent = 0;
  const thrown = async (ending: 'threw' | 'returned') => {
    sent += 1;
    await store.write((writer) => writer.insertTransaction(transactionOf({ id: `t${sent}` })));
    await world.until(`call ${sent}`, async () => (await keys()).length === sent);
    await end(ending);
  };
  for (const ending of ['threw', 'threw', 'threw', 'threw', 'returned'] as const) await thrown(ending);
  for (let more = 0; more < 4; more += 1) await thrown('threw');
  t.equal((await state())?.paused, null);
  await thrown('threw');
  await world.until('the pause', async () => (await state())?.paused === 'throws');
  t.match(world.logLines.join(), /a trigger is paused/);
  const [event] = await store.write((writer) => writer.claimEvents('n', 10, 1000));
  t.match(event, { event: 'plugin_trigger_paused', subject: 'trigger:p/a' });
  t.match(JSON.parse(event?.body ?? '{}'), { payload: { plugin_id: 'p', trigger: 'a', throws: 5 } });
  const digest = (await state())?.digest;
  declared.triggers = [{ name: 'a', every: '1s' }];
  await world.until('another declaration', async () => (await state())?.digest !== digest);
  t.equal((await state())?.paused, 'throws');
});

t.test('events of transactions: each once, in order for each transaction', async (t) => {
  const trigger = { name: 'a', on: 'transaction', status: ['pending', 'sent', 'failed'] };
  const { world, store, calls, end, state, accept } = await stage(t, [trigger], { instances: 3 });
  await world.until('the declaration', async () => (await state()) !== undefined);
  const ids = Array.from({ length: 15 }, (_, index) => `t${index}`);
  for (const id of ids) {
    await accept(id);
    await store.write((writer) => writer.updateTransaction(id, 'pending', { status: 'sent', hash: id }));
    await store.write((writer) => writer.updateTransaction(id, 'sent', { status: 'failed' }));
  }
  await accept('own', { origin: { pluginId: 'p', depth: 0 } });
  await accept('deep', { origin: { pluginId: 'q', depth: 4 } });
  await accept('last', { origin: { pluginId: 'q', depth: 3 } });
  let mostOpen = 0;
  await world.until('all calls', async () => {
    const open = await store.read.openTriggerCalls();
    mostOpen = Math.max(mostOpen, open.length);
    const busy = open.map(({ key }) => key.split('/')[0]);
    t.equal(new Set(busy).size, busy.length, 'one at a time for each transaction');
    await end();
    return (await calls()).length > 3 * ids.length;
  });
  const made = await calls();
  t.equal(made.length, 3 * ids.length + 1);
  t.ok(mostOpen <= 32);
  for (const id of ids) {
    const told = made.filter(({ key }) => key.startsWith(`${id}/`)).toSorted((a, b) => a.createdAt - b.createdAt);
    t.strictSame(
      told.map(({ request }) => (request.event as { status: string }).status),
      ['pending', 'sent', 'failed'],
    );
  }
  t.equal(made.find(({ key }) => key.startsWith('last/'))?.trigger?.depth, 4);
  t.equal((await state())?.skipped, 1, 'where a chain of triggers ends');
});

t.test('a call that lasts holds up the later events of its own transaction, and nothing else', async (t) => {
  const stood = await stage(t, [{ name: 'a', on: 'transaction', status: ['pending', 'sent'] }]);
  const { world, store, loops, begin, calls, state, accept } = stood;
  await world.until('the declaration', async () => (await state()) !== undefined);
  await accept('slow');
  await world.until('a call', async () => (await calls()).length === 1);
  await store.write((writer) => writer.updateTransaction('slow', 'pending', { status: 'sent', hash: 'h' }));
  // More events than are read at once.
  const others = Array.from({ length: 620 }, (_, index) => `t${index}`);
  await store.write(async (writer) => {
    for (const id of others) await writer.insertTransaction(transactionOf({ id }));
  });
  const endOthers = async () => {
    const ending = (await store.read.openTriggerCalls()).filter(({ key }) => !key.startsWith('slow/'));
    await store.write(async (writer) => {
      for (const { id } of ending) await writer.stopCall(id, 'returned', null);
    });
  };
  await world.until('a call for each', async () => {
    await endOthers();
    return (await state())?.fired === 1 + others.length;
  });
  await endOthers();
  // Days later: what has ended is forgotten, and the instance begins anew.
  await loops[0]?.close();
  const later = (await store.now()) + 60_000;
  await store.write(async (writer) => {
    while ((await writer.pruneCalls(later, 500)) > 0);
    while ((await writer.pruneKeys(later, 500)) > 0);
  });
  begin();
  await accept('last');
  await world.until('it goes on', async () => (await calls()).some(({ key }) => key.startsWith('last/')));
  t.strictSame(
    (await calls()).map(({ key }) => key.split('/')[0]),
    ['slow', 'last'],
    'nothing is called for twice',
  );
  await stood.end();
  await world.until('the next event of the slow one', async () => (await state())?.fired === others.length + 3);
  t.match((await calls()).at(-1)?.request.event, { transaction_id: 'slow', status: 'sent' });
});

t.test('a balance that becomes low', async (t) => {
  const { world, store, calls, end } = await stage(t, [{ name: 'a', on: 'balance', below: 100 }]);
  const put = async (balance: bigint) => {
    const [relayer] = await store.read.allRelayers();
    await store.write((writer) => writer.putRelayerBalance({ relayerId: relayer?.id ?? '', balance, isLow: false }));
  };
  await put(500n);
  await put(50n);
  await world.until('a call', async () => (await calls()).length === 1);
  const [call] = await calls();
  t.match(call?.request.event, { balance: '50', below: '100' });
  await end();
  await put(40n);
  await put(200n);
  await world.until('the balance is well', async () => {
    const { cursor } = (await store.read.trigger('p', 'a')) ?? {};
    return cursor?.kind === 'low' && cursor.relayers.length === 0;
  });
  await put(60n);
  await world.until('a second call', async () => (await calls()).length === 2);
});
