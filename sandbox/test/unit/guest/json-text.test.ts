import t from 'tap';
import { fc, runsOf } from '../../../../test/support/properties.ts';
import { toJsonText } from '../../../guest/json-text.ts';

const LIMIT = 1_000_000;

const textOf = (value: unknown, limit = LIMIT): string => {
  const json = toJsonText(value, 'result', limit);
  return json.ok ? json.text : `${json.fault}: ${json.message}`;
};

t.test('writes what JSON.stringify writes', (t) => {
  const anything = fc.anything({
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withSparseArray: true,
    withBoxedValues: true,
    withNullPrototype: true,
  });
  fc.assert(
    fc.property(anything, (value) => {
      const expected = JSON.stringify(value);
      return expected === undefined || textOf(value) === expected;
    }),
    { numRuns: runsOf(500) },
  );
  const special = [
    [undefined, () => 1, Symbol('s'), null, Number.NaN, -0],
    { a: undefined, b: () => 1, [Symbol('s')]: 1, c: { d: undefined } },
    { toJSON: (key: string) => `key "${key}"` },
    { a: { toJSON: (key: string) => `key ${key}` }, b: [{ toJSON: (key: string) => `key ${key}` }] },
    { toJSON: () => undefined, a: 1 },
    [Object(1), Object('s'), Object(true)],
    Object.create({ inherited: 1 }, { own: { value: 1, enumerable: true }, hidden: { value: 2 } }),
    JSON.parse('{"__proto__":{"a":1}}'),
    'lone \ud800 surrogate',
    new Proxy([1, 2], {}),
    { big: { toJSON: () => 'x' } },
  ];
  for (const value of special) t.equal(textOf({ value }), JSON.stringify({ value }));
  t.equal(textOf(undefined), 'null');
  t.equal(textOf(null), 'null');
  t.end();
});

t.test('honours what JSON offers for numbers beyond floating point', (t) => {
  const raw = (JSON as unknown as { rawJSON(text: string): object }).rawJSON('123456789012345678901234567890');
  t.equal(textOf({ raw }), '{"raw":123456789012345678901234567890}');
  const withToJson = Object.defineProperty(Object(5n) as object, 'toJSON', { value: () => '5' });
  t.equal(textOf([withToJson]), '["5"]');
  t.end();
});

t.test('names the path of what has no text', (t) => {
  const cycle: Record<string, unknown> = { inner: { list: [] } };
  (cycle['inner'] as { list: unknown[] }).list.push(cycle);
  t.equal(
    textOf(() => 1),
    'shape: result is a function',
  );
  t.equal(textOf(Symbol('s')), 'shape: result is a symbol');
  t.equal(textOf(1n), 'shape: result is a BigInt');
  t.equal(textOf({ items: [0, { price: 1n }] }), 'shape: result.items[1].price is a BigInt');
  t.equal(textOf({ 'a b': { "it's": [Object(1n)] } }), `shape: result["a b"]["it's"][0] is a BigInt`);
  t.equal(textOf(cycle), 'shape: result.inner.list[0] refers back to result');
  const shared = { a: 1 };
  t.equal(textOf([shared, shared]), '[{"a":1},{"a":1}]', 'the same object twice is no cycle');
  t.end();
});

t.test('bounds depth, path and size', (t) => {
  let deep: unknown = 1;
  for (let level = 0; level < 3000; level++) deep = [deep];
  t.match(textOf(deep), /^shape: result….* is nested more than 2000 levels deep$/);
  t.ok(textOf(deep).length < 400);

  const nested = (levels: number) => Array.from({ length: levels }).reduce<unknown>((inner) => [inner], 1);
  t.equal(textOf(nested(2001)), JSON.stringify(nested(2001)), 'the outermost is at level 0');
  t.match(textOf(nested(2002)), /^shape: .* is nested more than 2000 levels deep$/);

  t.equal(textOf('x'.repeat(8), 10), '"xxxxxxxx"');
  t.equal(textOf('x'.repeat(9), 10), 'size: result is more than 10 bytes of JSON; the limit is 10 bytes');
  t.equal(
    textOf({ a: 'x'.repeat(50) }, 10),
    'size: result is at least 57 bytes of JSON, up to result.a; the limit is 10 bytes',
  );
  t.equal(textOf('€€€', 11), '"€€€"');
  t.equal(textOf('€€€', 10), 'size: result is 11 bytes of JSON; the limit is 10 bytes');
  t.equal(textOf('é😀', 8), '"é😀"');
  t.match(textOf('é😀', 7), /^size: result is 8 bytes/);
  t.match(
    textOf(
      Array.from({ length: 100 }, () => 1),
      50,
    ),
    /^size: result is more than 50 bytes/,
  );
  t.end();
});

t.test('passes on what the value itself throws', (t) => {
  const mine = new Error('mine');
  const thrower = () => {
    throw mine;
  };
  t.throws(() => textOf({ toJSON: thrower }), mine);
  t.throws(() => textOf(Object.defineProperty({}, 'a', { get: thrower, enumerable: true })), mine);
  t.throws(() => textOf(new Proxy({}, { ownKeys: thrower })), mine);
  t.end();
});
