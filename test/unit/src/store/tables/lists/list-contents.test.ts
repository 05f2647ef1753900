import t from 'tap';
import { ListContents, type LongList, type Place } from '../../../../../../src/store/tables/lists/list-contents.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';

/** A list in memory that records how many entries each query passed over. */
class Entries implements LongList {
  readonly name = 'entries';
  readonly looks: number[] = [];
  readonly isLasting: boolean;
  #places: Place[];

  constructor(count: number, isLasting = true) {
    this.isLasting = isLasting;
    this.#places = Array.from({ length: count }, (_, index) => ({ created_at: count - index, id: `id-${index}` }));
  }

  add(count: number): void {
    const highest = this.#places[0]?.created_at ?? 0;
    for (let one = 1; one <= count; one += 1) this.#places.unshift({ created_at: highest + one, id: `new-${one}` });
  }

  dropOldest(count: number): void {
    this.#places = this.#places.slice(0, -count);
  }

  #after(place: Place | undefined): Place[] {
    return place === undefined ? this.#places : this.#places.filter((one) => one.created_at < place.created_at);
  }

  async place(after: Place | undefined, count: number) {
    this.looks.push(count);
    return this.#after(after)[count - 1];
  }

  async countAfter(after: Place | undefined, most: number) {
    this.looks.push(most);
    return Math.min(most, this.#after(after).length);
  }

  async countBefore(before: Place, most: number) {
    this.looks.push(most);
    return Math.min(most, this.#places.filter((one) => one.created_at > before.created_at).length);
  }

  /** The id of the entry that a starting point leads to. */
  entryAt({ after, skip }: { after: Place | undefined; skip: number }): string | undefined {
    return this.#after(after)[skip]?.id;
  }

  idAt(offset: number): string | undefined {
    return this.#places[offset]?.id;
  }

  get size(): number {
    return this.#places.length;
  }
}

t.test('every entry is found where it is, and no look is longer than some strides', async (t) => {
  const property = fc.asyncProperty(
    fc.nat(60),
    fc.nat(70),
    fc.nat(40),
    fc.boolean(),
    async (count, offset, added, lasting) => {
      const entries = new Entries(count, lasting);
      const contents = new ListContents({ stride: 3 });
      await contents.open(entries, 0);
      entries.add(added);
      const opening = await contents.open(entries, offset);
      const isShort = entries.looks.every((look) => look <= 31);
      return isShort && opening.total === entries.size && entries.entryAt(opening) === entries.idAt(offset);
    },
  );
  await t.resolves(fc.assert(property, { numRuns: runsOf(500) }));
});

t.test('beyond one stride the table of contents serves for a minute', async (t) => {
  let now = 0;
  const entries = new Entries(1_000);
  const contents = new ListContents({ stride: 10, elapsed: () => now });
  const looksFor = async (offset: number) => {
    const before = entries.looks.length;
    const opening = await contents.open(entries, offset);
    return { total: opening.total, entry: entries.entryAt(opening), looks: entries.looks.length - before };
  };
  t.ok((await looksFor(0)).looks > 100, 'made at the first need');
  t.same(await looksFor(777), { total: 1_000, entry: entries.idAt(777), looks: 1 });
  t.same(await looksFor(5_000), { total: 1_000, entry: undefined, looks: 1 }, 'behind the end');
  entries.dropOldest(100);
  t.equal((await looksFor(0)).total, 1_000, 'what went is counted until it is made anew');
  now = 60_001;
  t.equal((await looksFor(0)).total, 900);
  entries.add(101);
  const { total, looks } = await looksFor(0);
  t.equal(total, 1_001);
  t.ok(looks > 100, 'and so it is when much is new');
});

t.test('a list that empties fast is counted before its table of contents is believed', async (t) => {
  const entries = new Entries(1_000, false);
  const contents = new ListContents({ stride: 10 });
  t.equal((await contents.open(entries, 0)).total, 1_000);
  entries.dropOldest(900);
  t.equal((await contents.open(entries, 0)).total, 100);
});

t.test('those who ask at once wait for one, and a failure is nobody else’s', async (t) => {
  const entries = new Entries(100);
  const contents = new ListContents({ stride: 10 });
  const all = await Promise.all([contents.open(entries, 0), contents.open(entries, 50)]);
  t.same(
    all.map(({ total }) => total),
    [100, 100],
  );
  t.ok(entries.looks.length < 20, 'made once');

  const failing = new Entries(100);
  const place = failing.place.bind(failing);
  failing.place = async () => {
    throw new Error('the store is away');
  };
  const fresh = new ListContents({ stride: 10 });
  await t.rejects(fresh.open(failing, 0), { message: 'the store is away' });
  failing.place = place;
  t.equal((await fresh.open(failing, 0)).total, 100);
});
