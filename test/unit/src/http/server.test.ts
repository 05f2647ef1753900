import { randomUUID } from 'node:crypto';
import t from 'tap';
import { API_KEY, sendRaw, startHttp } from '../../../support/http-server.ts';

t.test('every answer names its request', async (t) => {
  const { call } = await startHttp(t);
  const given = await call('/api/v1/health', { headers: { 'x-request-id': 'mine-1' } });
  t.equal(given.headers.get('x-request-id'), 'mine-1');
  const fresh = await call('/api/v1/relayers/%zz');
  t.equal(fresh.status, 400);
  t.equal(fresh.headers.get('x-request-id')?.length, randomUUID().length);
});

t.test('every answer is what its type says, and is kept nowhere', async (t) => {
  const { call, post, port } = await startHttp(t);
  const answers = await Promise.all([
    call('/api/v1/health'),
    call('/api/v1/relayers'),
    call('/nowhere'),
    call('/api/v1/relayers/%zz'),
    call('/api/v1/relayers', { headers: { authorization: 'none' } }),
    call('/api-docs/openapi.json'),
    post('/api/v1/plugins/echo/call', '{}'),
    post('/api/v1/relayers/r1/transactions', '{'),
  ]);
  for (const { headers, text } of answers) {
    t.equal(headers.get('x-content-type-options'), 'nosniff', text.slice(0, 80));
    t.equal(headers.get('cache-control'), 'no-store', text.slice(0, 80));
  }
  t.match(
    await sendRaw(port, 'nonsense\r\n\r\n'),
    /\r\nx-content-type-options: nosniff\r\ncache-control: no-store\r\n/,
  );
});

t.test('a request to two hosts is for neither, and one without any is for nobody', async (t) => {
  const { port } = await startHttp(t);
  for (const hosts of ['host: a\r\nHost: b\r\n', 'host: a\r\nhost: a\r\n', '']) {
    const answer = await sendRaw(port, `GET /api/v1/health HTTP/1.1\r\n${hosts}connection: close\r\n\r\n`);
    t.match(answer, /^HTTP\/1\.1 400 [^]*"error":"There must be a host header, and only one"/, hosts);
  }
  t.match(await sendRaw(port, 'GET /api/v1/health HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 200 /);
});

t.test('requests are counted by route, with what became of them', async (t) => {
  const { call, metrics } = await startHttp(t);
  await call('/api/v1/relayers/r1');
  await call('/api/v1/relayers/r2');
  await call('/nowhere/at/all');
  await call('/api/v1/relayers/r1', { method: 'PUT' });
  t.match(
    metrics.finished.map(({ endpoint, method, status }) => [endpoint, method, status]),
    [
      ['/api/v1/relayers/:id', 'GET', 200],
      ['/api/v1/relayers/:id', 'GET', 404],
      ['unmatched', 'GET', 404],
      ['/api/v1/relayers/:id', 'PUT', 405],
    ],
  );
  t.ok(metrics.finished.every(({ seconds }) => seconds >= 0 && seconds < 60));
  t.equal(metrics.begun.length, metrics.finished.length);
});

t.test('an unexpected fault shows nothing of itself and is logged with the request', async (t) => {
  const { post, services, lines } = await startHttp(t);
  services.transactions.onSend = async () => {
    throw new TypeError('secret internals');
  };
  const answer = await post('/api/v1/relayers/r1/transactions', '{}', { 'x-request-id': 'req-7' });
  t.equal(answer.status, 500);
  t.strictSame(answer.json, {
    success: false,
    data: null,
    error: 'Internal Server Error',
    message: 'Internal Server Error',
    code: 'INTERNAL',
    retryable: false,
  });
  const line = lines.find((one) => one.includes('secret internals')) ?? '';
  t.match(line, /"requestId":"req-7"/);
  t.notMatch(lines.join(''), API_KEY);
});

t.test('a 401 says how to ask', async (t) => {
  const { call } = await startHttp(t);
  const answer = await call('/api/v1/relayers', { headers: { authorization: 'Basic x' } });
  t.equal(answer.status, 401);
  t.match(answer.headers.get('www-authenticate'), /^Bearer realm="Isolayer", error="invalid_token"/);
});

t.test('repeated and trailing slashes are as good as one', async (t) => {
  const { call } = await startHttp(t);
  t.equal((await call('//api///v1/relayers/r1/')).status, 200);
});

t.test('closing twice is closing once', async (t) => {
  const { server, url } = await startHttp(t);
  await Promise.all([server.close(1000), server.close(1000)]);
  await t.rejects(fetch(`${url}/api/v1/health`));
});
