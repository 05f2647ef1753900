import type { Test } from 'tap';
import { attemptPurposeSchema } from '../../../src/domain/transaction.ts';
import type { Store } from '../../../src/store/store.ts';
import { attemptOf, transactionOf } from '../store.ts';

/** What every store keeps of attempts. */
export function attemptsContract(t: Test, open: (t: Test) => Promise<Store>): void {
  const withTransactions = async (t: Test, count: number) => {
    const store = await open(t);
    const transactions = Array.from({ length: count }, () => transactionOf());
    await store.write(async (writer) => {
      for (const transaction of transactions) await writer.insertTransaction(transaction);
    });
    const [first = transactionOf(), second = transactionOf()] = transactions;
    return { store, first, second, transactions };
  };

  t.test('attempts come back by ordinal, exactly', async (t) => {
    const { store, first, second } = await withTransactions(t, 2);
    const attempts = [2, 10, 1].map((ordinal) =>
      attemptOf(first, { ordinal, sequence: 2n ** 63n + 1n, raw: `0x${'ab'.repeat(100_000)}` }),
    );
    await store.write(async (writer) => {
      for (const attempt of attempts) await writer.insertAttempt(attempt);
      await writer.insertAttempt(attemptOf(second));
    });
    t.strictSame(
      await store.read.attempts(first.id),
      attempts.toSorted((a, b) => a.ordinal - b.ordinal),
    );
    t.strictSame(await store.read.attempts('no such'), []);
  });

  t.test('each version keeps what it is for, what it asks and what was decided for it', async (t) => {
    const store = await open(t);
    const transaction = transactionOf({ request: { value: '0x1' }, fields: { price: '9' } });
    const attempts = attemptPurposeSchema.options.map((purpose, index) =>
      attemptOf(transaction, {
        ordinal: index + 1,
        purpose,
        request: { value: String(2n ** 256n - BigInt(index)), text: '\0 "\ud800"' },
        fields: { price: String(index), nested: { list: [1.5, null] } },
      }),
    );
    await store.write(async (writer) => {
      await writer.insertTransaction(transaction);
      for (const attempt of attempts) await writer.insertAttempt(attempt);
      await writer.updateTransaction(transaction.id, 'pending', { status: 'sent', sequence: 0n, request: {} });
    });
    t.same(await store.read.attempts(transaction.id), attempts);
    const [found] = await store.read.openTransactions(transaction.lane);
    t.same(found?.attempts, attempts, 'and so does the picture of a lane');
  });

  t.test('an ordinal and a hash are taken once', async (t) => {
    const { store, first, second } = await withTransactions(t, 2);
    const attempt = attemptOf(first);
    await store.write((writer) => writer.insertAttempt(attempt));
    for (const twin of [
      attemptOf(first, { ordinal: 1 }),
      attemptOf(first, { ordinal: 2, hash: attempt.hash }),
      attemptOf(second, { hash: attempt.hash }),
    ]) {
      await t.rejects(
        store.write((writer) => writer.insertAttempt(twin)),
        { name: 'DuplicateRecord' },
      );
    }
    await store.write((writer) => writer.insertAttempt(attemptOf(second, { lane: 'other', hash: attempt.hash })));
    t.equal((await store.read.attempts(first.id)).length, 1);
  });

  t.test('an attempt needs its transaction', async (t) => {
    const { store } = await withTransactions(t, 0);
    await t.rejects(store.write((writer) => writer.insertAttempt(attemptOf(transactionOf()))));
  });

  t.test('the next sequence of a lane follows its highest', async (t) => {
    const store = await open(t);
    const [first, second] = [1n, 2n].map((sequence) => transactionOf({ status: 'sent', sequence }));
    if (first === undefined || second === undefined) throw new Error('there are two');
    for (const one of [first, second]) await store.write((writer) => writer.insertTransaction(one));
    const { lane } = first;
    t.equal(await store.read.laneSequence(lane), null);
    await store.write((writer) => writer.insertAttempt(attemptOf(first, { sequence: 9n })));
    t.equal(await store.read.laneSequence(lane), 10n);
    await store.write((writer) => writer.insertAttempt(attemptOf(second, { sequence: 10n })));
    await store.write((writer) => writer.insertAttempt(attemptOf(second, { ordinal: 2, sequence: 2n ** 53n + 1n })));
    t.equal(await store.read.laneSequence(lane), 2n ** 53n + 2n);
    t.equal(await store.read.laneSequence('other'), null);

    const left = transactionOf({ lane, status: 'canceled', sequence: null });
    await store.write(async (writer) => {
      await writer.insertTransaction(left);
      await writer.insertAttempt(attemptOf(left, { sequence: 2n ** 60n }));
    });
    t.equal(await store.read.laneSequence(lane), 2n ** 53n + 2n, 'what has left its sequence does not count');
    t.equal(await store.read.settled(lane), null);
    const later = (await store.now()) + 1000;
    t.equal(await store.write((writer) => writer.pruneTransactions(later, 9)), 1);
    t.equal(await store.read.laneSequence(lane), 2n ** 53n + 2n);
    t.equal(await store.read.settled(lane), null);
  });

  t.test('the empty transactions of a lane that filled gaps since a moment', async (t) => {
    const { store, first, second, transactions } = await withTransactions(t, 4);
    const [, , third = first, fourth = first] = transactions;
    await store.write(async (writer) => {
      const void_ = { purpose: 'void' } as const;
      await writer.insertAttempt(attemptOf(first, { ...void_, sequence: 2n ** 53n + 1n, createdAt: 5 }));
      await writer.insertAttempt(attemptOf(second, { ...void_, sequence: 7n, createdAt: 9 }));
      await writer.insertAttempt(attemptOf(third, { ...void_, sequence: 8n, createdAt: 4 }));
      await writer.insertAttempt(attemptOf(fourth, { sequence: 9n, createdAt: 9 }));
      await writer.insertAttempt(attemptOf(fourth, { ...void_, ordinal: 2, sequence: 9n, createdAt: 9 }));
    });
    t.strictSame(await store.read.fillers(first.lane, 5), [
      { sequence: 7n, at: 9 },
      { sequence: 2n ** 53n + 1n, at: 5 },
    ]);
    t.strictSame(await store.read.fillers('other', 0), []);
  });

  t.test('the first acceptance counts', async (t) => {
    const { store, first } = await withTransactions(t, 1);
    await store.write((writer) => writer.insertAttempt(attemptOf(first)));
    await store.write((writer) => writer.attemptAccepted(first.id, 1, { at: 5, by: 'https://a.test' }));
    await store.write((writer) => writer.attemptAccepted(first.id, 1, { at: 9, by: 'https://b.test' }));
    t.match(await store.read.attempts(first.id), [{ acceptedAt: 5, acceptedBy: 'https://a.test' }]);
    await t.rejects(
      store.write((writer) => writer.attemptAccepted(first.id, 2, { at: 5 })),
      { message: `There is no attempt ${first.id}/2` },
    );
  });

  t.test('the attempts of very many transactions', async (t) => {
    const { store, first, transactions } = await withTransactions(t, 1001);
    await store.write(async (writer) => {
      for (const [index, transaction] of transactions.entries()) {
        const sequence = BigInt(index);
        await writer.updateTransaction(transaction.id, 'pending', { status: 'sent', sequence });
        await writer.insertAttempt(attemptOf(transaction, { sequence }));
      }
    });
    const found = await store.read.openTransactions(first.lane);
    t.equal(found.length, 1001);
    t.ok(found.every(({ transaction, attempts }) => attempts[0]?.transactionId === transaction.id));
  });
}
