import t from 'tap';
import { canonicalJson, isObject, memoizePerObject } from '../../../../../src/domain/json/json.ts';
import { fc, runsOf } from '../../../../support/properties.ts';

t.test('what has keys is an object, lists and null have none', (t) => {
  for (const value of [{}, { a: 1 }, Object.create(null), new Date(0)]) t.ok(isObject(value));
  for (const value of [null, undefined, [], [{}], 'text', 1, true, () => {}]) t.notOk(isObject(value));
  t.end();
});

t.test('one text for all spellings of a value', (t) => {
  const spelt = (text: string) => canonicalJson(JSON.parse(text));
  t.equal(spelt('{ "b": [1, {"d":null,"c":"x"}], "a": 1e0 }'), '{"a":1,"b":[1,{"c":"x","d":null}]}');
  t.equal(spelt('{"10":1,"9":2}'), '{"10":1,"9":2}', 'keys that look like numbers are texts');
  t.equal(spelt('{"__proto__":1}'), '{"__proto__":1}');
  t.not(spelt('[1,2]'), spelt('[2,1]'));
  t.not(spelt('"1"'), spelt('1'));
  t.equal(canonicalJson({ a: undefined, b: 2n ** 70n }), `{"b":${2n ** 70n}}`);
  t.equal(canonicalJson(undefined), 'null');
  t.end();
});

t.test('it means what it was made from', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      t.equal(canonicalJson(JSON.parse(canonicalJson(value))), canonicalJson(value));
      return JSON.stringify(JSON.parse(canonicalJson(value))).length === text.length;
    }),
    { numRuns: runsOf(200) },
  );
  t.end();
});

t.test('an object is read once, an equal one by itself, and a failure each time', async (t) => {
  let reads = 0;
  const read = memoizePerObject((from: { value?: number }) => {
    reads += 1;
    if (from.value === undefined) throw new Error('nothing there');
    return from.value === 0 ? undefined : [from.value];
  });
  const one = { value: 1 };
  const result = read(one);
  t.same(result, [1]);
  t.equal(read(one), result);
  t.not(read({ value: 1 }), result);
  t.equal(reads, 2);
  const nothing = { value: 0 };
  t.equal(read(nothing), undefined);
  t.equal(read(nothing), undefined);
  t.equal(reads, 3);
  const bad = {};
  for (let time = 0; time < 2; time += 1) t.throws(() => read(bad), { message: 'nothing there' });
  t.equal(reads, 5);
  const made = {};
  read.know(made, [7]);
  t.strictSame(read(made), [7], 'whoever made it gave its result');
  t.equal(reads, 5);
});
