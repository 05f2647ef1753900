/** Threat: methods that are called on strangers, and lists that change while they are walked. */
import t from 'tap';
import { conformToWebIdl, makeIterable, readWebIdlRecord, tooFewArguments } from '../../../../guest/globals/web-idl.ts';

class Pairs {
  readonly #pairs: [string, number][] = [];

  static of(pairs: Pairs): readonly [string, number][] {
    return pairs.#pairs;
  }

  add(...[name, value]: [string, number]): void {
    this.#pairs.push([name, value]);
  }

  get size(): number {
    return this.#pairs.length;
  }
}
conformToWebIdl(Pairs, { required: { add: 2 } });
makeIterable(Pairs, (pairs) => Pairs.of(pairs));

type Listed = Pairs & {
  entries(): IterableIterator<[string, number]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<number>;
  forEach(callback: (value: number, name: string) => void): void;
  [Symbol.iterator](): IterableIterator<[string, number]>;
};

t.test('members are as those of the platform’s own classes', (t) => {
  const pairs = new Pairs() as Listed;
  t.equal(String(pairs), '[object Pairs]');
  const listed: string[] = [];
  for (const name in pairs) listed.push(name);
  t.strictSame(listed.sort(), ['add', 'entries', 'forEach', 'keys', 'size', 'values']);
  t.throws(() => (pairs.add as (name: string) => void)('a'), tooFewArguments('Pairs.add', 2));
  t.equal(pairs.add.length, 2);
  t.equal(pairs.size, 0);
  t.match(tooFewArguments('f', 1).message, 'f needs 1 argument');
  t.end();
});

t.test('iterators see what changes on the way', (t) => {
  const pairs = new Pairs() as Listed;
  pairs.add('a', 1);
  const seen: unknown[] = [];
  for (const pair of pairs) {
    seen.push(pair);
    if (seen.length === 1) pairs.add('b', 2);
  }
  const { forEach: each } = pairs;
  Reflect.apply(each, pairs, [(value: number, name: string) => seen.push(name, value)]);
  t.strictSame(seen, [['a', 1], ['b', 2], 'a', 1, 'b', 2]);
  t.strictSame(
    [[...pairs.keys()], [...pairs.values()]],
    [
      ['a', 'b'],
      [1, 2],
    ],
  );
  t.equal(Object.prototype.toString.call(pairs.keys()), '[object Pairs Iterator]');
  const { entries, forEach } = pairs;
  t.throws(() => Reflect.apply(entries, {}, []), TypeError);
  t.throws(() => Reflect.apply(forEach, pairs, [5]), TypeError);
  t.end();
});

t.test('records have own names only', (t) => {
  const record = Object.create({ inherited: 1 }, { hidden: { value: 1 }, own: { value: 2, enumerable: true } });
  t.strictSame(readWebIdlRecord(record as object), [['own', 2]]);
  t.throws(() => readWebIdlRecord({ [Symbol('s')]: 1 }), TypeError);
  t.end();
});
