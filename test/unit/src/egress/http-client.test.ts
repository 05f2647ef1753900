import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { createAddressGuard } from '../../../../src/egress/address-guard.ts';
import { createContentDecoder, parseContentCodings } from '../../../../src/egress/content-decoder.ts';
import { basicCredentials, createHttpClient, type HttpPost, unescaped } from '../../../../src/egress/http-client.ts';
import { HttpFailure } from '../../../../src/egress/http-failure.ts';

const guard = createAddressGuard({ allowedHosts: [], blockPrivate: false });
const POST: HttpPost = { headers: { 'content-type': 'application/json' }, body: '{}', timeoutMs: 5_000, maxBytes: 100 };

async function serve(t: Test, listener: RequestListener): Promise<URL> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/path?key=1`);
}

t.test('posts the body with its headers, path, query and the credentials of the URL', async (t) => {
  const seen: unknown[] = [];
  const url = await serve(t, (request, response) => {
    request.setEncoding('utf8').on('data', (body: string) => {
      seen.push(request.method, request.url, request.headers['content-type'], request.headers.authorization, body);
      response.writeHead(201, { 'x-answer': 'yes' }).end('done');
    });
  });
  url.username = 'us%20er';
  url.password = 'p@ss';
  const http = createHttpClient(guard);
  t.teardown(() => http.close());
  const answer = await http.post(url, POST);
  const credentials = `Basic ${Buffer.from('us er:p@ss').toString('base64')}`;
  t.same(seen, ['POST', '/path?key=1', 'application/json', credentials, '{}']);
  t.match(answer, { status: 201, headers: { 'x-answer': 'yes' } });
  t.equal(answer.body.toString(), 'done');
});

t.test('gets without a body', async (t) => {
  const seen: unknown[] = [];
  const url = await serve(t, (request, response) => {
    request.resume().on('end', () => {
      seen.push(request.method, request.url, request.headers['content-length'], request.headers['x-token']);
      response.end('here');
    });
  });
  const http = createHttpClient(guard);
  t.teardown(() => http.close());
  const answer = await http.get(url, { headers: { 'x-token': 'a' }, timeoutMs: 5_000, maxBytes: 100 });
  t.same(seen, ['GET', '/path?key=1', undefined, 'a']);
  t.equal(answer.body.toString(), 'here');
});

t.test('never follows a redirect, and names no more of its target than scheme and host', async (t) => {
  let [requests, location, status] = [0, '', 0];
  const url = await serve(t, (_request, response) => {
    requests += 1;
    response.writeHead(status, { location }).end();
  });
  const http = createHttpClient(guard);
  t.teardown(() => http.close());
  const not = 'redirects are not followed, so enter the address itself';
  for (const [to, where] of [
    ['https://user:pass@rpc.example.com:8443/v2/secret?key=secret', 'https://rpc.example.com:8443'],
    ['/secret', `${url.origin}, another path`],
    ['http://:secret', 'what is not a URL'],
  ] as const) {
    for (status of [301, 302, 303, 307, 308]) {
      location = to;
      t.match(await http.post(url, POST), { status, redirect: ` (a redirect to ${where}: ${not})` });
    }
  }
  status = 201;
  t.match(await http.post(url, { ...POST, reads: 'status' }), { status: 201, redirect: '' });
  t.equal(requests, 16);
});

const CODINGS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync };

t.test('asks for no compression, and reads what is compressed all the same, within the limit', async (t) => {
  const http = createHttpClient(guard);
  t.teardown(() => http.close());
  for (const [coding, compress] of Object.entries(CODINGS)) {
    let body = Buffer.from('{"result":"0x1"}');
    const url = await serve(t, (request, response) => {
      response.setHeader('x-asked', String(request.headers['accept-encoding']));
      response.writeHead(200, { 'content-encoding': coding, connection: 'close' }).end(compress(body));
    });
    const answer = await http.post(url, POST);
    t.strictSame([answer.body.toString(), answer.headers['x-asked']], ['{"result":"0x1"}', 'identity'], coding);
    body = Buffer.alloc(3_000_000);
    const limits = { ...POST, maxBytes: 1_000_000 };
    const small = compress(body).length < limits.maxBytes;
    t.ok(small, 'it is small as it comes');
    await t.rejects(http.post(url, limits), { kind: 'too-large', message: 'the answer is larger than 1000000 bytes' });
    body = Buffer.from('x'.repeat(900_000));
    t.equal((await http.get(url, limits)).body.length, 900_000, 'in several parts');
  }
});

t.test('a body that cannot be decompressed, or is so too often, is a failure', async (t) => {
  const http = createHttpClient(guard);
  t.teardown(() => http.close());
  for (const [coding, message] of [
    ['gzip', 'its body cannot be decompressed'],
    ['gzip, gzip, gzip', 'the body is encoded 3 times'],
  ] as const) {
    const url = await serve(t, (_request, response) =>
      response.writeHead(200, { 'content-encoding': coding }).end('not compressed'),
    );
    await t.rejects(http.post(url, POST), { kind: 'transport', message });
  }
});

t.test('an answer that never ends, grows too large or breaks off is a failure', async (t) => {
  const http = createHttpClient(guard);
  t.teardown(() => http.close());
  const silent = await serve(t, () => {});
  await t.rejects(http.post(silent, { ...POST, timeoutMs: 50 }), {
    kind: 'timeout',
    message: 'no answer within 50 ms',
  });

  const dripping = await serve(t, (_request, response) => {
    response.writeHead(200).write('x');
  });
  await t.rejects(http.post(dripping, { ...POST, timeoutMs: 50 }), { name: 'HttpFailure', kind: 'timeout' });

  const endless = await serve(t, (_request, response) => {
    const write = () => {
      while (response.write('y'.repeat(65_536)));
      response.once('drain', write);
    };
    write();
  });
  await t.rejects(http.post(endless, POST), { kind: 'too-large', message: 'the answer is larger than 100 bytes' });

  const cut = await serve(t, (request) => request.socket.destroy());
  await t.rejects(http.post(cut, POST), { kind: 'transport', message: /^connection failed \(/ });
});

t.test('where only the status is asked for, it is the answer, and the connection serves again', async (t) => {
  const connections = new Set<unknown>();
  const url = await serve(t, (request, response) => {
    connections.add(request.socket);
    response.writeEarlyHints({ link: '</x>; rel=preload' });
    response.writeHead(202).end('dropped');
  });
  const http = createHttpClient(guard);
  t.teardown(() => http.close());
  for (let round = 0; round < 3; round += 1) {
    const answer = await http.post(url, { ...POST, reads: 'status' });
    t.match(answer, { status: 202 });
    t.equal(answer.body.length, 0);
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.equal(connections.size, 1);
});

t.test('a connection that the guard refuses is never made', async (t) => {
  let connections = 0;
  const server = createTcpServer(() => {
    connections += 1;
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const strict = createAddressGuard({ allowedHosts: [], blockPrivate: true });
  // A resolver whose answer leads to loopback, as a name does that changes after the check.
  const rebound = createAddressGuard({ allowedHosts: [], blockPrivate: true }, (_host, _options, callback) =>
    callback(null, [{ address: '127.0.0.1', family: 4 }]),
  );
  for (const [policy, host] of [
    [strict, '127.0.0.1'],
    [rebound, 'rpc.example.com'],
  ] as const) {
    const http = createHttpClient(policy);
    const failure = await http
      .post(new URL(`http://${host}:${port}/secret-path`), POST)
      .catch((error: unknown) => error);
    t.ok(failure instanceof HttpFailure);
    t.match(failure, { kind: 'blocked', message: new RegExp(`^${host}(:\\d+)? is refused`) });
    t.notMatch(String(failure), /secret-path/);
    await http.close();
  }
  t.equal(connections, 0);
});

