import t from 'tap';
import { BuildPlaces } from '../../../../../src/plugin-host/catalog/build-places.ts';

/** Work that ends when the test says so. */
function work(begun: string[], name: string) {
  const end = Promise.withResolvers<void>();
  const run = () => {
    begun.push(name);
    return end.promise;
  };
  return { run, end };
}

t.test('only so much is done at once, in the order in which it came', async (t) => {
  const places = new BuildPlaces(2, 60_000);
  const begun: string[] = [];
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => work(begun, name));
  if (a === undefined || b === undefined || c === undefined || d === undefined) return t.fail('no work');
  const ends = [a, b, c, d].map(({ run }) => places.take(run));
  t.strictSame(begun, ['a', 'b']);
  b.end.resolve();
  t.equal(await ends[1], undefined);
  await Promise.resolve();
  t.strictSame(begun, ['a', 'b', 'c']);
  c.end.reject(new Error('no'));
  await t.rejects(Promise.all(ends.slice(2, 3)), { message: 'no' });
  await Promise.resolve();
  t.strictSame(begun, ['a', 'b', 'c', 'd'], 'what fails gives its place back as well');
  for (const { end } of [a, d]) end.resolve();
  await Promise.all([ends[0], ends[3]]);
  await places.take(async () => void begun.push('e'));
  t.strictSame(begun, ['a', 'b', 'c', 'd', 'e']);
});

t.test('what takes long gives up its place and goes on', async (t) => {
  const places = new BuildPlaces(1, 20);
  const begun: string[] = [];
  const slow = work(begun, 'slow');
  const taken = places.take(slow.run);
  const quick = places.take(async () => void begun.push('quick'));
  const left = await taken;
  await quick;
  t.strictSame(begun, ['slow', 'quick']);
  slow.end.resolve();
  t.equal(await left?.rest, undefined);
  await t.rejects(
    places.take(() => {
      throw new Error('not even begun');
    }),
    { message: 'not even begun' },
  );
  await places.take(async () => void begun.push('last'));
  t.strictSame(begun, ['slow', 'quick', 'last'], 'its place was given away once');
});
