import type { Test } from 'tap';
import { type Attempt, attemptPurposeSchema } from '../../../src/features/transactions/records/attempt.ts';
import type { Store } from '../../../src/store/store.ts';
import { attemptOf, transactionOf } from '../store.ts';

/** Tests of attempts for every store. */
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

  t.test('a further attempt conflicts with every living one, or the store refuses it', async (t) => {
    const anchors = [{ kind: 'sequence', sequence: 7n }, { kind: 'text', text: '7' }, { kind: 'none' }] as const;
    for (const [index, anchor] of anchors.entries()) {
      const { store, first } = await withTransactions(t, 1);
      const insert = (ordinal: number, given: Attempt['anchor']) =>
        store.write((writer) => writer.insertAttempt({ ...attemptOf(first), ordinal, anchor: given }));
      await insert(1, anchor);
      const others = anchors.filter((other) => other !== anchor);
      for (const other of [...others, { kind: 'sequence', sequence: 8n } as const]) {
        await t.rejects(insert(2, other), { name: 'NoConflict', message: /does not conflict with attempt 1/ });
      }
      if (anchor.kind === 'none')
        await t.rejects(insert(2, anchor), { name: 'NoConflict' }, 'nothing excludes nothing');
      else await insert(2, anchor);
      const living = (await store.read.attempts(first.id)).map(({ ordinal }) => ordinal);
      await store.write(async (writer) => {
        for (const ordinal of living) await writer.attemptDied(first.id, ordinal, 5 + ordinal);
        for (const ordinal of living) await writer.attemptDied(first.id, ordinal, 99);
      });
      await insert(3, anchors[(index + 1) % 3] ?? anchor);
      t.match(
        (await store.read.attempts(first.id)).map(({ ordinal, deadAt, anchor: kept }) => [ordinal, deadAt, kept.kind]),
        [...living.map((ordinal) => [ordinal, 5 + ordinal, anchor.kind]), [3, null, anchors[(index + 1) % 3]?.kind]],
        'what is dead is no rival, and stays dead since it first was',
      );
    }
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
