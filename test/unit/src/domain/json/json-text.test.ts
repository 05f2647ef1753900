import t from 'tap';
import {
  JsonTextError,
  MAX_JSON_DEPTH,
  parseJson,
  readBack,
  writeJson,
} from '../../../../../src/domain/json/json-text.ts';

t.test('integers beyond 2^53 keep all their digits as text', (t) => {
  const text =
    '{"a":9007199254740993,"b":[-115792089237316195423570985008687907853269984665640564039457584007913129639936]}';
  t.strictSame(parseJson(text, 'exact'), {
    a: '9007199254740993',
    b: ['-115792089237316195423570985008687907853269984665640564039457584007913129639936'],
  });
  t.strictSame(
    parseJson('[9007199254740991,-9007199254740991,1e3,0.5,12.50]', 'exact'),
    [9007199254740991, -9007199254740991, 1000, 0.5, 12.5],
  );
  t.end();
});

t.test('plain reading is what JSON.parse does', (t) => {
  t.strictSame(parseJson('[9007199254740993, 12345678901234567890]', 'plain'), [
    9007199254740992,
    Number('12345678901234567890'),
  ]);
  t.end();
});

t.test('what could reach a prototype is refused, with escapes too', (t) => {
  const refused = ['{"__proto__":{"a":1}}', '[{"\\u005f_proto__":1}]', '{"constructor":{"prototype":{}}}'];
  for (const text of refused) t.throws(() => parseJson(text, 'exact'), JsonTextError, text);
  t.strictSame(parseJson('{"constructor":"a word"}', 'exact'), { constructor: 'a word' });
  t.equal(({} as Record<string, unknown>)['a'], undefined);
  t.end();
});

t.test('a number that no double holds is refused', (t) => {
  t.throws(() => parseJson('{"a":1e999}', 'exact'), { message: 'a number is too large' });
  t.throws(() => parseJson(`[${'9'.repeat(400)}]`, 'plain'), { message: 'a number is too large' });
  t.equal((parseJson(`["${'9'.repeat(400)}"]`, 'plain') as string[])[0]?.length, 400);
  t.end();
});

t.test('depth is bounded, and brackets in strings do not count', (t) => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  t.ok(parseJson(nested(MAX_JSON_DEPTH), 'exact'));
  t.throws(() => parseJson(nested(MAX_JSON_DEPTH + 1), 'exact'), { message: /nested deeper than 128/ });
  t.throws(() => parseJson('[{"a":'.repeat(100_000), 'exact'), { message: /nested deeper/ });
  t.equal(parseJson(JSON.stringify(`"\\${'['.repeat(500)}`), 'exact'), `"\\${'['.repeat(500)}`);
  t.end();
});

t.test('the number of values is bounded before any of them is made', (t) => {
  t.strictSame(parseJson('{"a":[1,2],"b":"x"}', 'exact', 5), { a: [1, 2], b: 'x' });
  t.throws(() => parseJson('{"a":[1,2],"b":"x"}', 'exact', 4), {
    name: 'JsonTextError',
    message: 'more than 4 values',
  });
  t.throws(() => parseJson('[1,2,', 'plain', 2), { message: 'more than 2 values' });
  t.end();
});

t.test('a fault names its place and quotes nothing', (t) => {
  t.throws(() => parseJson('{"key":"hunter2",}', 'exact'), {
    name: 'JsonTextError',
    message: 'expected a key in double quotes at line 1 column 18',
  });
  t.end();
});

t.test('big integers are written as numbers with all digits', (t) => {
  t.equal(writeJson({ a: 1n, b: [2n ** 256n], c: null, d: undefined }), `{"a":1,"b":[${2n ** 256n}],"c":null}`);
  t.equal(writeJson({ a: 'text', b: [1.5, true] }), '{"a":"text","b":[1.5,true]}');
  t.equal(writeJson(-9007199254740993n), '-9007199254740993');
  t.end();
});

t.test('what was written is read back as it was', (t) => {
  const value = { big: 2n ** 70n, small: 1, text: '1e5', list: [-(2n ** 64n), 1.5, null] };
  t.strictSame(readBack(writeJson(value)), value);
  t.end();
});