t.test('a closed client sends nothing, and closing twice is fine', async (t) => {
  const url = await serve(t, (_request, response) => response.end());
  const http = createHttpClient(guard);
  await http.close();
  await http.close();
  await t.rejects(http.post(url, POST), { name: 'HttpFailure', kind: 'transport' });
});

t.test('user-info as it goes over the wire', async (t) => {
  const sent = (url: string) => {
    const credentials = basicCredentials(new URL(url));
    return credentials && Buffer.from(credentials, 'base64').toString('utf8');
  };
  t.equal(sent('https://user:p%40ss@rpc.example.com'), 'user:p@ss');
  t.equal(sent('https://user:100%zz@rpc.example.com'), 'user:100%zz', 'a bare % is itself');
  t.equal(sent('https://:only@rpc.example.com'), ':only');
  t.equal(sent('https://rpc.example.com'), undefined);
});

t.test('escapes that are none stay', async (t) => {
  t.equal(unescaped('s3%20cret'), 's3 cret');
  t.equal(unescaped('%E0%A4%A'), '%E0%A4%A');
});

t.test('content decoder', async (t) => {
  const inflate = async (header: string, body: Buffer) => {
    const { input, output } = createContentDecoder(parseContentCodings(header), body[0] ?? 0);
    input.end(body);
    return (await buffer(output)).toString();
  };

  t.test('each coding is taken off, the last one first', async (t) => {
    const text = Buffer.from('the body');
    t.equal(await inflate('gzip', gzipSync(text)), 'the body');
    t.equal(await inflate('X-GZip', gzipSync(text)), 'the body');
    t.equal(await inflate('br', brotliCompressSync(text)), 'the body');
    t.equal(await inflate('deflate', deflateSync(text)), 'the body');
    t.equal(await inflate('deflate', deflateRawSync(text)), 'the body', 'also as some servers send it');
    t.equal(await inflate('zstd', zstdCompressSync(text)), 'the body');
    t.equal(await inflate('gzip, br', brotliCompressSync(gzipSync(text))), 'the body');
  });

  t.test('what is not known is left as it is, what is absurd is refused', (t) => {
    t.strictSame(parseContentCodings(''), []);
    t.strictSame(parseContentCodings('identity'), []);
    t.strictSame(parseContentCodings('compress'), []);
    t.strictSame(parseContentCodings('gzip, unheard-of'), []);
    t.throws(() => parseContentCodings('gzip, gzip, gzip'), /3 times/);
    t.throws(() => createContentDecoder([], 0), /nothing/);
    t.end();
  });

  t.test('a broken body is an error of the output, also behind a second decoder', async (t) => {
    await t.rejects(inflate('gzip', Buffer.from('not gzip at all')));
    await t.rejects(inflate('gzip, br', brotliCompressSync(Buffer.from('not gzip at all'))));
    const decoder = createContentDecoder(['gzip'], 0);
    decoder.destroy();
    decoder.destroy();
    t.ok(decoder.output.destroyed);
  });
});
