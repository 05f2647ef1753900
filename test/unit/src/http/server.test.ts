import { randomUUID } from 'node:crypto';
import { fastify } from 'fastify';
import t from 'tap';
import { AppError, invalidRequest } from '../../../../src/domain/errors.ts';
import { JsonTextError, writeJson } from '../../../../src/domain/json/json-text.ts';
import { relayerDisabled } from '../../../../src/features/relayers/records/relayer.ts';
import { listenOn } from '../../../../src/http/connections.ts';
import { answerText, failure } from '../../../../src/http/envelope.ts';
import { toAppError } from '../../../../src/http/errors.ts';
import { collectRoutes, refuseOtherMethods } from '../../../../src/http/routing.ts';
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
  t.match(metrics.of('http_requests'), [
    '/api/v1/relayers/:id GET 200',
    '/api/v1/relayers/:id GET 404',
    'unmatched GET 404',
    '/api/v1/relayers/:id PUT 405',
  ]);
  t.ok(metrics.values('http_request_duration').every((seconds) => seconds >= 0 && seconds < 60));
  t.strictSame(metrics.of('http_request_duration'), metrics.of('http_requests'));
  t.equal(
    metrics.values('http_requests_in_flight').reduce((sum, one) => sum + one, 0),
    0,
  );
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
  const { url } = await startHttp(t);
  const challengeTo = async (headers: Record<string, string>) => {
    const answer = await fetch(`${url}/api/v1/relayers`, { headers });
    t.equal(answer.status, 401);
    return answer.headers.get('www-authenticate');
  };
  t.equal(await challengeTo({}), 'Bearer realm="Isolayer"');
  const unknown = await challengeTo({ authorization: 'Bearer iso_x' });
  t.match(unknown, /error="invalid_token", error_description="The API key is not known/);
  for (const authorization of ['iso_x', 'bearer x', 'Basic x', 'Bearer ', 'Bearer a b']) {
    const challenge = await challengeTo({ authorization });
    t.match(challenge, /error_description="Send the API key as: Authorization: Bearer <API key>"$/, authorization);
  }
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

t.test('an address that cannot be had names the variable to change', async (t) => {
  const listen = (host: string, port: number, variable: string) => {
    const app = fastify();
    t.teardown(() => app.close());
    return listenOn(app, { host, port, variable });
  };
  const url = await listen('127.0.0.1', 0, 'APP_PORT');
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  const taken = Number(new URL(url).port);
  const message = `Cannot listen on 127.0.0.1 port ${taken}: another program has it. METRICS_PORT chooses the port, HOST the address`;
  await t.rejects(listen('127.0.0.1', taken, 'METRICS_PORT'), { message });
  const foreign = /^Cannot listen on 192\.0\.2\.1 port 0: .*HOST the address$/;
  await t.rejects(listen('192.0.2.1', 0, 'APP_PORT'), { message: foreign });
});

t.test('a known path refuses the methods it does not have and names those it has', async (t) => {
  const app = fastify();
  t.teardown(() => app.close());
  app.setErrorHandler((error, _request, reply) => reply.code((error as AppError).status).send(String(error)));
  const publicPaths: string[] = [];
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.isPublic === true) publicPaths.push(request.url);
  });
  const table = collectRoutes(app);
  app.get('/things/:id', async () => 'thing');
  app.post('/things/:id', async () => 'made');
  app.get('/open', { config: { isPublic: true } }, async () => 'open');
  refuseOtherMethods(app, table);

  t.equal((await app.inject({ method: 'POST', url: '/things/1' })).body, 'made');
  for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const) {
    const refused = await app.inject({ method: method as 'GET', url: '/things/1' });
    t.equal(refused.statusCode, 405, method);
    t.equal(refused.headers.allow, 'GET, HEAD, POST');
  }
  t.equal((await app.inject({ method: 'POST', url: '/open' })).headers.allow, 'GET, HEAD');
  t.strictSame(publicPaths, ['/open'], 'the refusal is as public as the route');
  for (const method of ['PUT', 'TRACE'])
    t.equal((await app.inject({ method: method as 'GET', url: '/elsewhere' })).statusCode, 404);
});

