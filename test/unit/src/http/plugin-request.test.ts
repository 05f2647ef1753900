import type { FastifyRequest } from 'fastify';
import t from 'tap';
import { pluginRequestOf } from '../../../../src/http/plugin-request.ts';

function request(url: string, body?: unknown, rawHeaders: string[] = [], keyedRun: object | null = null) {
  return { url, body, keyId: 'default', id: 'req-1', keyedRun, raw: { rawHeaders } } as unknown as FastifyRequest;
}
const post = (query: string, body?: unknown) => pluginRequestOf(request(`/call${query}`, body), 'POST', '');

t.test("the seed's routing rules", (t) => {
  t.equal(post('').route, '');
  t.equal(post('?route=/verify').route, '/verify');
  t.equal(post('?route=verify').route, 'verify', 'taken as it is');
  t.equal(post('?route=a&route=b').route, 'a');
  t.equal(pluginRequestOf(request('/call/a/b'), 'POST', 'a/b').route, '/a/b');
  t.equal(pluginRequestOf(request('/call/x?route=/y'), 'GET', 'x').route, '/x', 'the path wins');
  t.same(pluginRequestOf(request('/call/x?route=/y'), 'GET', 'x').query, { route: ['/y'] });
  t.end();
});

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

t.test('who called, and which request it is', (t) => {
  t.match(post(''), { method: 'POST', keyId: 'default', requestId: 'req-1' });
  t.notOk('claim' in post(''));
  const keyed = request('/call', {}, [], { claim: { id: 'claim-1', token: 1 } });
  t.equal(pluginRequestOf(keyed, 'POST', '').claim?.id, 'claim-1');
  t.end();
});
