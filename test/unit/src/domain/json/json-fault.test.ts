import t from 'tap';
import { findJsonFault } from '../../../../../src/domain/json/json-fault.ts';
import { fc, runsOf } from '../../../../support/properties.ts';

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
