import t from 'tap';
import { HostLink } from '../../../../../../sandbox/guest/host-link.ts';
import { createUrlClass } from '../../../../../../sandbox/guest/lazy/url.ts';
import { GuestHost } from '../../../../../support/guest-host.ts';

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
