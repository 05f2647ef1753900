import { createHash } from 'node:crypto';
import t from 'tap';
import { Access } from '../../../../../src/domain/settings/access.ts';
import { type ClientKey, createAuthenticator } from '../../../../../src/http/access/auth.ts';

const KEY = 'k'.repeat(32);
const keys = { master: { id: 'default', key: KEY }, withHash: (): ClientKey | undefined => undefined };
const authenticate = createAuthenticator(keys, () => 0);

t.test('the key is accepted, whatever case the header name has', (t) => {
  t.match(authenticate(['Host', 'x', 'Authorization', `Bearer ${KEY}`]), { id: 'default', rate: undefined });
  t.ok(authenticate(['AUTHORIZATION', `Bearer ${KEY}`])?.access.may({ resource: 'signers', deed: 'write' }));
  t.end();
});

t.test('everything else is not', (t) => {
  const refused = [
    [],
    ['authorization', ''],
    ['authorization', 'Bearer '],
    ['authorization', KEY],
    ['authorization', `bearer ${KEY}`],
    ['authorization', `Basic ${KEY}`],
    ['authorization', `Bearer  ${KEY}`],
    ['authorization', `Bearer ${KEY} `],
    ['authorization', `Bearer ${KEY.slice(1)}`],
    ['authorization', `Bearer ${KEY}k`],
    ['authorization', `Bearer ${KEY}, Bearer ${KEY}`],
    ['authorization', `Bearer ${KEY}`, 'Authorization', `Bearer ${KEY}`],
    ['authorization', 'Basic x', 'authorization', `Bearer ${KEY}`],
    ['x-authorization', `Bearer ${KEY}`],
    ['authorization'],
  ];
  for (const headers of refused) t.equal(authenticate(headers), undefined, headers.join(' '));
  t.end();
});

t.test('a key that is longer than what is padded is compared to its end', (t) => {
  const long = 'k'.repeat(300);
  const ofLong = createAuthenticator({ ...keys, master: { id: 'default', key: long } }, () => 0);
  t.match(ofLong(['authorization', `Bearer ${long}`]), { id: 'default' });
  for (const given of [`${long}k`, long.slice(1), `${long.slice(1)}x`, long.slice(0, 256)]) {
    t.equal(ofLong(['authorization', `Bearer ${given}`]), undefined, `${given.length} characters`);
  }
  t.end();
});

t.test('a key of a client is found by its hash, until its time is over', (t) => {
  const secret = 'iso_of-a-client';
  let now = 5;
  const access = new Access(['metrics:read']);
  const key: ClientKey = { id: 'k1', access, rate: { perSecond: 1, burst: 2 }, allowedOrigins: ['*'], expiresAt: 10 };
  const asked: string[] = [];
  const withHash = (hash: string) => {
    asked.push(hash);
    return hash === createHash('sha256').update(secret).digest('hex') ? key : undefined;
  };
  const ofClients = createAuthenticator({ ...keys, withHash }, () => now);
  t.match(ofClients(['authorization', `Bearer ${secret}`]), { id: 'k1', access, rate: { burst: 2 } });
  t.match(ofClients(['authorization', `Bearer ${KEY}`]), { id: 'default' });
  t.equal(ofClients(['authorization', `Bearer ${secret}x`]), undefined);
  t.equal(asked.length, 2, 'that of the environment is not looked for');
  now = 10;
  t.equal(ofClients(['authorization', `Bearer ${secret}`]), undefined);
  const endless = createAuthenticator(
    { ...keys, withHash: () => ({ ...key, expiresAt: null, rate: null }) },
    () => now,
  );
  t.match(endless(['authorization', 'Bearer any']), { id: 'k1', rate: undefined });
  t.end();
});
