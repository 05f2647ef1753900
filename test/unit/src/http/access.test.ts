import { createHash, randomBytes } from 'node:crypto';
import { fastify } from 'fastify';
import t, { type Test } from 'tap';
import { Access, FULL_ACCESS } from '../../../../src/features/api-keys/records/access.ts';
import { type AuthenticatedKey, createAuthenticator } from '../../../../src/http/access/authenticate.ts';
import { seenPlugin } from '../../../../src/http/access/seen-plugin.ts';
import { SignInCode } from '../../../../src/http/access/sign-in-code.ts';
import { permissionOf, refuseUndeclared } from '../../../../src/http/operation.ts';
import { ALL_OPERATIONS } from '../../../../src/http/operation-table.ts';
import { startHttp } from '../../../support/http-server.ts';

t.test('auth', async (t) => {
  const KEY = 'k'.repeat(32);
  const keys = { master: { id: 'default', key: KEY }, withHash: (): AuthenticatedKey | undefined => undefined };
  const authenticate = createAuthenticator(keys, () => 0);

  t.test('the key is accepted, whatever case the header name has', (t) => {
    t.match(authenticate(['Host', 'x', 'Authorization', `Bearer ${KEY}`]), { id: 'default', rate: undefined });
    t.ok(authenticate(['AUTHORIZATION', `Bearer ${KEY}`])?.access.may({ resource: 'signers', action: 'write' }));
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
    const key: AuthenticatedKey = {
      id: 'k1',
      access,
      rate: { perSecond: 1, burst: 2 },
      allowedOrigins: ['*'],
      expiresAt: 10,
    };
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
});

t.test('needs', async (t) => {
  t.test('each operation that takes a key needs something that a key may be permitted', (t) => {
    const open: string[] = [];
    for (const operation of ALL_OPERATIONS) {
      const need = permissionOf(operation);
      const route = `${operation.method} ${operation.path}`;
      if (need === undefined) open.push(`${route}: ${operation.permission}`);
      else t.equal(new Access([`${need.resource}:${need.action}`]).may(need), true, route);
    }
    t.strictSame(open, [
      'GET /api/v1/health: public',
      'GET /api/v1/ready: public',
      'GET /api/v1/api-keys/current: any key',
      'POST /api/v1/hooks/:id/:name: public',
      'GET /api-docs/openapi.json: public',
    ]);
    t.end();
  });

  t.test('a route that no operation declares is an error', async (t) => {
    const app = fastify();
    t.teardown(() => app.close());
    refuseUndeclared(app);
    app.get('/page', { config: { isPublic: true, isPage: true } }, () => '');
    app.route({ method: 'PUT', url: '/api/v1/signers', config: { isRefusal: true }, handler: () => '' });
    t.throws(() => app.get('/api/v1/new', () => ''), { message: 'No operation declares GET /api/v1/new' });
    t.throws(() => app.get('/open', { config: { isPublic: true } }, () => ''), { message: /GET \/open$/ });
  });
});

/** Something that a key may not access looks as if it did not exist: the answers are equal byte for byte. */
t.test('refusal by need', async (t) => {
  async function stage(t: Test, ...permissions: string[]) {
    const { clientKeys, url, services, lines } = await startHttp(t);
    services.relayers.known.set('r2', { id: 'r2' });
    const hash = createHash('sha256').update('a client').digest('hex');
    clientKeys.set(hash, {
      id: 'k1',
      access: new Access(permissions),
      rate: null,
      allowedOrigins: ['*'],
      expiresAt: null,
    });
    const ask = async (method: string, path: string, body?: string) => {
      const headers = { authorization: 'Bearer a client', 'content-type': 'application/json', 'x-request-id': 'q' };
      const init = body === undefined ? { method, headers } : { method, headers, body };
      const answer = await fetch(`${url}/api/v1${path}`, init);
      const text = await answer.text();
      return { status: answer.status, text, json: JSON.parse(text) as { data: unknown } };
    };
    return { ask, services, lines };
  }

  t.test('relayers of which the key may do nothing are not there', async (t) => {
    const { ask, services } = await stage(t, 'relayers:r1:send');
    t.match((await ask('GET', '/relayers')).json, { data: [{ id: 'r1' }], pagination: { total_items: 1 } });
    t.equal((await ask('GET', '/relayers/r1')).status, 200, 'who may send may look');
    t.equal((await ask('POST', '/relayers/r1/transactions', '{}')).status, 200);
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/status'],
      ['GET', '/transactions'],
      ['POST', '/transactions'],
      ['POST', '/sign'],
      ['POST', '/rpc'],
      ['PATCH', ''],
      ['DELETE', ''],
    ] as const) {
      const body = method === 'GET' ? undefined : '{}';
      const [hidden, unknown] = [
        await ask(method, `/relayers/r2${path}`, body),
        await ask(method, `/relayers/r3${path}`, body),
      ];
      t.equal(hidden.status, 404, `${method} ${path}`);
      t.equal(hidden.text, unknown.text.replaceAll('r3', 'r2'), 'to the byte');
    }
    t.equal(services.transactions.sent.length, 1);
  });

  t.test('what the key sees and may not do is 403, which says what is missing', async (t) => {
    const { ask, lines } = await stage(t, 'relayers:r1:send', 'signers:read');
    const refused = await ask('POST', '/relayers/r1/sign', '{}');
    t.match(
      [refused.status, refused.json],
      [403, { error: 'The API key has no permission relayers:r1:sign', message: 'Forbidden' }],
    );
    t.equal((await ask('PATCH', '/relayers/r1', '{}')).status, 403);
    t.match((await ask('POST', '/relayers', '{}')).json, { error: 'The API key has no permission relayers:write' });
    t.match((await ask('POST', '/signers', '{}')).json, { error: 'The API key has no permission signers:write' });
    t.match(
      lines.find((line) => line.includes('NOT_PERMITTED')),
      /"keyId":"k1"/,
      'the log names the key',
    );
  });

  t.test('kinds of which the key may do nothing are no routes', async (t) => {
    const { ask } = await stage(t, 'relayers:r1:send');
    for (const path of ['/notifications', '/signers/x', '/networks', '/audit', '/api-keys', '/metrics']) {
      const hidden = await ask('GET', path);
      t.equal(hidden.status, 404, path);
      t.match(hidden.json, { error: `No such route: GET /api/v1${path}` });
    }
    t.match((await ask('GET', '/plugins')).json, { data: [], pagination: { total_items: 0 } });
    const plugin = await ask('POST', '/plugins/echo/call', '{}');
    t.match([plugin.status, plugin.json], [404, { error: 'Plugin with id echo not found' }]);
  });

  t.test('a plugin may be called by who may not change it', async (t) => {
    const { ask } = await stage(t, 'plugins:echo:call');
    t.equal((await ask('POST', '/plugins/echo/call', '{}')).status, 200);
    t.match((await ask('GET', '/plugins')).json, { data: [{ id: 'echo' }] });
    t.equal((await ask('POST', '/plugins/echo/disable')).status, 403);
    t.equal((await ask('GET', '/plugins/echo/logs')).status, 403);
    t.match((await ask('GET', '/relayers')).json, { data: [] });
  });

  t.test('a key with every permission may do everything', async (t) => {
    const { ask } = await stage(t, '*');
    for (const path of ['/relayers/r2', '/audit', '/api-keys', '/metrics', '/plugins/echo/logs']) {
      t.equal((await ask('GET', path)).status, 200, path);
    }
  });
});

