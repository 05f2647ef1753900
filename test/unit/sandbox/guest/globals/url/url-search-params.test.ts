import t from 'tap';
import { QueryList } from '../../../../../../sandbox/guest/globals/url/query-list.ts';
import { URLSearchParams } from '../../../../../../sandbox/guest/globals/url/url-search-params.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';

t.test('any series of changes gives what the engine gives', (t) => {
  const name = fc.constantFrom('a', 'b', 'é', '');
  const change = fc.tuple(
    fc.constantFrom('append', 'set', 'delete', 'deleteValue', 'sort'),
    name,
    fc.constantFrom('1', '2', 'x y'),
  );
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const both = [new URLSearchParams('?b=1&a=2&a=3'), new globalThis.URLSearchParams('?b=1&a=2&a=3')];
      for (const params of both) {
        for (const [kind, key, value] of changes) {
          if (kind === 'append') params.append(key, value);
          else if (kind === 'set') params.set(key, value);
          else if (kind === 'delete') params.delete(key);
          else if (kind === 'deleteValue') params.delete(key, value);
          else params.sort();
        }
      }
      const [ours, native] = both.map((params) =>
        JSON.stringify([
          String(params),
          params.size,
          [...params],
          [...params.keys()],
          [...params.values()],
          [...params.entries()],
          params.get('a'),
          params.getAll('a'),
          params.has('a'),
          params.has('a', '2'),
        ]),
      );
      return ours === native;
    }),
    { numRuns: runsOf(300) },
  );
  t.pass('agreed');
  t.end();
});

t.test('can be made from text, pairs, records and its like', (t) => {
  const made = (init?: unknown) => String(new URLSearchParams(init));
  t.equal(made(), '');
  t.equal(made('?a=1&b=2'), 'a=1&b=2');
  t.equal(made([['a', 1], new Set(['b', 2])]), 'a=1&b=2');
  t.equal(made(new Map([['a', '1']])), 'a=1');
  t.equal(made({ a: 1, b: 'x y' }), 'a=1&b=x+y');
  t.equal(made(new URLSearchParams('a=1')), 'a=1');
  t.equal(made(new QueryList([['a', '1']])), 'a=1');
  t.equal(made('lone=\ud800'), 'lone=%EF%BF%BD');
  t.throws(() => made([['a']]), TypeError);
  t.throws(() => made([1]), TypeError);
  t.end();
});

t.test('walks', (t) => {
  const params = new URLSearchParams('a=1&b=2');
  const seen: unknown[] = [];
  const visit = function (this: unknown, value: string, name: string, all: unknown) {
    seen.push([name, value, all === params, this]);
  };
  // oxlint-disable-next-line unicorn/no-array-for-each -- it is what is tested
  params.forEach(visit, 'self');
  t.strictSame(seen, [
    ['a', '1', true, 'self'],
    ['b', '2', true, 'self'],
  ]);
  t.equal(Object.prototype.toString.call(params), '[object URLSearchParams]');
  t.equal(params.get('absent'), null);
  t.end();
});
