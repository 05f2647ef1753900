import t from 'tap';
import {
  findJsonFault,
  JsonTextError,
  MAX_JSON_DEPTH,
  measureJson,
  parseJson,
  parseWrittenJson,
  writeJson,
} from '../../../../../src/domain/json/json-text.ts';
import { fc, runsOf } from '../../../../support/properties.ts';

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
  t.strictSame(parseWrittenJson(writeJson(value)), value);
  t.end();
});

t.test('json survey', async (t) => {
  const ANY = Number.POSITIVE_INFINITY;
  const survey = (text: string) => measureJson(text, ANY, ANY);

  /** The depth and the number of values that a recursive walk finds. */
  function walked(value: unknown): { depth: number; values: number } {
    if (typeof value !== 'object' || value === null) return { depth: 0, values: 1 };
    const inside = Object.values(value).map(walked);
    const depth = 1 + Math.max(0, ...inside.map((one) => one.depth));
    return { depth, values: inside.reduce((sum, { values }) => sum + values, 1) };
  }

  t.test('it finds what a walk over the value finds, however the text is written', async (t) => {
    const property = fc.property(fc.json(), fc.nat(3), (text, indent) => {
      const value = JSON.parse(text) as unknown;
      const found = survey(JSON.stringify(value, null, indent));
      const { depth, values } = walked(value);
      return found.depth === depth && found.values === values;
    });
    t.doesNotThrow(() => fc.assert(property, { numRuns: runsOf(300) }));
  });

  t.test('texts are passed over, whatever is in them', async (t) => {
    t.match(survey(String.raw`["[{,:1\"", "\\", {"\\\"a": "1234567890123456"}]`), { depth: 2, values: 5 });
    t.equal(survey('"1234567890123456"').hasLongInteger, false);
    t.match(survey('"never closed'), { values: 1 });
  });

  t.test('a long integer is found outside of texts', async (t) => {
    for (const text of ['1234567890123456', '[-9007199254740993]', '{"a":12345678901234567890}']) {
      t.equal(survey(text).hasLongInteger, true, text);
    }
    for (const text of ['123456789012345', '[12345678,12345678]', '{"12345678901234567890":1}']) {
      t.equal(survey(text).hasLongInteger, false, text);
    }
  });

  t.test('it stops where a bound is exceeded', async (t) => {
    t.match(measureJson('['.repeat(1_000), 10, ANY), { depth: 11 });
    t.ok(measureJson('[1,1,1,1,1,1,1,1,1,1]', ANY, 3).values > 3);
    t.equal(measureJson('{"a":1,"b":2}', ANY, 3).values, 3, 'keys are no values');
  });
});

t.test('json fault', async (t) => {
  t.test('each kind of fault is named at its place', (t) => {
    const faults: [text: string, fault: string][] = [
      ['', 'the text ends, expected a value at line 1 column 1'],
      ['{"a": abc}', 'expected a value at line 1 column 7'],
      ['{"a":1', 'the text ends, expected "," or "}" at line 1 column 7'],
      ['{"a" 1}', 'expected ":" at line 1 column 6'],
      ['{a:1}', 'expected a key in double quotes or "}" at line 1 column 2'],
      ['{"a":1,}', 'expected a key in double quotes at line 1 column 8'],
      ['[1 2]', 'expected "," or "]" at line 1 column 4'],
      ['[,]', 'expected a value or "]" at line 1 column 2'],
      ['[1,]', 'expected a value at line 1 column 4'],
      ['{"a":[{}]}}', 'expected nothing more at line 1 column 11'],
      ['{"a": "b', 'the string is not closed or holds what must be escaped at line 1 column 7'],
      ['"a\nb"', 'the string is not closed or holds what must be escaped at line 1 column 1'],
      ['{\n  "a": 01\n}', 'expected a value at line 2 column 8'],
      ['[\r\n\t+1]', 'expected a value or "]" at line 2 column 2'],
      ['\u00a0{}', 'expected a value at line 1 column 1'],
      ["{'a':1}", 'expected a key in double quotes or "}" at line 1 column 2'],
      ['// comment\n{}', 'expected a value at line 1 column 1'],
    ];
    for (const [text, fault] of faults) t.equal(findJsonFault(text), fault, JSON.stringify(text));
    t.end();
  });

  t.test('any damaged JSON gets a place inside of it, and never more than a line of words', (t) => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.string({ maxLength: 3 }), (json, at, noise) => {
        const cut = at % (json.length + 1);
        const text = json.slice(0, cut) + noise + json.slice(cut + 1);
        if (isJson(text)) return;
        const [, line, column] = /at line (\d+) column (\d+)$/.exec(findJsonFault(text)) ?? [];
        const lines = text.split('\n');
        const width = lines[Number(line) - 1]?.length;
        t.ok(width !== undefined && Number(column) >= 1 && Number(column) <= width + 1, JSON.stringify(text));
      }),
      { numRuns: runsOf(300) },
    );
    t.end();
  });

  function isJson(text: string): boolean {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  }
});
