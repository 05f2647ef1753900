import type { Test } from 'tap';
import type { Store } from '../../../src/store/store.ts';
import { relayerOf, transactionOf } from '../store.ts';

/** Tests for every store of its history, and of unsigned transactions. */
export function historyContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('a new database has no past; marks are kept beside its epochs', async (t) => {
    const store = await open(t);
    t.strictSame(await store.read.history(), { epochs: [], place: null, marks: new Map(), release: null });
    await store.write(async (writer) => {
      await writer.putMark('a', { count: 1, at: 5 });
      await writer.putMark('b', { count: 7, at: 0 });
      await writer.putHistory({ epochs: ['first'], place: 'here' });
      t.equal((await writer.history()).marks.size, 2, 'what a body wrote it reads');
    });
    await store.write(async (writer) => {
      await writer.putMark('a', { count: 2, at: 6 });
      await writer.putHistory({ epochs: ['first', 'second'], place: null });
    });
    t.strictSame(await store.read.history(), {
      epochs: ['first', 'second'],
      place: null,
      marks: new Map([
        ['a', { count: 2, at: 6 }],
        ['b', { count: 7, at: 0 }],
      ]),
      release: null,
    });
  });

  t.test('what an operator has released is kept until it is taken back', async (t) => {
    const store = await open(t);
    const released = async () => (await store.read.history()).release;
    await store.write((writer) => writer.putRelease({ upTo: 3, endsAt: null }));
    t.strictSame(await released(), { upTo: 3, endsAt: null });
    await store.write((writer) => writer.putRelease({ upTo: 3, endsAt: 70 }));
    t.strictSame(await released(), { upTo: 3, endsAt: 70 });
    await store.write((writer) => writer.putRelease(null));
    t.equal(await released(), null);
  });

  t.test('where the comparison of a lane begins is kept until it is removed', async (t) => {
    const store = await open(t);
    t.equal(await store.read.restoredFrom('a'), undefined);
    await store.write(async (writer) => {
      await writer.putRestoredFrom('a', 2n ** 64n - 1n);
      await writer.putRestoredFrom('b', null);
    });
    t.strictSame([await store.read.restoredFrom('a'), await store.read.restoredFrom('b')], [2n ** 64n - 1n, null]);
    await store.write((writer) => writer.putRestoredFrom('a', undefined));
    t.strictSame([await store.read.restoredFrom('a'), await store.read.restoredFrom('b')], [undefined, null]);
  });

  t.test('pending transactions of a lane are found by the place of the last one', async (t) => {
    const store = await open(t);
    t.equal(await store.read.latestAcceptance(), 0);
    const accept = async (id: string, more: object = {}) => {
      await store.write((writer) => writer.insertTransaction(transactionOf({ id, status: 'pending', ...more })));
      return store.read.latestAcceptance();
    };
    const first = await accept('a');
    const second = await accept('other', { lane: 'other' });
    await accept('signed', { status: 'sent', sequence: 4n, hash: '0x1' });
    const last = await accept('b');
    t.ok(0 < first && first < second && second < last);
    const { lane } = transactionOf({});
    const ids = async (place: number) => {
      const pending = await store.read.pendingUpTo(lane, place);
      const withoutContent = (await store.read.pendingIdsUpTo(lane, place)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
      const expected = pending.map(({ id, relayerId }) => ({ id, relayerId }));
      t.strictSame(
        withoutContent,
        expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      );
      return pending.map(({ id }) => id);
    };
    t.strictSame(await ids(last), ['a', 'b']);
    t.strictSame(await ids(last - 1), ['a']);
    t.strictSame(await ids(0), []);
  });

  t.test('its place stays the same while it is used', async (t) => {
    const store = await open(t);
    const place = await store.place();
    await store.write((writer) => writer.putRelayer(relayerOf()));
    t.equal(await store.place(), place);
  });

  t.test('unsigned is what is pending, of all lanes, in the order of acceptance', async (t) => {
    const store = await open(t);
    await store.write(async (writer) => {
      await writer.insertTransaction(transactionOf({ id: 'b', status: 'pending', lane: 'other' }));
      await writer.insertTransaction(transactionOf({ id: 'signed', status: 'sent', sequence: 4n, hash: '0x1' }));
      await writer.insertTransaction(transactionOf({ id: 'ended', status: 'failed', nextActionAt: null }));
      await writer.insertTransaction(transactionOf({ id: 'a', status: 'pending' }));
    });
    t.equal(await store.read.unsignedCount(), 2);
    const ids = async (limit: number) => (await store.read.unsigned(limit)).map(({ id }) => id);
    t.strictSame(await ids(10), ['b', 'a']);
    t.strictSame(await ids(1), ['b']);
  });
}
