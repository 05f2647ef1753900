/**
 * How requests end that do not end by themselves: slow senders, slow handlers, callers that leave, and a server that
 * closes.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import t from 'tap';
import { API_KEY, sendRaw, startHttp } from '../support/http-server.ts';

const SEND = '/api/v1/relayers/r1/transactions';
const HEAD = `POST ${SEND} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${API_KEY}\r\ncontent-type: application/json\r\n`;

t.test('a request that arrives too slowly is 408, in its head or in its body', async (t) => {
  const { port, services, call } = await startHttp(t, { limits: { arrivalSeconds: 1 } });
  const answers = await Promise.all([sendRaw(port, HEAD), sendRaw(port, `${HEAD}content-length: 10\r\n\r\n{"a"`)]);
  for (const answer of answers) {
    t.match(answer, /^HTTP\/1\.1 408 /);
    t.match(answer, '"error":"The request did not arrive within 1 s"');
  }
  t.equal(services.transactions.sent.length, 0);
  t.equal((await call('/api/v1/health')).status, 200);
});

/** More answers than the buffers of two sockets hold. */
const MANY = 400;

t.test('who does not read its answers is cut off', async (t) => {
  const { port, metrics } = await startHttp(t, { limits: { unreadSeconds: 0.3 } });
  const socket = connect(port, '127.0.0.1').pause();
  t.teardown(() => socket.destroy());
  socket.on('error', () => undefined);
  socket.write('GET /api-docs/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(MANY));
  while (metrics.of('http_requests_in_flight').length === 0) await setTimeout(5);
  // The answers take some megabytes. They can only finish when the server drops the connection.
  while (metrics.values('http_requests_in_flight').reduce((sum, one) => sum + one, 0) > 0) await setTimeout(20);
  t.ok(metrics.of('http_requests_in_flight').length > 0);
});

t.test('who waits for a slow handler is not', async (t) => {
  const { post, services } = await startHttp(t, { limits: { unreadSeconds: 0.1 } });
  services.transactions.onSend = async () => {
    await setTimeout(500);
    return { id: 'late' };
  };
  t.match((await post(SEND, '{}')).json, { success: true, data: { id: 'late' } });
});

t.test('a handler that is too slow is 504 and counted', async (t) => {
  const { post, services, metrics } = await startHttp(t, { limits: { handlerSeconds: 0.05 } });
  const late = Promise.withResolvers<{ id: string }>();
  services.transactions.onSend = () => late.promise;
  const answer = await post(SEND, '{}');
  t.equal(answer.status, 504);
  t.match(answer.json, { success: false, data: null, error: 'The request was not answered within 0.05 s' });
  t.strictSame(metrics.of('http_request_timeouts', 'endpoint'), ['/api/v1/relayers/:id/transactions']);
  late.resolve({ id: 'too-late' });
});

t.test('a server that closes finishes what is under way', async (t) => {
  const { server, post, url, services } = await startHttp(t);
  const begun = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<{ id: string }>();
  services.transactions.onSend = () => {
    begun.resolve();
    return finish.promise;
  };
  const underWay = post(SEND, '{}');
  await begun.promise;
  const closed = server.close(10_000);
  const refused = await fetch(`${url}/api/v1/relayers`, { headers: { authorization: `Bearer ${API_KEY}` } });
  t.equal(refused.status, 503, 'nobody new is let in');
  t.equal(refused.headers.get('retry-after'), '1');
  const ready = await fetch(`${url}/api/v1/ready`);
  t.equal(ready.status, 503);
  t.match(await ready.json(), { ready: false, reason: 'The service is shutting down' });
  t.equal((await fetch(`${url}/api/v1/health`)).status, 200, 'the process lives to the end');
  finish.resolve({ id: 'tx-9' });
  t.match((await underWay).json, { success: true, data: { id: 'tx-9' } });
  await closed;
  await t.rejects(fetch(`${url}/api/v1/health`), 'then it is gone');
});

t.test('a request that arrives while the server closes is 503 with Retry-After', async (t) => {
  const { server, port } = await startHttp(t);
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  t.teardown(() => socket.destroy());
  const list = `GET /api/v1/relayers HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${API_KEY}\r\n`;
  // When the first answer arrives, the second head has begun. So the connection is not idle, and stays open.
  socket.write(`${list}\r\n${list}`);
  const [first] = (await once(socket, 'data')) as [string];
  t.match(first, /^HTTP\/1\.1 200 /);
  const closed = server.close(10_000);
  socket.write('\r\n');
  const [second] = (await once(socket, 'data')) as [string];
  t.match(second, /^HTTP\/1\.1 503 [^]*retry-after: 1[^]*connection: close[^]*"error":"The service is shutting down"/i);
  await closed;
});

t.test('closing cuts off what does not end within the grace', async (t) => {
  const { server, post, services } = await startHttp(t);
  const begun = Promise.withResolvers<void>();
  services.transactions.onSend = () => {
    begun.resolve();
    return new Promise(() => undefined);
  };
  const request = post(SEND, '{}');
  request.catch(() => undefined);
  await begun.promise;
  await server.close(50);
  await t.rejects(request);
});
