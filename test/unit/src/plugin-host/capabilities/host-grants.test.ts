import t from 'tap';
import { hostPermissionSchema } from '../../../../../src/domain/host-permission.ts';
import { hostGrantsOf } from '../../../../../src/plugin-host/capabilities/host-grants.ts';

const grants = (...hosts: unknown[]) =>
  hostGrantsOf(
    'p',
    hosts.map((host) => hostPermissionSchema.parse(host)),
  );
const allows = (hosts: unknown[], url: string, method = 'GET') =>
  typeof grants(...hosts).rule(new URL(url), method) !== 'string';

t.test('a host is granted on the ports of its schemes, or on the one that is named', (t) => {
  t.ok(allows(['a.test'], 'https://a.test/x'));
  t.ok(allows(['a.test'], 'http://A.TEST./x'));
  t.notOk(allows(['a.test'], 'https://a.test:8443/'));
  t.notOk(allows(['a.test'], 'https://b.a.test/'));
  t.notOk(allows(['a.test'], 'https://a.test.evil.test/'));
  t.notOk(allows(['a.test'], 'https://evil-a.test/'));
  t.ok(allows(['a.test:8443'], 'http://a.test:8443/'));
  t.ok(allows(['a.test:443'], 'https://a.test/'));
  t.notOk(allows(['a.test:443'], 'http://a.test/'));
  t.end();
});

t.test('a wildcard covers what is below the name', (t) => {
  t.ok(allows(['*.a.test'], 'https://b.a.test/'));
  t.ok(allows(['*.a.test'], 'https://c.b.a.test/'));
  t.notOk(allows(['*.a.test'], 'https://a.test/'));
  t.notOk(allows(['*.a.test'], 'https://ba.test/'));
  t.end();
});

t.test('the first entry that permits the method gives its limits', (t) => {
  const rule = grants(
    { host: 'a.test', methods: ['GET'], max_bytes: 7 },
    { host: '*.test', timeout_ms: 9, max_bytes: 8 },
  );
  t.strictSame(rule.rule(new URL('http://a.test/'), 'GET'), { maxBytes: 7, timeoutMs: 10_000, isPrivate: false });
  t.match(rule.rule(new URL('http://a.test/'), 'POST'), { maxBytes: 8, timeoutMs: 9 });
  t.end();
});

t.test('a refusal names the line to add', (t) => {
  const ask = (hosts: unknown[] | undefined, url: string, method = 'GET') =>
    (hosts === undefined ? hostGrantsOf('p', undefined) : grants(...hosts)).rule(new URL(url), method);
  t.equal(
    ask([], 'https://a.test:8443/x'),
    'Plugin p has no grant for requests to a.test:8443: add "a.test:8443" to permissions.hosts of its entry in config.json',
  );
  t.equal(
    ask(undefined, 'https://a.test/'),
    'Plugin p has no grant for requests to a.test: add "permissions": {"hosts": ["a.test"]} to its entry in config.json, ' +
      'and beside "hosts" the "relayers" and "kv" that it uses',
  );
  t.equal(
    ask([{ host: 'a.test', methods: ['GET'] }], 'https://a.test/', 'POST'),
    'Plugin p has no grant for requests to a.test with POST: ' +
      'set "methods": ["GET", "POST"] for it in permissions.hosts of its entry in config.json',
  );
  t.equal(
    grants().privateRefusal(new URL('http://localhost:3000/')),
    'name it as {"host":"localhost:3000","private":true} in permissions.hosts of plugin p in config.json to allow it',
  );
  t.end();
});
