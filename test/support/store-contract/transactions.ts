import type { Test } from 'tap';
import { anchorKindSchema } from '../../../src/features/transactions/records/anchor.ts';
import type { Transaction, TransactionChange } from '../../../src/features/transactions/records/transaction.ts';
import {
  canBecome,
  type TransactionStatus,
  transactionStatusSchema,
} from '../../../src/features/transactions/records/transaction-state.ts';
import type { Store, StoreWriter } from '../../../src/store/store.ts';
import { attemptOf, relayerOf, transactionOf, withRelayer } from '../store.ts';

const FIRST = { page: 1, perPage: 100 };

/** Tests of transactions for every store. */
export function transactionsContract(t: Test, openEmpty: (t: Test) => Promise<Store>): void {
  const open = withRelayer(openEmpty);
  const insert = (store: Store, ...transactions: Transaction[]) =>
    store.write(async (writer) => {
      for (const transaction of transactions) await writer.insertTransaction(transaction);
    });

  t.test('a transaction comes back as it was accepted, under its own relayer only', async (t) => {
    const store = await open(t);
    const transaction = transactionOf({
      status: 'mined',
      statusReason: 'why',
      sentAt: 1,
      confirmedAt: 8_640_000_000_000_000,
      validUntil: 3,
      request: { value: (2n ** 256n - 1n).toString(), data: '\0 "\ud800"', 'key with "quotes"': [1.5, -0, 1e300] },
      fields: { gas: 9_007_199_254_740_991 },
      sequence: 2n ** 64n - 1n,
      hash: '0xabc',
      noopEnd: 'expired',
      nextActionAt: 2 ** 53 - 1,
    });
    await insert(store, transaction);
    t.same(await store.read.transaction('relayer-1', transaction.id), transaction);
    t.equal(await store.read.transaction('relayer-2', transaction.id), undefined);
    t.equal(await store.read.transaction('relayer-1', 'no such'), undefined);
    await store.write((writer) => writer.deleteRelayer('relayer-1'));
    t.equal(await store.read.transaction('relayer-1', transaction.id), undefined);
    t.same(await store.read.transactionOfLane(transaction.lane, transaction.id), transaction, 'it is kept');
  });

  t.test('what was read before is told as long as it is so, and no longer', async (t) => {
    const store = await open(t);
    const transaction = transactionOf();
    await insert(store, transaction);
    const read = () => store.read.transaction('relayer-1', transaction.id);
    const list = async () => (await store.read.transactions('relayer-1', FIRST)).items;
    const first = await read();
    t.equal(await read(), first);
    t.equal((await list())[0], first);
    const fail = async (writer: StoreWriter, statusReason: string) => {
      await writer.updateTransaction(transaction.id, 'pending', { status: 'failed', statusReason });
      t.match(await writer.transaction('relayer-1', transaction.id), { statusReason });
    };
    const mishap = new Error('mishap');
    const undone = store.write(async (writer) => {
      await fail(writer, 'undone');
      throw mishap;
    });
    await t.rejects(undone, mishap);
    t.equal(await read(), first);
    await store.write((writer) => fail(writer, 'done'));
    t.match(await read(), { status: 'failed', statusReason: 'done' });
    t.equal((await list())[0], await read());
    const other = transactionOf();
    await insert(store, other);
    t.same(new Set(await list()), new Set([other, await read()]));
  });

  t.test('an id is taken once, and the body may go on after the refusal', async (t) => {
    const store = await open(t);
    const transaction = transactionOf();
    await insert(store, transaction);
    await t.rejects(insert(store, { ...transaction, lane: 'other' }), {
      name: 'DuplicateRecord',
      message: `Table transactions already holds ${transaction.id}`,
    });
    const other = transactionOf();
    await store.write(async (writer) => {
      await t.rejects(writer.insertTransaction(transaction), { name: 'DuplicateRecord' });
      await writer.insertTransaction(other);
    });
    t.equal((await store.read.transactions('relayer-1', FIRST)).total, 2);
  });

  t.test('lists are newest first, ties by id, by relayer and status, in pages', async (t) => {
    const store = await open(t);
    const of = (id: string, createdAt: number, given: Partial<Transaction> = {}) =>
      transactionOf({ id, createdAt, ...given });
    await insert(
      store,
      of('b', 20, { noopEnd: 'expired' }),
      of('d', 10),
      of('a', 20, { noopEnd: 'canceled' }),
      of('c', 30, { status: 'confirmed', noopEnd: 'canceled' }),
      of('e', 40, { relayerId: 'relayer-2' }),
    );
    const ids = async (...args: Parameters<Store['read']['transactions']>) => {
      const { items, total } = await store.read.transactions(...args);
      return [...items.map(({ id }) => id), total];
    };
    t.strictSame(await ids('relayer-1', FIRST), ['c', 'b', 'a', 'd', 4]);
    t.strictSame(await ids('relayer-1', { page: 2, perPage: 3 }), ['d', 4]);
    t.strictSame(await ids('relayer-1', { page: 9, perPage: 3 }), [4]);
    t.strictSame(await ids('relayer-1', { page: 1, perPage: 0 }), [4]);
    t.strictSame(await ids('relayer-1', FIRST, 'pending'), ['b', 'd', 2], 'those being canceled are left out');
    t.strictSame(await ids('relayer-1', FIRST, 'confirmed'), ['c', 1], 'but not of a final status');
    t.strictSame(await ids('relayer-3', FIRST), [0]);
  });

  t.test('the number of transactions follows every write, also of writers at the same time', async (t) => {
    const store = await open(t);
    await store.write((writer) => writer.putRelayer(relayerOf()));
    const ids = Array.from({ length: 12 }, (_, index) => `t${index}`);
    await Promise.all(ids.map((id) => insert(store, transactionOf({ id }))));
    const moves: [TransactionStatus, TransactionChange][] = [
      ['pending', { status: 'sent', sequence: 1n }],
      ['sent', { noopEnd: 'canceled' }],
      ['sent', { status: 'submitted' }],
      ['submitted', { status: 'canceled' }],
    ];
    const moved = ids.map(async (id, index) => {
      for (const [seen, change] of moves.slice(0, index % 5)) {
        await store.write((writer) =>
          writer.updateTransaction(id, seen, { ...change, ...('sequence' in change && { sequence: BigInt(index) }) }),
        );
      }
    });
    await Promise.all(moved);
    const undone = store.write(async (writer) => {
      await writer.insertTransaction(transactionOf({ id: 'undone' }));
      throw new Error('undone');
    });
    await t.rejects(undone, { message: 'undone' });
    const totals = async () =>
      await Promise.all(
        [undefined, ...transactionStatusSchema.options].map(async (status) => {
          const { items, total } = await store.read.transactions('relayer-1', { page: 1, perPage: 500 }, status);
          t.equal(total, items.length, `all of ${status ?? 'all'} are on the page`);
          return [status ?? 'all', total];
        }),
      );
    t.match(Object.fromEntries(await totals()), { all: 12, pending: 3, sent: 3, submitted: 0, canceled: 2 });
    t.equal(await store.read.pendingCount('relayer-1'), 10, 'with those that are being canceled');
    t.strictSame((await store.read.openCounts()).map(({ status, count }) => `${count} ${status}`).sort(), [
      '2 submitted',
      '3 pending',
      '5 sent',
    ]);
    t.equal(await store.write(async (writer) => writer.pruneTransactions((await store.now()) + 1_000, 50)), 2);
    t.match(Object.fromEntries(await totals()), { all: 10, canceled: 0 });
  });

  t.test('due work is found by lane, what is due for longest first', async (t) => {
    const store = await open(t);
    t.equal(await store.read.nextPendingAt('one', 0), null);
    t.strictSame((await store.read.dueLanes(Number.MAX_SAFE_INTEGER)).lanes, []);
    await insert(
      store,
      transactionOf({ id: 'z', lane: 'one', nextActionAt: 10, createdAt: 9 }),
      transactionOf({ id: 'put off', lane: 'one', nextActionAt: 60, createdAt: 1 }),
      transactionOf({ id: 'y', lane: 'one', nextActionAt: 10, createdAt: 1 }),
      transactionOf({ id: 'x', lane: 'one', nextActionAt: 101 }),
      transactionOf({ id: 'w', lane: 'two', nextActionAt: 100 }),
      transactionOf({ id: 'v', lane: 'one', nextActionAt: null, status: 'failed' }),
      transactionOf({ id: 'u', lane: 'one', nextActionAt: 100 }),
      transactionOf({ id: 'signed', lane: 'three', nextActionAt: 100, status: 'sent', sequence: 1n }),
    );
    t.strictSame((await store.read.dueLanes(100)).lanes.sort(), ['one', 'three', 'two']);
    t.strictSame((await store.read.dueLanes(99)).lanes, ['one']);
    t.strictSame((await store.read.dueLanes(9)).lanes, []);
    const ids = (due: Transaction[]) => due.map(({ id }) => id);
    t.strictSame(ids(await store.read.duePending('one', 'sequence', 100, 10)), ['z', 'y', 'put off', 'u']);
    t.strictSame(ids(await store.read.duePending('one', 'sequence', 100, 1)), ['z']);
    t.strictSame(
      ids(await store.read.duePending('three', 'sequence', 100, 1)),
      [],
      'what is signed is no longer taken up',
    );
    t.strictSame(ids(await store.read.duePending('four', 'sequence', 100, 1)), []);
    t.equal(await store.read.nextPendingAt('one', 9), 10);
    t.equal(await store.read.nextPendingAt('one', 10), 60);
    t.equal(await store.read.nextPendingAt('three', 0), null, 'what is signed is no longer pending');
  });

  t.test('a search for due lanes looks at some, and the next goes on after them', async (t) => {
    const store = await open(t);
    const lanes = Array.from({ length: 300 }, (_, index) => `lane ${String(index).padStart(3, '0')}`);
    await insert(
      store,
      ...lanes.map((lane, index) => transactionOf({ lane, nextActionAt: index % 2 === 0 ? 10 : 20 })),
    );
    const first = await store.read.dueLanes(10);
    t.equal(first.upTo, lanes[255]);
    const second = await store.read.dueLanes(10, first.upTo);
    t.equal(second.upTo, undefined);
    t.strictSame(
      [...first.lanes, ...second.lanes],
      lanes.filter((_, index) => index % 2 === 0),
    );
  });

  t.test('what is pending is taken up by what it consumes', async (t) => {
    const store = await open(t);
    await insert(store, ...anchorKindSchema.options.map((anchorKind) => transactionOf({ id: anchorKind, anchorKind })));
    const { lane, createdAt } = transactionOf();
    for (const kind of anchorKindSchema.options) {
      t.match(await store.read.duePending(lane, kind, createdAt, 10), [{ id: kind, anchorKind: kind }]);
      t.equal((await store.read.duePending(lane, kind, createdAt, 10)).length, 1);
    }
  });

  t.test('the bytes of a client are one transaction of their lane, unless it ended in vain', async (t) => {
    const store = await open(t);
    const contentKey = 'these bytes';
    const twins = transactionStatusSchema.options.map((status) =>
      transactionOf({ id: status, status, lane: `lane of ${status}`, contentKey }),
    );
    await insert(store, ...twins);
    for (const { status, lane, relayerId } of twins) {
      const found = await store.read.transactionByContent(lane, contentKey);
      t.same(found, { id: status, relayerId }, status);
      await t.rejects(insert(store, transactionOf({ lane, contentKey })), { name: 'DuplicateRecord' }, status);
    }
    const inVain = { status: 'expired', contentKey: null } as const;
    await store.write((writer) => writer.updateTransaction('sent', 'sent', inVain));
    t.equal(await store.read.transactionByContent('lane of sent', contentKey), undefined);
    await insert(store, transactionOf({ lane: 'lane of sent', contentKey }));
    t.equal(await store.read.transactionByContent('lane of sent', 'others'), undefined);
    await insert(store, transactionOf(), transactionOf());
  });

  t.test('a transaction is found by the hash of any of its attempts, in its own lane', async (t) => {
    const store = await open(t);
    const sent = transactionOf({ status: 'sent' });
    const { id, relayerId, lane } = sent;
    await insert(store, sent);
    await store.write(async (writer) => {
      await writer.insertAttempt(attemptOf(sent, { hash: 'first', deadAt: 5 }));
      await writer.insertAttempt(attemptOf(sent, { ordinal: 2, hash: 'second' }));
    });
    for (const hash of ['first', 'second']) t.same(await store.read.transactionByHash(lane, hash), { id, relayerId });
    t.equal(await store.read.transactionByHash(lane, 'third'), undefined);
    t.equal(await store.read.transactionByHash('another lane', 'first'), undefined);
  });

  t.test('what a transaction needed first is found, the latest first', async (t) => {
    const store = await open(t);
    const of = (id: string, parentId: string | null) => transactionOf({ id, parentId });
    await insert(store, of('parent', null), of('b', 'parent'), of('a', 'parent'), of('c', 'other'));
    const childrenOf = async (id: string) => (await store.read.children(id)).map((child) => child.id);
    t.strictSame(await childrenOf('parent'), ['a', 'b']);
    t.strictSame(await childrenOf('b'), []);
  });

  t.test('what was put off before the clock was set back by an hour is due, what has a pause is not', async (t) => {
    const store = await open(t);
    const before = 1_700_000_000_000;
    await insert(
      store,
      transactionOf({ id: 'waits', lane: 'one', nextActionAt: before + 500 }),
      transactionOf({ id: 'sent', lane: 'two', nextActionAt: before + 500, status: 'submitted', sequence: 1n }),
    );
    t.strictSame((await store.read.dueLanes(before)).lanes, []);
    const after = before - 3_600_000;
    t.strictSame((await store.read.dueLanes(after)).lanes.sort(), ['one', 'two']);
    t.match(await store.read.duePending('one', 'sequence', after, 10), [{ id: 'waits' }]);

    await store.write((writer) => writer.updateTransaction('waits', 'pending', { nextActionAt: after + 15_000 }));
    t.strictSame((await store.read.dueLanes(after)).lanes, ['two']);
    t.strictSame(await store.read.duePending('one', 'sequence', after, 10), []);
  });

  t.test('a sequence finds the latest that was given it, under its own relayer only', async (t) => {
    const store = await open(t);
    const sequence = 2n ** 64n - 1n;
    await insert(
      store,
      transactionOf({ id: 'first', sequence, status: 'failed', createdAt: 9 }),
      transactionOf({ id: 'second', sequence, status: 'canceled', createdAt: 1 }),
      transactionOf({ id: 'stranger', sequence, relayerId: 'relayer-2', status: 'sent' }),
      transactionOf({ id: 'zero', sequence: 0n, status: 'confirmed' }),
      transactionOf({ id: 'unsigned' }),
    );
    const found = async (relayerId: string, of: bigint) =>
      (await store.read.transactionBySequence(relayerId, of))?.id ?? null;
    t.equal(await found('relayer-1', sequence), 'second', 'by acceptance, whatever the clock said');
    t.equal(await found('relayer-2', sequence), 'stranger');
    t.equal(await found('relayer-1', 0n), 'zero');
    t.equal(await found('relayer-2', 0n), null);
    t.equal(await found('relayer-1', 1n), null);
  });

  t.test('what can be canceled is what waits, is sent or submitted and not being canceled', async (t) => {
    const store = await open(t);
    t.strictSame(await store.read.cancelable('relayer-1'), []);
    await insert(
      store,
      ...transactionStatusSchema.options.toReversed().map((status) => transactionOf({ id: status, status })),
      transactionOf({ id: 'being canceled', status: 'sent', noopEnd: 'canceled' }),
      transactionOf({ id: 'being given up', lane: 'other', status: 'sent', noopEnd: 'expired' }),
      transactionOf({ id: 'stranger', relayerId: 'relayer-2' }),
    );
    const { lane } = transactionOf();
    t.same(await store.read.cancelable('relayer-1'), [
      { id: 'submitted', lane },
      { id: 'sent', lane },
      { id: 'pending', lane },
      { id: 'being given up', lane: 'other' },
    ]);
  });

  t.test('a transaction of a lane is found whoever it belongs to', async (t) => {
    const store = await open(t);
    const transaction = transactionOf({ relayerId: 'relayer-2', lane: 'one' });
    await insert(store, transaction);
    t.same(await store.read.transactionOfLane('one', transaction.id), transaction);
    t.equal(await store.read.transactionOfLane('two', transaction.id), undefined);
    t.equal(await store.read.transactionOfLane('one', 'no such'), undefined);
  });

  t.test('what is signed and open comes in the order of acceptance, with all its attempts', async (t) => {
    const store = await open(t);
    const high = transactionOf({ id: 'high', sequence: 10n ** 19n, status: 'sent' });
    const low = transactionOf({ id: 'low', sequence: 9n, status: 'mined' });
    await insert(
      store,
      high,
      low,
      transactionOf({ id: 'unsigned' }),
      transactionOf({ id: 'done', sequence: 1n, status: 'confirmed' }),
      transactionOf({ id: 'elsewhere', sequence: 1n, status: 'sent', lane: 'other' }),
    );
    await store.write(async (writer) => {
      await writer.insertAttempt(attemptOf(low, { ordinal: 2, sequence: 9n }));
      await writer.insertAttempt(attemptOf(low, { ordinal: 1, sequence: 9n }));
    });
    const found = await store.read.openTransactions(high.lane);
    t.strictSame(
      found.map(({ transaction, attempts }) => [transaction.id, ...attempts.map(({ ordinal }) => ordinal)]),
      [['high'], ['low', 1, 2]],
    );
    t.strictSame(await store.read.openTransactions('nowhere'), []);
  });

  t.test('figures of a relayer', async (t) => {
    const store = await open(t);
    t.equal(await store.read.pendingCount('relayer-1'), 0);
    t.equal(await store.read.lastConfirmedAt('relayer-1'), null);
    await insert(
      store,
      ...transactionStatusSchema.options.map((status) => transactionOf({ status })),
      transactionOf({ confirmedAt: 5, status: 'confirmed' }),
      transactionOf({ confirmedAt: 7, status: 'confirmed' }),
      transactionOf({ confirmedAt: 9, relayerId: 'relayer-2' }),
    );
    t.equal(await store.read.pendingCount('relayer-1'), 3);
    t.equal(await store.read.lastConfirmedAt('relayer-1'), 7);
  });

  t.test('what is open is counted by relayer and status', async (t) => {
    const store = await open(t);
    t.strictSame(await store.read.openCounts(), []);
    await store.write(async (writer) => {
      await writer.putRelayer(relayerOf({ id: 'relayer-1' }));
      await writer.putRelayer(relayerOf({ id: 'relayer-2', networkType: 'stellar' }));
      await writer.putRelayer(relayerOf({ id: 'relayer-3' }));
    });
    await insert(
      store,
      ...transactionStatusSchema.options.map((status) => transactionOf({ status })),
      transactionOf({ status: 'sent' }),
      transactionOf({ status: 'pending', relayerId: 'relayer-2' }),
    );
    t.strictSame(
      (await store.read.openCounts())
        .map(({ relayerId, networkType, status, count }) => [relayerId, networkType, status, count].join(' '))
        .toSorted(),
      [
        'relayer-1 evm mined 1',
        'relayer-1 evm pending 1',
        'relayer-1 evm sent 2',
        'relayer-1 evm submitted 1',
        'relayer-2 stellar pending 1',
      ],
    );
  });

  t.test('a change needs the status that the caller saw', async (t) => {
    const store = await open(t);
    const transaction = transactionOf();
    await insert(store, transaction);
    const change = { status: 'sent', sequence: 3n, hash: '0x1', sentAt: 5, fields: { a: 1 }, nextActionAt: 6 } as const;
    t.equal(await store.write((writer) => writer.updateTransaction(transaction.id, 'pending', change)), true);
    t.equal(await store.write((writer) => writer.updateTransaction(transaction.id, 'pending', change)), false, 'stale');
    t.same(await store.read.transaction('relayer-1', transaction.id), { ...transaction, ...change });
    t.equal(await store.write((writer) => writer.updateTransaction('no such', 'pending', change)), false);
  });

  t.test('of two that saw the same status one wins', async (t) => {
    const store = await open(t);
    const transaction = transactionOf();
    await insert(store, transaction);
    const outcomes = await Promise.all(
      ['sent', 'failed', 'canceled', 'expired'].map((status) =>
        store.write((writer) =>
          writer.updateTransaction(transaction.id, 'pending', { status: transactionStatusSchema.parse(status) }),
        ),
      ),
    );
    t.equal(outcomes.filter(Boolean).length, 1);
  });

  t.test('each field can be changed alone, cleared, and left', async (t) => {
    const store = await open(t);
    const transaction = transactionOf({
      statusReason: 'r',
      sequence: 1n,
      hash: 'h',
      sentAt: 1,
      confirmedAt: 2,
      noopEnd: 'canceled',
      validUntil: 3,
    });
    await insert(store, transaction);
    const changes: TransactionChange[] = [
      {},
      { statusReason: 'new\0' },
      { statusReason: null },
      { sequence: null },
      { hash: null },
      { sentAt: null },
      { confirmedAt: null },
      { noopEnd: 'failed' },
      { noopEnd: null },
      { validUntil: 4 },
      { request: { value: '0x2' } },
      { fields: { gas: 2 } },
      { nextActionAt: 77 },
      { lane: 'other' },
      { status: 'pending' },
    ];
    let expected = transaction;
    for (const change of changes) {
      t.equal(await store.write((writer) => writer.updateTransaction(transaction.id, 'pending', change)), true);
      expected = { ...expected, ...change };
      if (expected.statusReason === 'new\0') expected.statusReason = 'new\ufffd';
      t.same(await store.read.transaction('relayer-1', transaction.id), expected);
    }
  });

  t.test('no step that the state table does not have, and nothing leaves a final status', async (t) => {
    const store = await open(t);
    for (const from of transactionStatusSchema.options) {
      for (const to of transactionStatusSchema.options) {
        if (from === to || canBecome(from, to)) continue;
        const transaction = transactionOf({ status: from });
        await insert(store, transaction);
        await t.rejects(
          store.write((writer) => writer.updateTransaction(transaction.id, from, { status: to })),
          { message: `Transaction ${transaction.id} is ${from} and cannot become ${to}` },
        );
        t.equal((await store.read.transaction('relayer-1', transaction.id))?.status, from);
      }
    }
    const done = transactionOf({ status: 'confirmed', nextActionAt: null });
    await insert(store, done);
    await t.rejects(store.write((writer) => writer.updateTransaction(done.id, 'confirmed', { nextActionAt: 5 })));
    t.same(await store.read.transaction('relayer-1', done.id), done);
  });

  t.test('what becomes final is due no more', async (t) => {
    const store = await open(t);
    const transaction = transactionOf();
    await insert(store, transaction);
    await store.write((writer) =>
      writer.updateTransaction(transaction.id, 'pending', { status: 'failed', nextActionAt: 5 }),
    );
    t.equal((await store.read.transaction('relayer-1', transaction.id))?.nextActionAt, null);
    t.equal(await store.read.nextPendingAt(transaction.lane, 0), null);
  });

  t.test('when it became final is known', async (t) => {
    const store = await open(t);
    const [going, done] = [transactionOf(), transactionOf({ createdAt: 1 })];
    await insert(store, going, done);
    const before = await store.now();
    await store.write((writer) => writer.updateTransaction(done.id, 'pending', { status: 'failed' }));
    t.equal(await store.read.endedAt(going.id), null);
    t.equal(await store.read.endedAt('no such'), null);
    const endedAt = Number(await store.read.endedAt(done.id));
    t.ok(endedAt >= before && endedAt <= (await store.now()), String(endedAt));
  });

  t.test('what cannot be kept exactly is refused', async (t) => {
    const store = await open(t);
    const bad: Partial<Transaction>[] = [
      { createdAt: Number.NaN },
      { createdAt: 1.5 },
      { nextActionAt: 2 ** 53 },
      { createdAt: new Date() as unknown as number },
      { lane: undefined as unknown as string },
      { sequence: -1n },
      { sequence: 2n ** 64n },
      { request: { value: 1n as unknown as string } },
    ];
    for (const given of bad) await t.rejects(insert(store, transactionOf(given)), String(Object.values(given)[0]));
    t.equal((await store.read.transactions('relayer-1', FIRST)).total, 0);
  });
}
