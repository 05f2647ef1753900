import t from 'tap';
import { type ActualSpend, HOUR_MS } from '../../../../../../src/features/plugins/records/spending.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';
import { storeFor } from '../../../../../support/store.ts';

const LIMIT = 100n;

t.test('what ended counts for an hour by the clock of the store, what is under way for ever', async (t) => {
  let now = 1000;
  const store = await storeFor(t, { now: () => now, elapsed: () => performance.now() });
  const budget = { pluginId: 'p', relayerId: 'r' };
  const reserve = (transactionId: string, value: bigint, fee: bigint) =>
    store.write((writer) =>
      writer.reserveSpending({ ...budget, transactionId, value, fee, valueLimit: LIMIT, feeLimit: LIMIT }),
    );
  const settle = (transactionId: string, value: bigint, fee: bigint) =>
    store.write((writer) => writer.settleSpending([{ transactionId, value, fee }]));
  await reserve('a', 60n, 70n);
  await reserve('b', 40n, 30n);
  now += 5 * HOUR_MS;
  t.match(await reserve('c', 1n, 0n), { rule: 'value_per_hour', remaining: 0n });
  t.match(await reserve('c', 0n, 1n), { rule: 'fee_per_hour', remaining: 0n });
  await settle('a', 60n, 70n);
  now += HOUR_MS;
  t.match(await reserve('c', 1n, 0n), { remaining: 0n }, 'exactly an hour ago is within the hour');
  t.match(await reserve('c', 0n, 1n), { remaining: 0n }, 'for the fee too');
  t.equal(await store.read.freeFrom(budget, 'value', 60n), now + 1);
  t.equal(await store.read.freeFrom(budget, 'fee', 70n), now + 1);
  t.equal(await store.read.freeFrom(budget, 'value', 61n), null);
  now += 1;
  t.strictSame(await store.read.spentLastHour('p', 'r'), { value: 40n, fee: 30n });
  t.equal(await reserve('c', 60n, 70n), undefined);
  t.strictSame(await store.read.spentLastHour('p', 'r'), { value: 100n, fee: 100n });
  t.strictSame(await store.read.budgeted(['a', 'b', 'c']), new Set(['b', 'c']), 'what is over is forgotten');
});

t.test('what ended exactly an hour ago counts as what it took', async (t) => {
  let now = 1000;
  const store = await storeFor(t, { now: () => now, elapsed: () => performance.now() });
  const reserve = (transactionId: string, value: bigint) =>
    store.write((writer) =>
      writer.reserveSpending({
        transactionId,
        pluginId: 'p',
        relayerId: 'r',
        value,
        fee: value,
        valueLimit: LIMIT,
        feeLimit: LIMIT,
      }),
    );
  await reserve('a', 90n);
  await store.write((writer) => writer.settleSpending([{ transactionId: 'a', value: 20n, fee: 30n }]));
  now += HOUR_MS;
  t.match(await reserve('b', 71n), { rule: 'fee_per_hour', remaining: 70n });
  t.equal(await reserve('b', 70n), undefined);
  t.strictSame(await store.read.spentLastHour('p', 'r'), { value: 90n, fee: 100n });
});

const amounts = fc.record({ value: fc.bigInt({ min: 0n, max: 60n }), fee: fc.bigInt({ min: 0n, max: 60n }) });
const share = fc.integer({ min: 0, max: 100 });

/**
 * One step of a run. `pick` chooses one of the open transactions; it takes the given percentage of what it reserved.
 */
const happening = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('ask' as const), asked: amounts }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('end' as const), pick: fc.nat(), valueTaken: share, feeTaken: share }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: HOUR_MS }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fold' as const), limit: fc.integer({ min: 1, max: 3 }) }) },
);

const sumOf = (all: readonly ActualSpend[]): ActualSpend => ({
  value: all.reduce((sum, { value }) => sum + value, 0n),
  fee: all.reduce((sum, { fee }) => sum + fee, 0n),
});
const isWithin = ({ value, fee }: ActualSpend) => value <= LIMIT && fee <= LIMIT;

t.test(
  'whatever happens in which order, no hour ever has more than the limits, and nothing is refused without need',
  async (t) => {
    let now = HOUR_MS;
    const store = await storeFor(t, { now: () => now, elapsed: () => performance.now() });
    let run = 0;
    const holds = async (course: (typeof happening extends fc.Arbitrary<infer T> ? T : never)[]) => {
      run += 1;
      const budget = { pluginId: `p${run}`, relayerId: 'r' };
      const open: ({ id: string } & ActualSpend)[] = [];
      const ended: ({ at: number } & ActualSpend)[] = [];
      let count = 0;
      const counted = () => [...open, ...ended.filter(({ at }) => at >= now - HOUR_MS)];
      for (const one of course) {
        if (one.do === 'wait') now += one.ms;
        if (one.do === 'fold') await store.write((writer) => writer.foldSpending(budget.pluginId, 'r', one.limit));
        if (one.do === 'ask') {
          const id = `${run}-${count++}`;
          const asked = { ...budget, transactionId: id, ...one.asked, valueLimit: LIMIT, feeLimit: LIMIT };
          const shortage = await store.write((writer) => writer.reserveSpending(asked));
          const { value, fee } = sumOf([...counted(), one.asked]);
          // A limit never refuses a request for 0.
          const fits = (one.asked.value === 0n || value <= LIMIT) && (one.asked.fee === 0n || fee <= LIMIT);
          if ((shortage === undefined) !== fits) return false;
          if (shortage === undefined) open.push({ id, ...one.asked });
        }
        if (one.do === 'end' && open.length > 0) {
          const [{ id, value, fee } = { id: '', value: 0n, fee: 0n }] = open.splice(one.pick % open.length, 1);
          const took = { value: (value * BigInt(one.valueTaken)) / 100n, fee: (fee * BigInt(one.feeTaken)) / 100n };
          await store.write((writer) => writer.settleSpending([{ transactionId: id, ...took }]));
          ended.push({ at: now, ...took });
        }
        const { value, fee } = await store.read.spentLastHour(budget.pluginId, 'r');
        const expected = sumOf(counted());
        if (value !== expected.value || fee !== expected.fee) return false;
        // What ended within any one hour must stay within the limits.
        const windows = ended.map(({ at }) => ended.filter((other) => other.at >= at && other.at <= at + HOUR_MS));
        if (!windows.map(sumOf).every(isWithin)) return false;
      }
      return true;
    };
    const course = fc.array(happening, { maxLength: 40 });
    await t.resolves(fc.assert(fc.asyncProperty(course, holds), { numRuns: runsOf(150) }));
  },
);
