import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import t from 'tap';
import type { PluginAnswer } from '../../../../../src/features/plugins/host/plugin-host.ts';
import { disconnectSignal, pluginRequestOf } from '../../../../../src/features/plugins/operations.ts';
import { API_KEY, startHttp } from '../../../../support/http-server.ts';

t.test('the route reaches the plugin, from the path or the query, with and without prefix', async (t) => {
  const { post, pluginHost } = await startHttp(t);
  const routes: [path: string, route: string][] = [
    ['/call', ''],
    ['/call/', ''],
    ['/call?route=/verify', '/verify'],
    ['/call/verify', '/verify'],
    ['/call/a/b/', '/a/b'],
    ['/call//a//b', '/a/b'],
    ['/call/a%20b', '/a b'],
    ['/call/a%2Fb', '/a/b'],
    ['/call/%C3%A9', '/é'],
    ['/call/settle?route=/verify', '/settle'],
  ];
  for (const prefix of ['/api/v1', '']) {
    for (const [path, route] of routes) {
      t.equal((await post(`${prefix}/plugins/echo${path}`, '{}')).status, 200);
      t.equal(pluginHost.calls.at(-1)?.request.route, route, `${prefix}${path}`);
    }
  }
});

t.test('a plugin is changed, disabled, enabled and built anew, and its calls are shown', async (t) => {
  const { call, post, services, pluginHost } = await startHttp(t);
  const headers = { 'content-type': 'application/json' };
  const path = '/api/v1/plugins/echo';
  const changed = await call(path, { method: 'PATCH', body: '{"timeout":5}', headers });
  t.match([changed.status, changed.json], [200, { success: true, data: { id: 'echo' } }]);
  for (const deed of ['disable', 'enable', 'reload']) {
    const done = await post(`${path}/${deed}`, '');
    t.match([done.status, done.json], [200, { data: { id: 'echo' } }], deed);
    t.equal((await post(`${path}/${deed}`, '{"x":1}')).status, 400, `${deed} with a body`);
    t.equal((await post(`/api/v1/plugins/nobody/${deed}`, '')).status, 404, `${deed} of nobody`);
  }
  t.strictSame(services.plugins.changes, [
    ['echo', { timeout: 5 }],
    ['echo', false],
    ['echo', true],
  ]);
  t.strictSame(pluginHost.reloaded, ['echo']);
  t.match((await call(`${path}/logs?per_page=5`)).json, {
    data: [{ request_id: 'request-1' }],
    pagination: { per_page: 5, total_items: 1 },
  });
  t.equal((await call('/api/v1/plugins/nobody/logs')).status, 404);
  t.equal((await call('/api/v1/plugins/nobody', { method: 'PATCH', body: '{}', headers })).status, 404);
});

t.test('any content type is read as JSON, and nothing is an empty object', async (t) => {
  const { call, post, pluginHost } = await startHttp(t);
  await post('/plugins/echo/call', '{"a":1}', { 'content-type': 'text/weird' });
  t.strictSame(pluginHost.calls.at(-1)?.request.params, { a: 1 });
  await call('/plugins/echo/call', { method: 'POST' });
  t.strictSame(pluginHost.calls.at(-1)?.request.params, {});
  await post('/plugins/echo/call', '');
  t.strictSame(pluginHost.calls.at(-1)?.request.params, {});
  const malformed = await post('/plugins/echo/call', '{"a":');
  t.equal(malformed.status, 400);
  t.match(malformed.json, { success: false, data: null, error: /^Invalid JSON: / });
});

t.test("the plugin learns which key called and never the caller's token", async (t) => {
  const { call, pluginHost } = await startHttp(t);
  await call('/plugins/echo/call', { headers: { 'X-Custom': 'Value', 'x-request-id': 'r-9' } });
  const request = pluginHost.calls[0]?.request;
  t.equal(request?.method, 'GET');
  t.equal(request?.keyId, 'default');
  t.equal(request?.requestId, 'r-9');
  t.strictSame(request?.headers['x-custom'], ['Value']);
  t.notMatch(JSON.stringify(request), API_KEY);
});

t.test("the host's answer goes out as it is", async (t) => {
  const { post, pluginHost, metrics } = await startHttp(t);
  const body = '{"success":false,"data":{"code":"BUSY","details":{}},"error":"busy"}';
  pluginHost.onCall = async (): Promise<PluginAnswer> => ({ status: 503, body, retryAfter: 7 });
  const answer = await post('/plugins/echo/call', '{}');
  t.equal(answer.status, 503);
  t.equal(answer.text, body);
  t.equal(answer.headers.get('retry-after'), '7');
  t.match(answer.headers.get('content-type'), /^application\/json/);
  t.strictSame(metrics.of('plugin_calls'), ['echo POST 503']);
});

t.test('an unknown plugin is 404 and no metric', async (t) => {
  const { post, metrics } = await startHttp(t);
  const answer = await post('/api/v1/plugins/nobody/call', '{}');
  t.equal(answer.status, 404);
  t.match(answer.json, { success: false, data: null, error: 'Plugin with id nobody not found' });
  t.strictSame(metrics.of('plugin_calls'), []);
});