t.test('seen plugin', async (t) => {
  const VIEW = {
    id: 'p',
    permissions: { relayers: { a: { methods: ['send'] }, b: { methods: ['sign'] }, '*': { methods: [] } }, kv: true },
  };

  t.test('a key sees of a plugin’s relayers those that it sees itself', (t) => {
    const seen = (...permissions: string[]) => seenPlugin(VIEW, new Access(['plugins:p:call', ...permissions]));
    t.strictSame(seenPlugin(VIEW, FULL_ACCESS), VIEW);
    t.strictSame(seen(), { id: 'p', permissions: { relayers: {}, kv: true } });
    t.strictSame(seen('relayers:a:read'), {
      id: 'p',
      permissions: { relayers: { a: { methods: ['send'] } }, kv: true },
    });
    t.strictSame(seen('relayers:read'), VIEW);
    t.end();
  });
});

t.test('sign in code', async (t) => {
  const MINUTE_MS = 60_000;

  t.test('a code is exchanged once, within ten minutes, until there is a newer one', (t) => {
    let elapsed = 0;
    const codes = new SignInCode({ key: 'the key', elapsed: () => elapsed, randomBytes });
    t.equal(codes.exchange(''), undefined, 'there is none yet');
    const first = codes.make();
    t.match(first, /^[\w-]{43}$/);
    t.equal(codes.exchange('another'), undefined);
    t.equal(codes.exchange(first), 'the key', 'a wrong one before takes nothing away');
    t.equal(codes.exchange(first), undefined);

    const old = codes.make();
    const newer = codes.make();
    t.equal(codes.exchange(old), undefined);
    elapsed = 10 * MINUTE_MS + 1;
    t.equal(codes.exchange(newer), undefined);
    t.end();
  });
});
