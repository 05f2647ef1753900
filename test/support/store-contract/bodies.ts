import type { Test } from 'tap';
import type { Store, StoreWriter } from '../../../src/store/store.ts';
import { relayerOf, transactionOf, withRelayer } from '../store.ts';

/** Tests of write bodies for every store. */
export function bodiesContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('a body that throws is undone alone, with its own error', async (t) => {
    const store = await withRelayer(open)(t);
    const mishap = new Error('mishap');
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, (_, index) =>
        store.write(async (writer) => {
          await writer.insertTransaction(transactionOf({ id: `t${index}` }));
          if (index % 3 === 0) throw mishap;
          return index;
        }),
      ),
    );
    for (const [index, outcome] of outcomes.entries()) {
      const kept = await store.read.transaction('relayer-1', `t${index}`);
      if (index % 3 === 0) t.strictSame([outcome.status, kept], ['rejected', undefined]);
      else t.strictSame([outcome, kept?.id], [{ status: 'fulfilled', value: index }, `t${index}`]);
    }
    t.equal(outcomes[0]?.status === 'rejected' && outcomes[0].reason, mishap);
  });

  t.test('bodies apart from all others share a commit; one that throws is undone alone', async (t) => {
    const store = await withRelayer(open)(t);
    const mishap = new Error('mishap');
    const add = (id: string, fails: boolean) =>
      store.write(
        async (writer) => {
          const inserted = writer.insertTransaction(transactionOf({ id }));
          await Promise.all([inserted, fails ? Promise.reject(mishap) : writer.holdRelayer('relayer-1')]);
          return id;
        },
        { isApart: true },
      );
    for (const isOneWrong of [false, true]) {
      const ids = Array.from({ length: 150 }, (_, index) => `${isOneWrong}-${index}`);
      const outcomes = await Promise.allSettled(ids.map((id, index) => add(id, isOneWrong && index % 50 === 7)));
      for (const [index, id] of ids.entries()) {
        const isWrong = isOneWrong && index % 50 === 7;
        const kept = await store.read.transaction('relayer-1', id);
        t.strictSame(
          [outcomes[index], kept?.id],
          isWrong ? [{ status: 'rejected', reason: mishap }, undefined] : [{ status: 'fulfilled', value: id }, id],
        );
      }
    }
  });

  t.test('of two bodies that add the same, one is kept', async (t) => {
    const store = await withRelayer(open)(t);
    const add = (id: string) =>
      store.write((writer) => writer.insertTransaction(transactionOf({ id })), { isApart: true });
    const outcomes = await Promise.allSettled([add('a'), add('same'), add('b'), add('same'), add('c')]);
    t.strictSame(outcomes.map(({ status }) => status).sort(), [
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
    ]);
    for (const id of ['a', 'b', 'c', 'same']) t.ok(await store.read.transaction('relayer-1', id), id);
  });

  t.test('closing waits for bodies that share a commit', async (t) => {
    const store = await withRelayer(open)(t);
    const asked = Array.from({ length: 20 }, (_, index) =>
      store.write((writer) => writer.insertTransaction(transactionOf({ id: `t${index}` })), { isApart: true }),
    );
    t.equal((await Promise.all([...asked, store.close()])).length, 21);
  });

  t.test('what a failing body still asks for is not stored either', async (t) => {
    const store = await withRelayer(open)(t);
    const mishap = new Error('mishap');
    const later = async (writer: StoreWriter, turns: number, id: string) => {
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      await writer.putRelayer(relayerOf({ id }));
    };
    const ids = Array.from({ length: 40 }, (_, turns) => `late-${turns}`);
    for (const [turns, id] of ids.entries()) {
      const failing = store.write(async (writer) => {
        await Promise.all([
          writer.insertTransaction(transactionOf()).then(() => Promise.reject(mishap)),
          writer.holdRelayer('relayer-1').then(() => later(writer, turns, `${id}-after`)),
          later(writer, turns, id),
          later(writer, turns, `${id}-too`),
        ]);
      });
      await t.rejects(failing, mishap);
      // Another body of the same commit does not take it along.
      await store.write((writer) => writer.putRelayer(relayerOf()));
    }
    t.strictSame(
      (await store.read.allRelayers()).map(({ id }) => id),
      ['relayer-1'],
    );
    t.equal(await store.read.transaction('relayer-1', transactionOf().id), undefined);
  });

  t.test('a body sees its own writes; others see them after it resolved', async (t) => {
    const store = await withRelayer(open)(t);
    const transaction = transactionOf();
    const seen = await store.write(async (writer) => {
      await writer.insertTransaction(transaction);
      return writer.transaction('relayer-1', transaction.id);
    });
    t.same(seen, transaction);
    t.same(await store.read.transaction('relayer-1', transaction.id), transaction);
  });

  t.test('inside a body the store itself is refused, not dead-locked', async (t) => {
    const store = await open(t);
    const advice = { message: 'Inside a write body use its writer; store.read and store.write are for outside' };
    await store.write(async (writer) => {
      await t.rejects(async () => store.read.relayer('x'), advice);
      await t.rejects(
        store.write(async () => 1),
        advice,
      );
      await writer.putRelayer(relayerOf());
    });
    t.ok(await store.read.relayer('relayer-1'), 'and the body goes on');
    t.ok(
      await Promise.all([store.write((writer) => writer.relayers({ page: 1, perPage: 1 })), store.read.allRelayers()]),
    );
  });

  t.test('a writer is of no use after its body', async (t) => {
    const store = await open(t);
    const leaked = await store.write(async (writer): Promise<{ writer: StoreWriter }> => ({ writer }));
    await t.rejects(leaked.writer.putRelayer(relayerOf()), {
      message: 'This write body has ended; its writer cannot be used any more',
    });
    t.strictSame(await store.read.allRelayers(), []);
  });

  t.test('a body that throws before its first promise', async (t) => {
    const store = await open(t);
    const mishap = new Error('at once');
    await t.rejects(
      store.write(() => {
        throw mishap;
      }),
      mishap,
    );
    await store.write((writer) => writer.putRelayer(relayerOf()));
    t.equal((await store.read.allRelayers()).length, 1);
  });

  t.test('the clock is the present', async (t) => {
    const store = await open(t);
    const now = await store.now();
    t.ok(Number.isSafeInteger(now) && Math.abs(now - Date.now()) < 60_000);
  });

  t.test('closing waits for what was asked, takes no more, and can be done twice', async (t) => {
    const store = await open(t);
    const asked = Array.from({ length: 20 }, (_, index) =>
      store.write((writer) => writer.putRelayer(relayerOf({ id: `r${index}` }))),
    );
    await Promise.all([store.close(), ...asked]);
    await store.close();
    const closed = { code: 'UNAVAILABLE', message: 'The store is closed' };
    await t.rejects(
      store.write((writer) => writer.putRelayer(relayerOf())),
      closed,
    );
    await t.rejects(store.read.allRelayers(), closed);
  });
}
