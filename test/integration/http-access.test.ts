/**
 * Threat: a caller without the key reaches a protected route: with a second header, another spelling of a public path,
 * a path that the router and the check normalise differently, or an unusual method.
 */
import t from 'tap';
import { API_KEY, sendRaw, startHttp } from '../support/http-server.ts';

const PROTECTED = ['/api/v1/relayers', '/api/v1/relayers/r1', '/api/v1/relayers/r1/transactions', '/plugins/echo/call'];

/** Sends a request as bytes, because clients normalise paths. */
async function get(port: number, path: string, ...headers: string[]): Promise<{ status: number; body: string }> {
  const head = [`GET ${path} HTTP/1.1`, 'host: x', 'connection: close', ...headers].join('\r\n');
  const [top = '', body = ''] = (await sendRaw(port, `${head}\r\n\r\n`)).split('\r\n\r\n');
  return { status: Number(top.split(' ')[1]), body };
}

t.test('without one good key everything but the probes is 401, in the envelope', async (t) => {
  const { port } = await startHttp(t);
  const good = `authorization: Bearer ${API_KEY}`;
  const attempts: string[][] = [
    [],
    ['authorization: '],
    [`authorization: ${API_KEY}`],
    [`authorization: bearer ${API_KEY}`],
    [`authorization: Basic ${API_KEY}`],
    [`authorization: Bearer  ${API_KEY}`],
    [`authorization: Bearer ${API_KEY.slice(0, -1)}`],
    [`authorization: Bearer ${API_KEY}x`],
    [good, good],
    ['authorization: Bearer wrong', good],
    [good, 'Authorization: Bearer wrong'],
    [`x-api-key: ${API_KEY}`],
    [`proxy-authorization: Bearer ${API_KEY}`],
  ];
  for (const headers of attempts) {
    const { status, body } = await get(port, '/api/v1/relayers', ...headers);
    t.equal(status, 401, headers.join(' | ').replaceAll(API_KEY, 'KEY'));
    t.equal(
      body,
      '{"success":false,"data":null,"error":"Unauthorized","message":"Unauthorized","code":"UNAUTHORIZED","retryable":false}',
    );
  }
  for (const path of PROTECTED) t.equal((await get(port, path)).status, 401, path);
  for (const path of PROTECTED) t.equal((await get(port, path, good)).status, 200, path);
  t.equal((await get(port, `/api/v1/relayers?authorization=Bearer%20${API_KEY}`)).status, 401);
});

t.test('only the probes themselves are public, not what looks like them', async (t) => {
  const { port } = await startHttp(t);
  for (const path of ['/api/v1/health', '/api/v1/ready', '/api/v1/health/', '//api/v1//health', '/api/v1/health?x=1']) {
    t.equal((await get(port, path)).status, 200, path);
  }
  const tricks = [
    '/api/v1/healthz',
    '/api/v1/health/x',
    '/api/v1/health/../relayers',
    '/api/v1/health/..%2frelayers',
    '/api/v1/health%2f..%2frelayers',
    '/api/v1/health;/relayers',
    '/api/v1/relayers?/api/v1/health',
    '/api/v1/relayers#/api/v1/health',
    '/api/v1/relayers/%2e%2e/health',
    '/API/V1/HEALTH',
    '/api/v1/health%00',
    '/health',
    '/api-docs-secret',
    '/swagger-ui/../api/v1/relayers',
    '\\api\\v1\\relayers',
    '/./api/v1/relayers',
  ];
  for (const path of tricks) {
    const { status, body } = await get(port, path);
    t.ok(status === 401 || status === 400, `${path}: ${status}`);
    t.match(body, /"success":false,"data":null/, path);
  }
  t.equal((await get(port, 'http://elsewhere.test/api/v1/relayers')).status, 401, 'absolute form');
});

t.test('unknown paths tell strangers nothing and friends that they are unknown', async (t) => {
  const { port, call } = await startHttp(t);
  t.equal((await get(port, '/nowhere')).status, 401);
  const answer = await call('/nowhere/at/all?x=1');
  t.equal(answer.status, 404);
  t.strictSame(answer.json, {
    success: false,
    data: null,
    error: 'No such route: GET /nowhere/at/all',
    message: 'No such route: GET /nowhere/at/all',
    code: 'ROUTE_NOT_FOUND',
    retryable: false,
  });
  for (const path of ['/api/v1/health/../relayers', '/api/v1/relayers/../relayers/r1', '/plugins/echo/callfoo']) {
    t.equal((await get(port, path, `authorization: Bearer ${API_KEY}`)).status, 404, path);
  }
});

t.test('a method that a path does not have is 405, with a key only', async (t) => {
  const { call } = await startHttp(t);
  for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const answer = await call('/api/v1/relayers/r1/status', { method });
    t.equal(answer.status, 405, method);
    t.equal(answer.headers.get('allow'), 'GET, HEAD');
    t.match(answer.json, { success: false, data: null, message: `${method} is not allowed here; allowed: GET, HEAD` });
    t.equal((await call('/api/v1/relayers/r1/status', { method, headers: { authorization: '' } })).status, 401);
  }
  t.equal((await call('/api/v1/health', { method: 'POST', headers: { authorization: '' } })).status, 405);
});
