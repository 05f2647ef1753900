import t from 'tap';
import { literalLength, matchesPattern } from '../../../../sandbox/guest/kv.ts';
import { fc, runsOf } from '../../../support/properties.ts';
import { meterThread } from '../../../support/thread-time.ts';

t.test('patterns mean what they mean in Redis', (t) => {
  const cases: [pattern: string, matching: string[], others: string[]][] = [
    ['*', ['', 'a', 'a:b'], []],
    ['', [''], ['a']],
    ['a', ['a'], ['', 'b', 'aa']],
    ['a*', ['a', 'ab', 'a:b'], ['', 'ba']],
    ['*a', ['a', 'ba', 'aa'], ['ab']],
    ['a*b*c', ['abc', 'aXbYc', 'abbcc'], ['ab', 'acb']],
    ['**a**', ['a', 'bab'], ['b']],
    ['?', ['a'], ['', 'ab']],
    ['a?c', ['abc'], ['ac', 'abbc']],
    ['[abc]x', ['ax', 'cx'], ['dx', 'x']],
    ['[a-c]', ['a', 'b', 'c'], ['d']],
    ['[c-a]', ['a', 'b', 'c'], ['d']],
    ['[^a-c]', ['d', 'Z'], ['a', '']],
    ['[^a]*', ['b', 'ba'], ['a', 'ab', '']],
    ['[a\\-c]', ['a', '-', 'c'], ['b']],
    ['[\\]]', [']'], ['\\']],
    ['[]', [], ['', 'a']],
    ['[^]', ['a'], ['']],
    ['[ab', ['a', 'b'], ['c', 'ab']],
    ['a[', [], ['a', 'a[']],
    ['\\*', ['*'], ['a', '']],
    ['\\a', ['a'], ['\\a']],
    ['a\\', ['a\\'], ['a']],
    ['*[0-9]', ['a1', '1'], ['1a']],
  ];
  for (const [pattern, matching, others] of cases) {
    for (const key of matching) t.ok(matchesPattern(key, pattern), `${pattern} matches ${key}`);
    for (const key of others) t.notOk(matchesPattern(key, pattern), `${pattern} does not match ${key}`);
  }
  t.end();
});

t.test('stars and question marks agree with a regular expression', (t) => {
  const few = (letters: string) => fc.string({ unit: fc.constantFrom(...letters), maxLength: 8 });
  const found = fc.check(
    fc.property(few('ab:'), few('ab:*?'), (key, pattern) => {
      const oracle = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`);
      return matchesPattern(key, pattern) === oracle.test(key);
    }),
    { numRuns: runsOf(2000) },
  );
  t.equal(found.counterexample, null);
  t.end();
});

t.test('no pattern takes more steps than key times pattern', (t) => {
  const key = 'a'.repeat(512);
  const bombs = [`${'*a'.repeat(511)}b`, `*${'a'.repeat(500)}b`, `${'[a-'.repeat(340)}b`, '*?'.repeat(512)];
  const spent = meterThread();
  for (const bomb of bombs) t.equal(matchesPattern(key, bomb), bomb.startsWith('*?'), bomb.slice(0, 8));
  t.ok(spent() < 1000, `${spent()} ms`);
  t.end();
});

t.test('a pattern’s literal beginning ends at its first special character', (t) => {
  t.equal(literalLength('abc'), 3);
  for (const special of ['*', '?', '[', '\\']) t.equal(literalLength(`ab${special}c`), 2);
  t.equal(literalLength(''), 0);
  t.end();
});
