import type { Test } from 'tap';
import { type Lease, LeaseLost } from '../../../src/store/lease.ts';
import type { Store } from '../../../src/store/store.ts';
import { relayerOf, transactionOf } from '../store.ts';

/** Takes a lease that must be free. */
export async function leaseOf(store: Store, name: string): Promise<Lease> {
  const answer = await store.leases.acquire(name);
  if (answer.kind !== 'taken') throw new Error(`${name} is held elsewhere for ${answer.forMs} ms`);
  return answer.lease;
}

/** Tests for every store of leases and the writes under them. */
export function leasesContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('a write under a lease is a write', async (t) => {
    const store = await open(t);
    const lease = await leaseOf(store, 'lane');
    const transaction = transactionOf();
    const seen = await store.writeUnder(lease, async (writer) => {
      await writer.insertTransaction(transaction);
      return writer.transactionOfLane(transaction.lane, transaction.id);
    });
    t.same(seen, transaction);
    const mishap = new Error('mishap');
    await t.rejects(
      store.writeUnder(lease, async (writer) => {
        await writer.putRelayer(relayerOf());
        throw mishap;
      }),
      mishap,
    );
    t.strictSame(await store.read.allRelayers(), []);
  });

  t.test('taking it again raises the token and ends the older one', async (t) => {
    const store = await open(t);
    const older = await leaseOf(store, 'lane');
    const newer = await leaseOf(store, 'lane');
    t.equal(newer.name, 'lane');
    t.ok(newer.token > older.token);
    await t.rejects(
      store.writeUnder(older, (writer) => writer.putRelayer(relayerOf())),
      new LeaseLost(older),
    );
    await store.writeUnder(newer, (writer) => writer.putRelayer(relayerOf({ id: 'newer' })));
    t.strictSame(await store.read.allRelayers(), [relayerOf({ id: 'newer' })]);
  });

  t.test('one that was given back is of no use, and is taken anew with a higher token', async (t) => {
    const store = await open(t);
    const [lease, other] = [await leaseOf(store, 'lane'), await leaseOf(store, 'other')];
    await store.leases.release([lease]);
    await store.leases.release([lease]);
    t.strictSame(await store.leases.renew([lease, other]), [other]);
    await t.rejects(
      store.writeUnder(lease, async () => 1),
      new LeaseLost(lease),
    );
    const next = await leaseOf(store, 'lane');
    t.ok(next.token > lease.token);
    await store.leases.release([lease]);
    t.strictSame(
      await store.leases.renew([lease, next, other]),
      [next, other],
      'the older one cannot be used to end it',
    );
    t.strictSame(await store.leases.renew([]), []);
  });

  t.test('one that never was', async (t) => {
    const store = await open(t);
    await t.rejects(
      store.writeUnder({ name: 'lane', token: 1 }, async () => 1),
      { name: 'LeaseLost', message: 'The lease lane (token 1) is held no longer' },
    );
  });

  t.test('a lost lease among many writes refuses its own only', async (t) => {
    const store = await open(t);
    const [lost, held] = [await leaseOf(store, 'lost'), await leaseOf(store, 'held')];
    await store.leases.release([lost]);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        store.writeUnder(index % 2 === 0 ? held : lost, (writer) =>
          writer.insertTransaction(transactionOf({ id: `t${index}` })),
        ),
      ),
    );
    t.strictSame(
      outcomes.map(({ status }) => status),
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'fulfilled' : 'rejected')),
    );
    t.equal((await store.read.transactions('relayer-1', { page: 1, perPage: 100 })).total, 10);
  });

  t.test('writes of several lanes that share a commit: a lost lease refuses its own only', async (t) => {
    const store = await open(t);
    const names = Array.from({ length: 12 }, (_, index) => `lane-${index}`);
    const leases = await Promise.all(names.map((name) => leaseOf(store, name)));
    const add = (lease: Lease, id: string) =>
      store.writeUnder(lease, (writer) => writer.insertTransaction(transactionOf({ id })), { isApart: true });
    for (const [round, lost] of [undefined, leases[5]].entries()) {
      if (lost !== undefined) await store.leases.release([lost]);
      const [outcomes] = await Promise.all([
        Promise.allSettled(leases.map((lease, index) => add(lease, `t${round}-${index}`))),
        store.leases.renew(leases),
      ]);
      for (const [index, outcome] of outcomes.entries()) {
        const isLost = leases[index] === lost;
        if (isLost) t.match(outcome, { status: 'rejected', reason: { name: 'LeaseLost' } });
        else t.equal(outcome.status, 'fulfilled');
        t.equal((await store.read.transactionOfLane(transactionOf().lane, `t${round}-${index}`)) === undefined, isLost);
      }
    }
  });

  t.test('writes that share a commit go through while their leases are renewed', async (t) => {
    const store = await open(t);
    const leases = await Promise.all(Array.from({ length: 8 }, (_, index) => leaseOf(store, `lane-${index}`)));
    const writing = leases.map(async (lease, index) => {
      for (let count = 0; count < 25; count += 1)
        await store.writeUnder(
          lease,
          (writer) => writer.insertTransaction(transactionOf({ id: `t${index}-${count}` })),
          { isApart: true },
        );
    });
    const renewing = async () => {
      for (let count = 0; count < 25; count += 1) t.equal((await store.leases.renew(leases)).length, leases.length);
    };
    await Promise.all([...writing, renewing()]);
    t.equal((await store.read.transactions('relayer-1', { page: 1, perPage: 1 })).total, 200);
  });
}