t.test('a failure has the fixed text beside the reason', (t) => {
  t.strictSame(failure(invalidRequest('page: must be a number')), {
    success: false,
    data: null,
    error: 'page: must be a number',
    message: 'Bad Request',
    code: 'INVALID_REQUEST',
    retryable: false,
  });
  t.match(failure(new AppError('RELAYER_NOT_FOUND', { id: 'r' })), {
    error: 'Relayer with ID r not found',
    message: 'Relayer with ID r not found',
    code: 'RELAYER_NOT_FOUND',
  });
  t.match(failure(new AppError('RELAYER_PAUSED', {})), { code: 'RELAYER_PAUSED', retryable: true });
  const nextCheckAt = 1_700_000_000_000;
  t.match(failure(relayerDisabled({ type: 'BalanceCheckFailed', details: '0xaa has 0 wei', nextCheckAt })), {
    code: 'RELAYER_DISABLED',
    message: 'Relayer disabled',
    disabled_reason: {
      type: 'BalanceCheckFailed',
      details: '0xaa has 0 wei',
      next_check_at: '2023-11-14T22:13:20.000+00:00',
    },
  });
  t.match(failure(new AppError('TOO_MANY_REQUESTS', {}, { retryAfterSeconds: 7 })), { retryable: true, after: 7 });
  t.end();
});

t.test('an answer is written as JSON is', async (t) => {
  const view = Object.freeze({ id: 'é"\u2028', gas: 2n ** 70n, list: [1n], gone: undefined });
  for (const body of [
    { success: true, data: view, error: null },
    { success: true, data: [view, { id: 1 }, null, undefined, 'text', [view]], error: null, pagination: { total: 3n } },
    { success: false, data: undefined, error: 'a "reason"', '"': 1 },
    { success: true, data: [] },
    ...[[view], 'text', null, 1n, {}],
  ]) {
    t.equal(answerText(body), writeJson(body));
  }
});

t.test('what is frozen is written once', async (t) => {
  let reads = 0;
  const view = Object.freeze({
    get id() {
      reads += 1;
      return 'tx';
    },
  });
  const first = answerText({ data: view });
  const readsOfOne = reads;
  t.ok(readsOfOne > 0);
  t.equal(answerText({ data: [view] }), '{"data":[{"id":"tx"}]}');
  t.equal(answerText({ data: view }), first);
  t.equal(reads, readsOfOne);
});

t.test('what may change is written anew', async (t) => {
  const view = { id: 1 };
  t.equal(answerText({ data: view }), '{"data":{"id":1}}');
  view.id = 2;
  t.equal(answerText({ data: view }), '{"data":{"id":2}}');
});

const context = { contentType: 'text/csv', bodyLimit: 10 };
const coded = (code: string) => Object.assign(new Error('from the framework'), { code });

t.test('an error with a row stays what it is', (t) => {
  const error = invalidRequest('x');
  t.equal(toAppError(error, context), error);
  t.end();
});

t.test("the framework's errors get their rows", (t) => {
  const rows: [thrown: unknown, status: number, text: string | RegExp][] = [
    [new JsonTextError('expected a value at line 1 column 1'), 400, /^Invalid JSON: expected a value/],
    [coded('FST_ERR_CTP_BODY_TOO_LARGE'), 413, 'The body is larger than 10 bytes'],
    [coded('FST_ERR_CTP_INVALID_MEDIA_TYPE'), 415, 'Send application/json, not text/csv'],
    [coded('FST_ERR_CTP_INVALID_CONTENT_LENGTH'), 400, /announced length/],
    [coded('FST_ERR_BAD_URL'), 400, /percent-encoding/],
  ];
  for (const [thrown, status, text] of rows) {
    const error = toAppError(thrown, context);
    t.equal(error.status, status);
    t.match(error.message, text);
  }
  const unnamed = toAppError(coded('FST_ERR_CTP_INVALID_MEDIA_TYPE'), { ...context, contentType: undefined });
  t.match(unnamed.message, /without a content type/);
  t.end();
});

t.test('what has no row is an internal fault that shows nothing of itself', (t) => {
  for (const thrown of [new Error('password=hunter2'), 'hunter2', null, undefined, coded('EWHATEVER')]) {
    const error = toAppError(thrown, context);
    t.equal(error.status, 500);
    t.equal(error.message, 'Internal Server Error');
    t.equal(error.cause, thrown);
  }
  t.end();
});
