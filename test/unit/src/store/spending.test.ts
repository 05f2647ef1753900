import fc from 'fast-check';
import t from 'tap';
import { HOUR_MS } from '../../../../src/domain/spending.ts';
import { storeFor } from '../../../support/store.ts';
import { spendingContract } from '../../../support/store-contract/spending.ts';

spendingContract(t, storeFor);

const LIMIT = 100n;

t.test('what ended counts for an hour by the clock of the store, what is under way for ever', async (t) => {
  let now = 1000;
  const store = await storeFor(t, { now: () => now, elapsed: () => performance.now() });
  const reserve = (transactionId: string, value: bigint) =>
    store.write((writer) =>
      writer.reserveSpending({
        ...{ transactionId, pluginId: 'p', relayerId: 'r', value, fee: 0n, valueLimit: LIMIT, feeLimit: null },
      }),
    );
  const settle = (transactionId: string, value: bigint) =>
    store.write((writer) => writer.settleSpending([{ transactionId, value, fee: 0n }]));
  await reserve('a', 60n);
  await reserve('b', 40n);
  now += 5 * HOUR_MS;
  t.match(await reserve('c', 1n), { remaining: 0n });
  await settle('a', 60n);
  now += HOUR_MS;
  t.match(await reserve('c', 1n), { remaining: 0n }, 'exactly an hour ago is within the hour');
  t.equal(await store.read.freeFrom({ pluginId: 'p', relayerId: 'r' }, 'value', 60n), now + 1);
  now += 1;
  t.strictSame(await store.read.spentLastHour('p', 'r'), { value: 40n, fee: 0n });
  t.equal(await reserve('c', 60n), undefined);
  t.strictSame(await store.read.budgeted(['a', 'b', 'c']), new Set(['b', 'c']), 'what is over is forgotten');
});

/** One thing that happens; `pick` chooses among the transactions that are under way. */
const happening = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('ask' as const), value: fc.bigInt({ min: 0n, max: 60n }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      pick: fc.nat(),
      took: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: HOUR_MS }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fold' as const), limit: fc.integer({ min: 1, max: 3 }) }) },
);

t.test(
  'whatever happens in which order, no hour ever has more than the limit, and nothing is refused without need',
  async (t) => {
    let now = HOUR_MS;
    const store = await storeFor(t, { now: () => now, elapsed: () => performance.now() });
    let run = 0;
    const holds = async (course: (typeof happening extends fc.Arbitrary<infer T> ? T : never)[]) => {
      run += 1;
      const budget = { pluginId: `p${run}`, relayerId: 'r' };
      const open: { id: string; value: bigint }[] = [];
      const ended: { at: number; value: bigint }[] = [];
      let count = 0;
      const counted = () =>
        [...open, ...ended.filter(({ at }) => at >= now - HOUR_MS)].reduce((sum, { value }) => sum + value, 0n);
      for (const one of course) {
        if (one.do === 'wait') now += one.ms;
        if (one.do === 'fold') await store.write((writer) => writer.foldSpending(budget.pluginId, 'r', one.limit));
        if (one.do === 'ask') {
          const id = `${run}-${count++}`;
          const shortage = await store.write((writer) =>
            writer.reserveSpending({
              ...budget,
              transactionId: id,
              value: one.value,
              fee: 0n,
              valueLimit: LIMIT,
              feeLimit: null,
            }),
          );
          const fits = one.value === 0n || counted() + one.value <= LIMIT;
          if ((shortage === undefined) !== fits) return false;
          if (shortage === undefined) open.push({ id, value: one.value });
        }
        if (one.do === 'end' && open.length > 0) {
          const [{ id, value } = { id: '', value: 0n }] = open.splice(one.pick % open.length, 1);
          const took = (value * BigInt(Math.round(one.took * 100))) / 100n;
          await store.write((writer) => writer.settleSpending([{ transactionId: id, value: took, fee: 0n }]));
          ended.push({ at: now, value: took });
        }
        if ((await store.read.spentLastHour(budget.pluginId, 'r')).value !== counted()) return false;
        // What ended within any one hour was on chain within it at the earliest.
        const windows = ended.map(({ at }) => ended.filter((other) => other.at >= at && other.at <= at + HOUR_MS));
        if (windows.some((window) => window.reduce((sum, { value }) => sum + value, 0n) > LIMIT)) return false;
      }
      return true;
    };
    await t.resolves(fc.assert(fc.asyncProperty(fc.array(happening, { maxLength: 40 }), holds), { numRuns: 150 }));
  },
);
