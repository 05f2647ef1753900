import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { answerClientError } from '../../../../src/http/client-errors.ts';

async function pair(t: Test): Promise<{ client: Socket; peer: Socket }> {
  const server = createServer();
  t.teardown(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [peer] = (await once(server, 'connection')) as [Socket];
  t.teardown(() => client.destroy());
  return { client, peer };
}

async function answerTo(t: Test, code: string): Promise<string> {
  const { client, peer } = await pair(t);
  answerClientError(Object.assign(new Error('bad'), { code }), peer, 7);
  let received = '';
  for await (const piece of client) received += String(piece);
  return received;
}

t.test('each way of not being a request has its status, in the envelope', async (t) => {
  t.match(await answerTo(t, 'ERR_HTTP_REQUEST_TIMEOUT'), /^HTTP\/1\.1 408 [^]*within 7 s/);
  t.match(await answerTo(t, 'HPE_HEADER_OVERFLOW'), /^HTTP\/1\.1 431 [^]*"success":false/);
  const malformed = await answerTo(t, 'HPE_INVALID_METHOD');
  t.match(malformed, /^HTTP\/1\.1 400 Bad Request\r\n/);
  const [head = '', body = ''] = malformed.split('\r\n\r\n');
  t.match(head, `content-length: ${Buffer.byteLength(body)}`);
  t.strictSame(JSON.parse(body), {
    success: false,
    data: null,
    error: 'The request is not valid HTTP',
    message: 'Bad Request',
    code: 'INVALID_REQUEST',
    retryable: false,
  });
});

t.test('a connection that is gone gets nothing and is let go', async (t) => {
  const { peer } = await pair(t);
  answerClientError(Object.assign(new Error('gone'), { code: 'ECONNRESET' }), peer, 7);
  t.ok(peer.destroyed);
});
