/** Threat: a body or head is costly to read, reaches a prototype, or gets a stack trace as the answer. */
import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { API_KEY, sendRaw, startHttp } from '../support/http-server.ts';

const SEND = '/api/v1/relayers/r1/transactions';
const CALL = '/api/v1/plugins/echo/call';

t.test('whatever is sent, the answer is the envelope, never a fault or a stack', async (t) => {
  const { call, post, services } = await startHttp(t);
  services.transactions.onSend = async () => ({ id: 'never-mind' });
  const values = (count: number) => `[${'1,'.repeat(count - 2)}1]`;
  const text = (bytes: number) => `"${'x'.repeat(bytes - 2)}"`;
  const bodies: [name: string, body: string, status: number, callStatus?: number][] = [
    ['nothing', '', 400],
    ['half an object', '{"value":', 400],
    ['two values', '{} {}', 400],
    ['a comment', '{}// x', 400],
    ['not a number', '{"value":NaN}', 400],
    ['a number no double holds', '{"value":1e999}', 400],
    ['three hundred digits', `{"value":${'9'.repeat(300)}}`, 200],
    ['a prototype', '{"__proto__":{"isAdmin":true}}', 400],
    ['a prototype in disguise', '{"\\u005f\\u005fproto\\u005f\\u005f":{"isAdmin":true}}', 400],
    ['a constructor', '{"constructor":{"prototype":{"isAdmin":true}}}', 400],
    ['100,000 arrays', '['.repeat(100_000) + ']'.repeat(100_000), 400],
    ['100,000 objects', '{"a":'.repeat(100_000), 400],
    ['a lone surrogate', '{"a":"\\ud800"}', 200],
    ['a null character', '{"a":"\\u0000"}', 200],
    ['3 MB', text(3_000_000), 413],
    ['just below the limit', text(524_288), 200],
    ['just above the limit', text(524_289), 413, 200],
    ['just below that of a plugin call', text(2_097_152), 413, 200],
    ['just above that of a plugin call', text(2_097_153), 413],
    ['as many values as there may be', values(20_000), 200],
    ['one more', values(20_001), 400, 200],
    ['as many as a plugin call may have', values(100_000), 400, 200],
    ['one more than that', values(100_001), 400],
  ];
  for (const [name, body, status, callStatus = body === '' ? 200 : status] of bodies) {
    for (const path of [SEND, CALL]) {
      const answer = await post(path, body);
      const expected = path === CALL ? callStatus : status;
      t.equal(answer.status, expected, `${name} to ${path}`);
      t.match(answer.json, { success: expected === 200 }, name);
      t.notMatch(answer.text.slice(0, 2000), /\bat .*\.ts|node_modules|SyntaxError/, name);
    }
  }
  t.equal(({} as Record<string, unknown>)['isAdmin'], undefined);
  t.equal((await call('/api/v1/health')).status, 200);
});

t.test('a body of another type is 415 where JSON is asked for', async (t) => {
  const { post } = await startHttp(t);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '/', ';']) {
    const answer = await post(SEND, '{}', { 'content-type': type });
    t.equal(answer.status, 415, type);
    t.match(answer.json, { success: false, data: null, error: /^Send application\/json, not / });
  }
});

t.test('an endless body is cut off at the limit, though its length is not announced', async (t) => {
  const { port } = await startHttp(t, { limits: { bodyBytes: 1000 } });
  const head = `POST ${SEND} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${API_KEY}\r\ncontent-type: application/json\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n`;
  const chunk = `400\r\n${'x'.repeat(1024)}\r\n`;
  const answer = await sendRaw(port, head, chunk.repeat(20), '0\r\n\r\n');
  t.match(answer, /^HTTP\/1\.1 413 [^]*"error":"The body is larger than 1000 bytes"/);
});

t.test('a caller whose body is refused can go on with the same connection', async (t) => {
  const { port } = await startHttp(t, { limits: { bodyBytes: 1000 } });
  const head = `host: x\r\nauthorization: Bearer ${API_KEY}\r\ncontent-type: application/json\r\n`;
  const answers = await sendRaw(
    port,
    `POST ${SEND} HTTP/1.1\r\n${head}content-length: 5000\r\n\r\n${'x'.repeat(5000)}`,
    `GET /api/v1/health HTTP/1.1\r\n${head}connection: close\r\n\r\n`,
  );
  t.strictSame(answers.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 413', 'HTTP/1.1 200']);
});

t.test('what is not HTTP is answered, in the envelope too', async (t) => {
  const { port } = await startHttp(t);
  const requests: [request: string, status: number][] = [
    ['nonsense\r\n\r\n', 400],
    ['GET /api/v1/health HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    [`GET /api/v1/health HTTP/1.1\r\nhost: x\r\nx-big: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['POST /api/v1/health HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n', 400],
    ['GET /%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 400],
    ...['PROPFIND', 'TRACE', 'QUERY'].map((method): [string, number] => [
      `${method} /api/v1/relayers HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${API_KEY}\r\nconnection: close\r\n\r\n`,
      405,
    ]),
    ['GET /api/v1/health HTTP/1.1\r\nhost: x\r\nexpect: miracles\r\nconnection: close\r\n\r\n', 200],
  ];
  for (const [request, status] of requests) {
    const answer = await sendRaw(port, request);
    t.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), request.slice(0, 60));
    t.match(answer, status === 200 ? /"OK"$/ : /"success":false,"data":null/, request.slice(0, 60));
  }
});

t.test('a caller is asked for its body only when its key and the size of the body are good', async (t) => {
  const { port, services } = await startHttp(t, { limits: { bodyBytes: 1000 } });
  const head = (more: string) =>
    `POST ${SEND} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nexpect: 100-continue\r\n${more}\r\n\r\n`;
  const key = `authorization: Bearer ${API_KEY}\r\n`;
  const refusals: [head: string, status: number][] = [
    [head('content-length: 99999999'), 401],
    [head('authorization: Bearer wrong\r\ncontent-length: 2'), 401],
    [head(`${key}content-length: 99999999`), 413],
  ];
  for (const [request, status] of refusals) {
    const answer = await sendRaw(port, request);
    t.match(answer, new RegExp(`^HTTP/1\\.1 ${status} [^]*"success":false`), request);
    t.match(answer, /connection: close/i, 'nobody knows whether the body still comes');
  }
  t.strictSame(services.transactions.sent, []);

  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  t.teardown(() => socket.destroy());
  socket.write(head(`${key}content-length: 2\r\nconnection: close`));
  const [first] = (await once(socket, 'data')) as [string];
  t.match(first, /^HTTP\/1\.1 100 Continue\r\n\r\n$/);
  socket.write('{}');
  let rest = '';
  for await (const chunk of socket) rest += String(chunk);
  t.match(rest, /^HTTP\/1\.1 200 /);
});
