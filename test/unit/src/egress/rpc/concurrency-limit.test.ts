import t from 'tap';
import { createConcurrencyLimit, type Visit } from '../../../../../src/egress/rpc/concurrency-limit.ts';

const SETTINGS = { start: 4, most: 16, visits: 64 };
const one = () => 1;
const all = (free: number) => free;

async function enter(
  limit: ReturnType<typeof createConcurrencyLimit>,
  take: (free: number) => number = one,
): Promise<Visit> {
  const visit = await limit.enter(take, 5_000);
  if (visit === undefined) throw new Error('no room');
  return visit;
}

t.test('no more are inside than the limit, and those who wait enter in the order in which they came', async (t) => {
  const limit = createConcurrencyLimit(SETTINGS);
  const inside = await Promise.all([1, 2, 3, 4].map(() => enter(limit)));
  const entered: string[] = [];
  const later = ['a', 'b'].map(async (name) => {
    const visit = await enter(limit);
    entered.push(name);
    return visit;
  });
  await new Promise((resolve) => setImmediate(resolve));
  t.same(entered, []);
  inside[0]?.leave('other');
  await later[0];
  t.same(entered, ['a']);
  inside[1]?.leave('other');
  await later[1];
  t.same(entered, ['a', 'b']);
});

t.test('a visit takes what it wants of what is free, and gives back as much, once', async (t) => {
  const limit = createConcurrencyLimit(SETTINGS);
  const first = await enter(limit, () => 3);
  t.equal(first.places, 3);
  const second = await enter(limit, () => 99);
  t.equal(second.places, 1);
  const third = enter(limit, all);
  first.leave('other');
  first.leave('other');
  t.equal((await third).places, 3, 'not six');
});

t.test('who finds no room in time leaves, and does not hold up the next', async (t) => {
  const limit = createConcurrencyLimit({ ...SETTINGS, start: 1 });
  const inside = await enter(limit);
  const impatient = limit.enter(one, 1);
  const patient = enter(limit);
  t.equal(await impatient, undefined);
  inside.leave('other');
  t.equal((await patient).places, 1);
});

t.test('it doubles with each round that is answered, until the first overload; then it grows by one', async (t) => {
  const limit = createConcurrencyLimit(SETTINGS);
  (await enter(limit, all)).leave('served');
  t.equal(limit.places, 8);
  (await enter(limit, all)).leave('served');
  t.equal(limit.places, 16);
  (await enter(limit, all)).leave('served');
  t.equal(limit.places, 16, 'there is a most');
  (await enter(limit, all)).leave('overloaded');
  t.equal(limit.places, 8);
  (await enter(limit, all)).leave('served');
  t.equal(limit.places, 9);
});

t.test('one overload that many meet halves it once, and it never falls below one', async (t) => {
  const limit = createConcurrencyLimit(SETTINGS);
  const together = await Promise.all([1, 2, 3, 4].map(() => enter(limit)));
  for (const visit of together) visit.leave('overloaded');
  t.equal(limit.places, 2);
  for (let round = 0; round < 5; round += 1) (await enter(limit)).leave('overloaded');
  t.equal(limit.places, 1);
  t.equal((await enter(limit)).places, 1);
});

t.test('what is not used does not grow, and what says nothing of the limit leaves it', async (t) => {
  const limit = createConcurrencyLimit(SETTINGS);
  for (let round = 0; round < 10; round += 1) (await enter(limit)).leave('served');
  t.equal(limit.places, 4);
  (await enter(limit, all)).leave('other');
  t.equal(limit.places, 4);
});

t.test('so many visits at once, however few places they take', async (t) => {
  const limit = createConcurrencyLimit({ ...SETTINGS, visits: 2 });
  const first = await enter(limit);
  await enter(limit);
  t.equal(await limit.enter(one, 1), undefined);
  first.leave('other');
  t.equal((await enter(limit, all)).places, 3);
});
