import type { Test } from 'tap';
import type { Intent, IntentAction } from '../../../src/features/transactions/records/intent.ts';
import type { Store } from '../../../src/store/store.ts';
import { transactionOf } from '../store.ts';

const CANCEL: IntentAction = { kind: 'cancel' };

/** Tests for every store of what clients want of running transactions. */
export function intentsContract(t: Test, open: (t: Test) => Promise<Store>): void {
  const ask = (store: Store, transactionId: string, lane: string, action: IntentAction = CANCEL) =>
    store.write((writer) => writer.insertIntent({ transactionId, lane, action }));
  const ids = (intents: readonly Intent[]) => intents.map(({ transactionId }) => transactionId);

  t.test('an intent comes back as it was asked, in its own lane', async (t) => {
    const store = await open(t);
    const before = await store.now();
    const replacement: IntentAction = {
      kind: 'replace',
      request: { value: (2n ** 256n - 1n).toString(), data: '\0 "\ud800"', 'key with "quotes"': [1.5, null] },
      validUntil: 8_640_000_000_000_000,
    };
    const position = await ask(store, 'a', 'one', replacement);
    const [intent, ...more] = await store.read.intents('one', 10);
    t.strictSame(more, []);
    t.match(intent, { position, transactionId: 'a', lane: 'one' });
    t.same(intent?.action, replacement);
    t.ok(Number(intent?.createdAt) >= before, 'by the clock of the store');
    t.strictSame(await store.read.intents('two', 10), []);
  });

  t.test('intents wait in the order in which they came, until they are settled', async (t) => {
    const store = await open(t);
    const positions: number[] = [];
    for (const id of ['c', 'a', 'b', 'a']) positions.push(await ask(store, id, 'one'));
    await ask(store, 'd', 'two');
    t.strictSame(
      positions.toSorted((a, b) => a - b),
      positions,
      'positions rise',
    );
    t.strictSame(ids(await store.read.intents('one', 10)), ['c', 'a', 'b', 'a']);
    t.strictSame(ids(await store.read.intents('one', 2)), ['c', 'a']);

    const [first = 0, second = 0, third = 0] = positions;
    await store.write(async (writer) => {
      await writer.settleIntent(first, null);
      await writer.settleIntent(second, 'too late\0');
    });
    t.strictSame(ids(await store.read.intents('one', 10)), ['b', 'a']);
    t.strictSame(await store.read.intentOutcome(first), { refusal: null });
    t.strictSame(await store.read.intentOutcome(second), { refusal: 'too late\ufffd' });
    t.equal(await store.read.intentOutcome(third), 'waiting');
    t.equal(await store.read.intentOutcome(third + 1_000), undefined);
  });

  t.test('the first outcome of an intent counts', async (t) => {
    const store = await open(t);
    const position = await ask(store, 'a', 'one');
    await store.write((writer) => writer.settleIntent(position, null));
    await store.write((writer) => writer.settleIntent(position, 'after all'));
    t.strictSame(await store.read.intentOutcome(position), { refusal: null });
  });

  t.test('the intents of a transaction are told with what came of it', async (t) => {
    const store = await open(t);
    const replacement: IntentAction = { kind: 'replace', request: {}, validUntil: null };
    const first = await ask(store, 'a', 'one', replacement);
    const second = await ask(store, 'a', 'one');
    await ask(store, 'a', 'one');
    await ask(store, 'b', 'one');
    await store.write(async (writer) => {
      await writer.settleIntent(first, 'no');
      await writer.settleIntent(second, null);
    });
    const intents = await store.read.intentRecords('a', 10);
    t.match(intents, [
      { kind: 'replace', refusal: 'no', createdAt: Number, settledAt: Number },
      { kind: 'cancel', refusal: null, settledAt: Number },
      { kind: 'cancel', refusal: null, settledAt: null },
    ]);
    t.equal(intents.length, 3);
    t.strictSame(await store.read.intentRecords('a', 2), intents.slice(1), 'the latest');
    t.strictSame(await store.read.intentRecords('no such', 2), []);
  });

  t.test('a lane with an intent that waits is due, whatever its transactions are', async (t) => {
    const store = await open(t);
    await store.write((writer) => writer.insertTransaction(transactionOf({ lane: 'one', nextActionAt: 50 })));
    const position = await ask(store, 'a', 'two');
    await ask(store, 'a', 'two');
    t.strictSame((await store.read.dueLanes(49)).lanes, ['two']);
    t.strictSame((await store.read.dueLanes(50)).lanes.sort(), ['one', 'two']);
    await ask(store, 'b', 'one');
    t.strictSame((await store.read.dueLanes(50)).lanes.sort(), ['one', 'two'], 'each once');
    await store.write(async (writer) => {
      await writer.settleIntent(position, null);
      await writer.settleIntent(position + 1, 'no');
    });
    t.strictSame((await store.read.dueLanes(49)).lanes, ['one']);
  });

  t.test('an intent is undone with the body that it is written in', async (t) => {
    const store = await open(t);
    await t.rejects(
      store.write(async (writer) => {
        await writer.insertIntent({ transactionId: 'a', lane: 'one', action: CANCEL });
        throw new Error('mishap');
      }),
      { message: 'mishap' },
    );
    t.strictSame(await store.read.intents('one', 10), []);
  });
}
