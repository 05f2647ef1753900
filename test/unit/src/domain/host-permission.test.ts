import t from 'tap';
import { canonicalHostname, hostPattern, hostPermissionSchema } from '../../../../src/domain/host-permission.ts';

t.test('a grant names a host as a URL would', (t) => {
  const name = (text: string) => hostPattern(text)?.name;
  t.strictSame(hostPattern('api.example.com'), { name: 'api.example.com', isWildcard: false, port: undefined });
  t.strictSame(hostPattern('*.Example.com:8443'), { name: 'example.com', isWildcard: true, port: 8443 });
  t.equal(name('API.example.com.'), 'api.example.com', 'case and the dot at the end say nothing');
  t.equal(name('bücher.example'), 'xn--bcher-kva.example');
  t.equal(name('0x7f.1:80'), '127.0.0.1', 'an address in any spelling is that address');
  t.equal(name('[::1]:3000'), '[::1]');
  t.equal(canonicalHostname(new URL('https://api.example.com./')), 'api.example.com');
  t.end();
});

t.test('what is no host is refused', (t) => {
  for (const text of [
    '',
    '*',
    '*.',
    'a.*.com',
    'https://api.example.com',
    'api.example.com/path',
    'user@api.example.com',
    'api.example.com:0',
    'api.example.com:70000',
    'a b',
    'a?b',
    'a#b',
    '*.127.0.0.1',
    '*.[::1]',
  ]) {
    t.equal(hostPattern(text), undefined, text);
  }
  t.end();
});

t.test('an entry is a name, or an object with its limits', (t) => {
  const plain = hostPermissionSchema.parse('api.example.com');
  t.strictSame(plain, { host: 'api.example.com', max_bytes: 1_048_576, timeout_ms: 10_000, private: false });
  const full = { host: 'localhost:3000', methods: ['GET'], max_bytes: 10, timeout_ms: 5, private: true };
  t.strictSame(hostPermissionSchema.parse(full), full);
  const message = (value: unknown) => hostPermissionSchema.safeParse(value).error?.issues[0]?.message;
  t.match(message('https://x'), /api\.example\.com/);
  t.match(message({ host: 'x', methods: [] }), /name at least one/);
  t.match(message({ host: '*.x.test', private: true }), /wildcard cannot open/);
  for (const more of [
    { methods: ['TRACE'] },
    { max_bytes: 0 },
    { max_bytes: 2 ** 30 },
    { timeout_ms: 0 },
    { other: 1 },
  ]) {
    t.not(message({ host: 'x', ...more }), undefined, JSON.stringify(more));
  }
  t.end();
});
