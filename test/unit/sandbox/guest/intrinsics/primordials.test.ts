import t from 'tap';
import * as primordials from '../../../../../sandbox/guest/intrinsics/primordials.ts';

t.test('what was captured does not follow later changes', (t) => {
  const map = new primordials.SafeMap([['a', 1]]);
  const weak = new primordials.SafeWeakMap<object, number>();
  const key = {};
  weak.set(key, 2);
  // Put back before anything is asserted: the test's own tools use these as well.
  const { slice } = String.prototype;
  const { get } = Map.prototype;
  String.prototype.slice = () => 'poisoned';
  Map.prototype.get = () => 'poisoned';
  const seen = [primordials.stringSlice('abc', 1), map.get('a'), map.size, weak.get(key)];
  String.prototype.slice = slice;
  Map.prototype.get = get;
  t.strictSame(seen, ['bc', 1, 1, 2]);
  t.end();
});

t.test('quotes text and knows raw JSON', (t) => {
  t.equal(primordials.quote('a"\n\ud800'), '"a\\"\\n\\ud800"');
  t.equal(primordials.isRawJson({}), false);
  t.equal(primordials.isRawJson((JSON as unknown as { rawJSON(text: string): object }).rawJSON('1')), true);
  t.end();
});

t.test('the methods take their receiver first', async (t) => {
  t.equal(primordials.regExpExec(/b/, 'abc')?.index, 1);
  t.equal(primordials.isPrototypeOf(primordials.ErrorPrototype, new TypeError()), true);
  const seen: unknown[] = [];
  primordials.mapForEach(new Map([[1, 2]]), (value, key) => seen.push([key, value]));
  primordials.setForEach(new Set([3]), (value) => seen.push(value));
  t.strictSame(seen, [[1, 2], 3]);
  t.equal(await new Promise((resolve) => primordials.promiseThen(Promise.resolve(4), resolve)), 4);
});