t.test('a caller that leaves is known to the plugin host', async (t) => {
  const { url, pluginHost } = await startHttp(t);
  const called = Promise.withResolvers<AbortSignal>();
  pluginHost.onCall = async (_request, signal) => {
    called.resolve(signal);
    await once(signal, 'abort');
    return { status: 499, body: '{}' };
  };
  const leaving = new AbortController();
  const request = fetch(`${url}/plugins/echo/call`, {
    headers: { authorization: `Bearer ${API_KEY}` },
    signal: leaving.signal,
  });
  const signal = await called.promise;
  t.notOk(signal.aborted);
  leaving.abort();
  await t.rejects(request);
  if (!signal.aborted) await once(signal, 'abort');
  t.ok(signal.aborted);
});

t.test('a plugin call outlives the handler limit', async (t) => {
  const { post, pluginHost } = await startHttp(t, { limits: { handlerSeconds: 0.05 } });
  pluginHost.onCall = () => new Promise((resolve) => setTimeout(resolve, 200, { status: 200, body: '"slow"' }));
  t.equal((await post('/plugins/echo/call', '{}')).text, '"slow"');
});

t.test('a HEAD would run the plugin for nothing', async (t) => {
  const { call, pluginHost } = await startHttp(t);
  const answer = await call('/plugins/echo/call', { method: 'HEAD' });
  t.equal(answer.status, 405);
  t.equal(answer.headers.get('allow'), 'GET, POST');
  t.equal(pluginHost.calls.length, 0);
});

t.test('plugins are listed by pages and shown one by one, with a key', async (t) => {
  const { call, url } = await startHttp(t);
  t.strictSame((await call('/api/v1/plugins')).json, {
    success: true,
    data: [{ id: 'echo', permissions: { relayers: {} } }],
    error: null,
    pagination: { current_page: 1, per_page: 10, total_items: 1 },
  });
  t.match((await call('/api/v1/plugins?page=2')).json, { data: [], pagination: { total_items: 1 } });
  t.equal((await call('/api/v1/plugins?page=x')).status, 400);
  t.match((await call('/api/v1/plugins/echo')).json, { success: true, data: { id: 'echo' } });
  const unknown = await call('/api/v1/plugins/nope');
  t.equal(unknown.status, 404);
  t.match(unknown.json, { message: 'Plugin with id nope not found' });
  for (const path of ['/api/v1/plugins', '/api/v1/plugins/echo']) t.equal((await fetch(`${url}${path}`)).status, 401);
});

function request(url: string, body?: unknown, rawHeaders: string[] = [], keyedRun: object | null = null) {
  return { url, body, keyId: 'default', id: 'req-1', keyedRun, raw: { rawHeaders } } as unknown as FastifyRequest;
}
const post = (query: string, body?: unknown) => pluginRequestOf(request(`/call${query}`, body), 'POST', '');

t.test('params: the query, else the body key, else the body, else nothing', (t) => {
  t.strictSame(post('?params={"a":1}', { b: 2 }).params, { a: 1 });
  t.strictSame(post('?params=%7B%22a%22%3A1%7D').params, { a: 1 });
  t.equal(post('?params=plain+text').params, 'plain text');
  t.equal(post('?params=').params, '');
  t.equal(post('?params=null', { b: 2 }).params, null);
  t.strictSame(post('', { params: { c: 3 }, other: 1 }).params, { c: 3 });
  t.equal(post('', { params: null, other: 1 }).params, null);
  t.strictSame(post('', { a: 1 }).params, { a: 1 });
  t.strictSame(post('', [{ params: 1 }]).params, [{ params: 1 }]);
  for (const body of ['text', 7, false, null]) t.equal(post('', body).params, body);
  t.strictSame(post('').params, {});
  t.strictSame(pluginRequestOf(request('/call', { ignored: 1 }), 'GET', '').params, {});
  t.end();
});

t.test('headers in lower case, one entry a line, without the credentials and the key', (t) => {
  const headers = [
    'X-A',
    '1',
    'Authorization',
    'Bearer secret',
    'Proxy-Authorization',
    'Basic secret',
    'Idempotency-Key',
    'mine',
    'x-a',
    '2',
    'Empty',
    '',
    '__proto__',
    'p',
  ];
  const { headers: seen } = pluginRequestOf(request('/call', {}, headers), 'POST', '');
  t.strictSame(Object.entries(seen), [
    ['x-a', ['1', '2']],
    ['empty', ['']],
    ['__proto__', ['p']],
  ]);
  t.end();
});

t.test('the query as forms are decoded, with own keys only', (t) => {
  const { query } = post('?a=1&a=2&flag&b=x+y%20z&__proto__=1&%zz=%');
  t.strictSame(Object.entries(query), [
    ['a', ['1', '2']],
    ['flag', ['']],
    ['b', ['x y z']],
    ['__proto__', ['1']],
    ['%zz', ['%']],
  ]);
  t.strictSame(Object.entries(post('').query), []);
  t.end();
});

t.test('a client that leaves aborts the signal of its call, and a finished answer does not', async (t) => {
  const leave = (writableFinished: boolean) => {
    const response = Object.assign(new EventEmitter(), { writableFinished });
    const signal = disconnectSignal(response as unknown as ServerResponse);
    const heard: string[] = [];
    const removed = () => heard.push('removed');
    signal.addEventListener('abort', removed, { once: true });
    signal.addEventListener('abort', () => heard.push('kept'), { once: true });
    signal.removeEventListener('abort', removed);
    response.emit('close');
    response.emit('close');
    return { aborted: signal.aborted, heard };
  };
  t.strictSame(leave(false), { aborted: true, heard: ['kept'] });
  t.strictSame(leave(true), { aborted: false, heard: [] });
});
