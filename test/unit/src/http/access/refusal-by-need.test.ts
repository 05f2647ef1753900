/** Something that a key may not access looks as if it did not exist: the answers are equal byte for byte. */
import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { Access } from '../../../../../src/domain/settings/access.ts';
import { startHttp } from '../../../../support/http-server.ts';

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
