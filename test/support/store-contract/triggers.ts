import type { Test } from 'tap';
import { FIRST_PLACE } from '../../../src/features/transactions/records/transaction-event.ts';
import { type TriggerState, triggerKeyId } from '../../../src/features/triggers/records/trigger-state.ts';
import type { Store } from '../../../src/store/store.ts';
import { transactionOf } from '../store.ts';
import { callOf } from './calls.ts';

/** A trigger that has just been declared. The caller gives only the fields that matter. */
export function triggerStateOf(given: Partial<TriggerState> = {}): TriggerState {
  return {
    pluginId: 'bridge',
    name: 'often',
    digest: 'every 1s',
    cursor: { kind: 'moment', at: 1 },
    paused: null,
    since: 0,
    lookedAt: 0,
    lastCall: null,
    lastAt: null,
    fired: 0,
    skipped: 0,
    rateAt: 0,
    ...given,
  };
}

/** Tests of triggers for every store. */
export function triggersContract(t: Test, open: (t: Test) => Promise<Store>): void {
  const put = (store: Store, state: TriggerState) => store.write((writer) => writer.putTrigger(state));
  const keyId = triggerKeyId('bridge', 'often');

  t.test('where a trigger stands comes back as it was put', async (t) => {
    const store = await open(t);
    t.equal(await store.read.trigger('bridge', 'often'), undefined);
    await put(store, triggerStateOf());
    const later = triggerStateOf({ paused: 'throws', lastCall: 'c', lastAt: 5, fired: 2, skipped: 1, rateAt: 9 });
    await put(store, later);
    await put(store, triggerStateOf({ name: 'low', cursor: { kind: 'low', relayers: ['ä'] } }));
    await put(store, triggerStateOf({ pluginId: 'a', cursor: { kind: 'none' } }));
    t.strictSame(await store.read.trigger('bridge', 'often'), later);
    t.strictSame(
      (await store.read.triggers()).map(({ pluginId, name }) => `${pluginId} ${name}`),
      ['a often', 'bridge low', 'bridge often'],
    );
    t.strictSame((await store.read.triggersOf('bridge')).length, 2);
  });

  t.test('the calls of triggers that are open, and how the last ones ended', async (t) => {
    const store = await open(t);
    const trigger = { name: 'often', at: 1, depth: 1 };
    await store.write(async (writer) => {
      for (const id of ['1', '2', '3']) await writer.insertCall(callOf({ id, key: id, keyId, trigger }));
      await writer.insertCall(callOf({ id: '4', key: '1' }));
    });
    t.strictSame(
      (await store.read.openTriggerCalls()).toSorted((a, b) => Number(a.id) - Number(b.id)),
      ['1', '2', '3'].map((id) => ({ id, keyId, key: id, isWaiting: false })),
    );
    for (const [id, state] of [
      ['2', 'threw'],
      ['1', 'canceled'],
    ] as const) {
      await store.write((writer) => writer.stopCall(id, state, null));
    }
    t.strictSame(
      (await store.read.openTriggerCalls()).map(({ id }) => id),
      ['3'],
    );
    t.strictSame((await store.read.lastTriggerEnds(keyId, 0, 5)).toSorted(), ['canceled', 'threw']);
    t.equal((await store.read.lastTriggerEnds(keyId, 0, 1)).length, 1);
    t.strictSame(await store.read.lastTriggerEnds(keyId, (await store.now()) + 60_000, 5), []);
    t.notOk(await store.write((writer) => writer.insertCall(callOf({ id: '5', key: '1', keyId, trigger }))));
  });

  t.test('a delivery is noted once, until it is pruned', async (t) => {
    const store = await open(t);
    const note = (delivery: string) => store.write((writer) => writer.insertTriggerDelivery(keyId, delivery));
    t.strictSame([await note('a'), await note('b'), await note('a')], [true, true, false]);
    const prune = (before: number) => store.write((writer) => writer.pruneTriggerDeliveries(before, 1));
    t.equal(await prune(0), 0);
    const later = (await store.now()) + 60_000;
    t.strictSame([await prune(later), await prune(later), await prune(later)], [1, 1, 0]);
    t.ok(await note('a'));
  });

  t.test('events that a trigger has still to decide about are not pruned', async (t) => {
    const store = await open(t);
    const accept = (id: string) => store.write((writer) => writer.insertTransaction(transactionOf({ id })));
    for (const id of ['a', 'b', 'c']) await accept(id);
    const events = async () => (await store.read.transactionEvents(FIRST_PLACE, 10)).length;
    while ((await events()) < 3) await store.now();
    const [first, second] = await store.read.transactionEvents(FIRST_PLACE, 10);
    t.strictSame(await store.read.transactionEventsAt([second?.position ?? 0, 99]), [second]);
    t.strictSame(await store.read.transactionEventsAt([]), []);
    const now = await store.now();
    const prune = () => store.write((writer) => writer.pruneTransactionEvents(now + 60_000, 10));
    const { written = 0, position = 0 } = first ?? {};
    const waiting = triggerStateOf({ cursor: { kind: 'place', written, position }, lookedAt: now });
    await put(store, waiting);
    const held = [position];
    await put(store, { ...waiting, cursor: { kind: 'place', written, position: position + 1, held } });
    t.equal(await prune(), 0, 'nor one that waits behind a call for its transaction');
    await put(store, waiting);
    t.equal(await prune(), 1, 'what is decided goes');
    await put(store, { ...waiting, lookedAt: now - 100_000_000 });
    t.equal(await prune(), 1, 'nobody looks for that trigger any more');
    t.equal(await events(), 1, 'the last event stays');
  });

  t.test('which plugin sent a transaction', async (t) => {
    const store = await open(t);
    const origin = { pluginId: 'bridge', depth: 2 };
    await store.write(async (writer) => {
      await writer.insertTransaction(transactionOf({ id: 'a', origin }));
      await writer.insertTransaction(transactionOf({ id: 'b' }));
    });
    const { createdAt } = transactionOf({});
    t.strictSame(
      await store.read.transactionOrigins(['a', 'b', 'c']),
      new Map([
        ['a', { origin, createdAt }],
        ['b', { origin: null, createdAt }],
      ]),
    );
    t.strictSame(await store.read.transactionOrigins([]), new Map());
  });
}
