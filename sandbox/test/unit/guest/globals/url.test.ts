import t from 'tap';
import { fc, runsOf } from '../../../../../test/support/properties.ts';
import { parseQuery, QueryList, URLSearchParams } from '../../../../guest/globals/url-search-params.ts';
import { HostLink } from '../../../../guest/host-link.ts';
import { createUrlClass } from '../../../../guest/lazy/url.ts';
import { GuestHost } from '../../../support/guest-host.ts';

t.test('tells its URL of changes, and not of what the URL did', (t) => {
  const told: string[] = [];
  const list = new QueryList(parseQuery('?a=1'), (query) => told.push(query));
  list.replace([['b', 'x y']]);
  t.strictSame(told, ['b=x+y']);
  list.reload('?c=3&d');
  t.strictSame(list.pairs, [
    ['c', '3'],
    ['d', ''],
  ]);
  t.equal(told.length, 1);
  t.equal(String(list), 'c=3&d=');
  const alone = new QueryList(parseQuery('a=1'));
  alone.replace([]);
  t.equal(String(alone), '');
  t.end();
});

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

t.test('url', async (t) => {
  const URL = createUrlClass(new HostLink(new GuestHost().call));
  const PARTS = [
    'href',
    'origin',
    'protocol',
    'username',
    'password',
    'host',
    'hostname',
    'port',
    'pathname',
    'search',
    'hash',
  ] as const;

  t.test('reads and sets every part as the engine does', (t) => {
    const text = 'https://user:pass@例え.jp:8443/a/../b?q=1#frag';
    const ours = new URL(text);
    const native = new globalThis.URL(text);
    const same = (what: string) =>
      t.strictSame(
        PARTS.map((part) => ours[part]),
        PARTS.map((part) => native[part]),
        what,
      );
    same('as given');
    for (const part of PARTS) {
      if (part === 'origin' || part === 'href') continue;
      for (const value of ['x', '', '99', 'http', 'a b?#é']) {
        ours[part] = value;
        native[part] = value;
        same(`${part} = "${value}"`);
      }
    }
    ours.href = 'http://e.com/';
    t.equal(ours.href, 'http://e.com/');
    t.throws(() => {
      ours.href = 'nonsense';
    }, TypeError);
    t.equal(String(ours), 'http://e.com/');
    t.equal(JSON.stringify({ ours }), '{"ours":"http://e.com/"}');
    t.equal(Object.prototype.toString.call(ours), '[object URL]');
    t.equal(URL.name, 'URL');
    t.end();
  });

  t.test('parses against a base, or says that it cannot', (t) => {
    t.equal(new URL('../c', 'https://e.com/a/b/').href, 'https://e.com/a/c');
    t.equal(new URL('/c', new URL('https://e.com/a')).href, 'https://e.com/c');
    t.equal(URL.canParse('/c'), false);
    t.equal(URL.canParse('/c', 'https://e.com'), true);
    t.equal(URL.parse('/c'), null);
    t.equal(URL.parse('/c', 'https://e.com')?.href, 'https://e.com/c');
    t.throws(() => new URL('/c'), { name: 'TypeError', message: 'Invalid URL', code: 'ERR_INVALID_URL', input: '/c' });
    t.end();
  });

  t.test('the URL and its parameters follow each other', (t) => {
    const url = new URL('https://e.com/?a=1');
    const { searchParams } = url;
    t.equal(url.searchParams, searchParams);
    searchParams.append('b', 'x y');
    t.equal(url.href, 'https://e.com/?a=1&b=x+y');
    url.search = '?c=3';
    t.strictSame([...searchParams], [['c', '3']]);
    url.href = 'https://e.com/?d=4';
    t.equal(searchParams.get('d'), '4');
    searchParams.delete('d');
    t.equal(url.href, 'https://e.com/');
    t.end();
  });
});
