import t from 'tap';
import { fc, runsOf } from '../../../../../test/support/properties.ts';
import { meterThread } from '../../../../../test/support/thread-time.ts';
import { isJson } from '../../../../host/child/json-check.ts';

/** Whether a text is what JSON.stringify writes, or at least JSON without blanks. */
function oracle(text: string): boolean {
  try {
    JSON.parse(text);
  } catch {
    return false;
  }
  return text.isWellFormed() && !/[ \t\n\r]/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '""'));
}

t.test('every text that JSON.stringify writes is JSON', (t) => {
  const found = fc.check(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => isJson(JSON.stringify(value))),
    { numRuns: runsOf(2000) },
  );
  t.equal(found.counterexample, null);
  t.end();
});

t.test('agrees with JSON.parse on texts that are nearly JSON', (t) => {
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '"a"',
    '"\\n"',
    '\\',
    '\\u12',
    '0',
    '-',
    '1',
    '.5',
    'e9',
    'true',
    'null',
    ' ',
    '\n',
    '\0',
    '\ud800',
    'ü',
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
      const text = parts.join('');
      return isJson(text) === oracle(text);
    }),
    { numRuns: runsOf(20_000) },
  );
  const edges = [
    '',
    '""',
    '"',
    '"\\"',
    '"\\u00e4"',
    '"\\u00g4"',
    '"\\x"',
    '01',
    '-',
    '-0',
    '1.',
    '.1',
    '1e',
    '1e+5',
    'tru',
    'truex',
    'NaN',
    '[]',
    '[',
    '[1,]',
    '[,1]',
    '{}',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{"a":1',
    '{a:1}',
    '{"a":{"b":[[],{}]}}',
    '[1]]',
    '[1}',
    '{"a":1]',
    '"a"b',
    '"\t"',
    '"\u2028"',
    '"\ud800"',
    '1 ',
    ' 1',
    '[1, 2]',
  ];
  for (const [index, text] of edges.entries()) t.equal(isJson(text), oracle(text), `text ${index}`);
  t.end();
});

t.test('depth and size cost little', (t) => {
  t.equal(isJson(`${'['.repeat(4096)}1${']'.repeat(4096)}`), true);
  t.equal(isJson(`${'['.repeat(4097)}1${']'.repeat(4097)}`), false);
  t.equal(isJson('['.repeat(1_000_000)), false);
  const spent = meterThread();
  t.equal(isJson(`[${'[],'.repeat(330_000)}0]`), true);
  t.equal(isJson(`"${'\\u0000'.repeat(160_000)}"`), true);
  t.ok(spent() < 1000, `${spent()} ms`);
  t.end();
});
