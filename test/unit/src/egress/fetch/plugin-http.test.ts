/**
 * Threat: a plugin, or a host that it may call, makes the service connect to private or metadata addresses: by name, by
 * another spelling, by a redirect, or by a name that changes. Or it sends the service more data than allowed.
 */
import type { LookupAddress } from 'node:dns';
import t, { type Test } from 'tap';
import { createAddressGuard } from '../../../../../src/egress/address-guard.ts';
import { fetchRequestHeaders } from '../../../../../src/egress/fetch/headers.ts';
import type { FetchRequest } from '../../../../../src/egress/fetch/plugin-fetch.ts';
import { createPluginHttp, redirectRequest } from '../../../../../src/egress/fetch/plugin-http.ts';
import { hostGrantsOf } from '../../../../../src/features/plugins/host/capabilities/grants.ts';
import { hostPermissionSchema } from '../../../../../src/features/plugins/records/host-permission.ts';
import { endless, gzipBomb, hostileHttp, plain, redirectTo } from '../../../../support/hostile-http.ts';

type Options = Partial<FetchRequest> & { hosts?: unknown[]; signal?: AbortSignal; hold?: (bytes: number) => boolean };

function open(t: Test, names: Record<string, string[]> = {}) {
  const asked: string[] = [];
  const resolve = (
    host: string,
    _options: unknown,
    callback: (error: NodeJS.ErrnoException | null, addresses?: LookupAddress[]) => void,
  ) => {
    asked.push(host);
    const address = names[host]?.shift();
    if (address === undefined) callback(Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND' }));
    else callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
  };
  const http = createPluginHttp({
    open: createAddressGuard({ allowedHosts: [], blockPrivate: true }, resolve),
    private: createAddressGuard({ allowedHosts: [], blockPrivate: false }, resolve),
  });
  t.teardown(() => http.close());
  const fetch = (url: string, { hosts = [], signal, hold = () => true, ...more }: Options = {}) =>
    http.fetch(
      { url: new URL(url), method: 'GET', headers: [], body: undefined, redirect: 'follow', ...more },
      {
        grants: hostGrantsOf(
          'p',
          hosts.map((host) => hostPermissionSchema.parse(host)),
        ),
        signal: signal ?? new AbortController().signal,
        hold,
      },
    );
  return { fetch, asked };
}

const inside = (host: string, more: object = {}) => ({ host, private: true, ...more });

t.test('an answer, as the server gave it', async (t) => {
  const server = await hostileHttp(t, {
    '/x': (_request, socket) =>
      socket.write(plain('héllo', '201 Made Up', ['x-a: 1', 'set-cookie: a=1', 'set-cookie: b=2'])),
  });
  const { fetch } = open(t);
  const answer = await fetch(`${server.url('/x?q=1')}#part`, {
    hosts: [inside(server.host)],
    method: 'POST',
    headers: [['X-Own', 'v']],
    body: Buffer.from('sent'),
  });
  t.match(answer, { url: server.url('/x?q=1'), redirected: false, status: 201, statusText: 'Made Up' });
  t.equal(answer.body.toString(), 'héllo');
  t.strictSame(
    answer.headers.filter(([name]) => name === 'set-cookie'),
    [
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ],
  );
  t.match(server.seen, [
    {
      line: 'POST /x?q=1 HTTP/1.1',
      body: 'sent',
      headers: { host: server.host, 'x-own': 'v', 'user-agent': 'isolayer-plugin', 'content-length': '4' },
    },
  ]);
  t.notOk('cookie' in (server.seen[0]?.headers ?? {}));
  await fetch(server.url('/x'), { hosts: [inside(server.host)] });
  t.notOk('cookie' in (server.seen[1]?.headers ?? {}), 'no cookie comes back');
});

t.test('private addresses only where the grant says so, metadata and link-local never', async (t) => {
  const server = await hostileHttp(t, { '/': (_request, socket) => socket.write(plain('in')) });
  const { fetch, asked } = open(t, { 'a.test': ['10.0.0.1'], 'b.test': ['127.0.0.1'], 'm.test': ['169.254.169.254'] });
  const refused = (url: string, hosts: unknown[], message: RegExp) =>
    t.rejects(
      fetch(url, { hosts }),
      { name: 'FetchFailure', kind: 'refused', unsent: true, message },
      `${url} ${String(message)}`,
    );
  await refused(server.url('/'), [], /no grant for requests/);
  await refused(server.url('/'), [server.host], new RegExp(`"host":"${server.host}","private":true`));
  await refused('http://a.test/', ['a.test'], /10\.0\.0\.1 is a private.*"private":true/);
  await refused('http://localhost/', ['localhost'], /private name.*"private":true/);
  await refused('http://0x7f.1/', ['127.0.0.1'], /"private":true/);
  await refused('http://[::ffff:127.0.0.1]/', ['[::ffff:127.0.0.1]'], /"private":true/);
  for (const host of [
    '169.254.169.254',
    '[fd00:ec2::254]',
    'metadata.google.internal',
    '0.0.0.0',
    '[::ffff:169.254.1.1]',
  ]) {
    await t.rejects(
      fetch(`http://${host}/`, { hosts: [inside(host)] }),
      { name: 'FetchFailure', kind: 'refused', unsent: true },
      host,
    );
  }
  await t.rejects(fetch('http://m.test/', { hosts: [inside('m.test')] }), {
    name: 'FetchFailure',
    kind: 'refused',
    message: /metadata|link-local/,
  });
  const named = { hosts: [inside(`b.test:${server.port}`)] };
  t.equal((await fetch(`http://b.test:${server.port}/`, named)).body.toString(), 'in');
  t.strictSame(asked, ['a.test', 'm.test', 'b.test'], 'each name is resolved once');
  t.equal(server.seen.length, 1);
});

t.test('a name that turns private between two requests is judged at each connection', async (t) => {
  const server = await hostileHttp(t, { '/': (_request, socket) => socket.write(plain('in')) });
  const { fetch, asked } = open(t, { 'rebind.test': ['127.0.0.1', '10.0.0.1'] });
  const host = `rebind.test:${server.port}`;
  await t.rejects(fetch(`http://${host}/`, { hosts: [host] }), { name: 'FetchFailure', kind: 'refused' });
  await t.rejects(fetch(`http://${host}/`, { hosts: [host] }), { name: 'FetchFailure', kind: 'refused' });
  t.equal(asked.length, 2);
  t.equal(server.seen.length, 0);
});

t.test('what was opened under a private grant serves no other one', async (t) => {
  const server = await hostileHttp(t, { '/': (_request, socket) => socket.write(plain('in')) });
  const { fetch } = open(t);
  await fetch(server.url('/'), { hosts: [inside(server.host)] });
  await t.rejects(fetch(server.url('/'), { hosts: [server.host] }), { name: 'FetchFailure', kind: 'refused' });
  t.equal(server.seen.length, 1);
});

t.test('every hop is judged by grants and guard', async (t) => {
  const other = await hostileHttp(t, {
    '/end': (request, socket) => socket.write(plain(JSON.stringify(request.headers))),
  });
  const server = await hostileHttp(t, {
    '/same': redirectTo('/end'),
    '/end': (_request, socket) => socket.write(plain('end')),
    '/other': redirectTo(other.url('/end'), '307 Temporary Redirect'),
    '/loopback': redirectTo('http://127.0.0.1:1/'),
    '/metadata': redirectTo('http://169.254.169.254/latest/meta-data'),
    '/loop': redirectTo('/loop'),
    '/file': redirectTo('file:///etc/passwd'),
  });
  const { fetch } = open(t);
  const hosts = [inside(server.host)];
  t.match(await fetch(server.url('/same'), { hosts }), { url: server.url('/end'), redirected: true, status: 200 });
  t.match(await fetch(server.url('/same'), { hosts, redirect: 'manual' }), { status: 302, redirected: false });
  await t.rejects(fetch(server.url('/other'), { hosts }), {
    name: 'FetchFailure',
    kind: 'refused',
    unsent: false,
    message: /no grant/,
  });
  await t.rejects(fetch(server.url('/loopback'), { hosts }), {
    name: 'FetchFailure',
    kind: 'refused',
    message: /no grant/,
  });
  await t.rejects(fetch(server.url('/metadata'), { hosts }), {
    name: 'FetchFailure',
    kind: 'refused',
    message: /no grant/,
  });
  await t.rejects(
    fetch(server.url('/metadata'), { hosts: [...hosts, inside('169.254.169.254')] }),
    { name: 'FetchFailure', kind: 'refused', unsent: false, message: /metadata|link-local/ },
    'also where somebody granted it',
  );
  await t.rejects(fetch(server.url('/loop'), { hosts }), {
    name: 'FetchFailure',
    kind: 'redirect',
    message: /more than 5/,
  });
  t.equal(server.seen.filter(({ line }) => line.includes('/loop ')).length, 6);
  await t.rejects(fetch(server.url('/file'), { hosts }), { name: 'FetchFailure', kind: 'redirect' });

  const both = [inside(server.host), inside(other.host)];
  const headers = [
    ['authorization', 'secret'],
    ['x-own', '1'],
  ] as const;
  const got = await fetch(server.url('/other'), { hosts: both, method: 'POST', headers, body: Buffer.from('b') });
  t.match(JSON.parse(got.body.toString()), { 'x-own': '1', 'content-length': '1' });
  t.notMatch(got.body.toString(), /secret/);
  const readOnly = [inside(server.host), inside(other.host, { methods: ['GET'] })];
  await t.rejects(fetch(server.url('/other'), { hosts: readOnly, method: 'POST' }), {
    name: 'FetchFailure',
    kind: 'refused',
    message: /with POST/,
  });
});

t.test('bodies, bombs and headers stay within their limits', { timeout: 60_000 }, async (t) => {
  const server = await hostileHttp(t, {
    '/endless': endless,
    '/bomb': gzipBomb(64 * 1_048_576),
    '/echo': ({ body }, socket) => socket.write(plain(String(body.length))),
    '/headers': (_request, socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      for (let index = 0; index < 2000; index++) socket.write(`x-${index}: ${'y'.repeat(100)}\r\n`);
      socket.write('\r\n');
    },
    '/short': (_request, socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nfew'),
    '/long': (_request, socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nfew and many more'),
    '/lies': (_request, socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 300\r\n\r\nfew'),
    '/garbage': (_request, socket) => socket.end('this is not HTTP\r\n\r\n'),
    '/notgzip': (_request, socket) => socket.write(plain('plain', '200 OK', ['content-encoding: gzip'])),
    '/codings': (_request, socket) => socket.write(plain('x', '200 OK', ['content-encoding: gzip, gzip, gzip, gzip'])),
    '/upgrade': (_request, socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    '/head': (_request, socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 5\r\n\r\n'),
    '/empty': (_request, socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'),
  });
  const { fetch } = open(t);
  const hosts = [inside(server.host, { max_bytes: 100_000 })];
  const fails = (path: string, kind: string, more: Options = {}) =>
    t.rejects(fetch(server.url(path), { hosts, ...more }), { name: 'FetchFailure', kind, unsent: false }, path);
  await fails('/endless', 'too-large');
  await fails('/bomb', 'too-large');
  await fails('/headers', 'too-large');
  await fails('/short', 'transport');
  await fails('/lies', 'transport');
  await fails('/garbage', 'transport');
  await fails('/notgzip', 'transport');
  await fails('/codings', 'transport');
  await fails('/upgrade', 'transport');
  t.equal((await fetch(server.url('/long'), { hosts }).catch((error: Error) => error)) instanceof Error, false);
  t.match(await fetch(server.url('/head'), { hosts, method: 'HEAD' }), { status: 200, body: Buffer.alloc(0) });
  t.match(await fetch(server.url('/empty'), { hosts }), { status: 204 });
  t.equal(
    (await fetch(server.url('/echo'), { hosts, method: 'POST', body: Buffer.alloc(100_000) })).body.toString(),
    '100000',
  );
  await t.rejects(fetch(server.url('/echo'), { hosts, method: 'POST', body: Buffer.alloc(100_001) }), {
    name: 'FetchFailure',
    kind: 'too-large',
    unsent: true,
  });
  let room = 10;
  const hold = (bytes: number) => (room -= bytes) >= 0;
  await fails('/endless', 'too-large', { hold });
  t.ok(server.closed.filter((path) => path === '/endless').length >= 1, 'the connection of a flood is closed');
});

t.test('time is limited over the whole exchange, and an abort ends it', async (t) => {
  let drip: NodeJS.Timeout | undefined;
  t.teardown(() => clearInterval(drip));
  const server = await hostileHttp(t, {
    '/silent': () => undefined,
    '/slow': (_request, socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n');
      drip = setInterval(() => socket.write('.'), 20);
    },
  });
  const { fetch } = open(t);
  const hosts = [inside(server.host, { timeout_ms: 150 })];
  await t.rejects(fetch(server.url('/silent'), { hosts }), {
    name: 'FetchFailure',
    kind: 'timeout',
    unsent: false,
    message: /150 ms/,
  });
  await t.rejects(
    fetch(server.url('/slow'), { hosts }),
    { name: 'FetchFailure', kind: 'timeout' },
    'bytes that trickle in buy no time',
  );
  const aborter = new AbortController();
  const aborted = fetch(server.url('/silent'), { hosts: [inside(server.host)], signal: aborter.signal });
  aborter.abort();
  await t.rejects(aborted, { name: 'FetchFailure', kind: 'aborted' });
  await t.rejects(fetch(server.url('/silent'), { hosts, signal: AbortSignal.abort() }), {
    name: 'FetchFailure',
    kind: 'aborted',
    unsent: true,
  });
});

t.test('a host that is not there is a failure before anything was sent', async (t) => {
  const { fetch } = open(t);
  await t.rejects(fetch('http://nobody.test/', { hosts: ['nobody.test'] }), {
    name: 'FetchFailure',
    kind: 'transport',
    unsent: true,
    message: /ENOTFOUND/,
  });
  await t.rejects(fetch('http://127.0.0.1:1/', { hosts: [inside('127.0.0.1:1')] }), {
    name: 'FetchFailure',
    kind: 'transport',
    unsent: true,
  });
  await t.rejects(fetch('http://127.0.0.1:1/', { hosts: [inside('127.0.0.1:1')], headers: [['host', 'x']] }), {
    name: 'FetchFailure',
    kind: 'invalid',
  });
});

t.test('redirect', async (t) => {
  const request = (more: Partial<FetchRequest> = {}): FetchRequest => ({
    url: new URL('https://a.test/one'),
    method: 'POST',
    headers: [
      ['authorization', 'secret'],
      ['cookie', 'c'],
      ['content-type', 'text/plain'],
      ['x-own', '1'],
    ],
    body: Buffer.from('body'),
    redirect: 'follow',
    ...more,
  });
  const names = (next: FetchRequest | undefined) => next?.headers.map(([name]) => name);

  t.test('what is no redirect is the answer', (t) => {
    t.equal(redirectRequest(request(), 200, '/two'), undefined);
    t.equal(redirectRequest(request(), 302, undefined), undefined);
    t.equal(redirectRequest(request(), 304, '/two'), undefined);
    t.equal(redirectRequest(request({ redirect: 'manual' }), 302, '/two'), undefined);
    t.end();
  });

  t.test('methods change as the standard says', (t) => {
    const method = (status: number, given: string) =>
      redirectRequest(request({ method: given }), status, '/two')?.method;
    t.strictSame(
      [301, 302, 303, 307, 308].map((status) => method(status, 'POST')),
      ['GET', 'GET', 'GET', 'POST', 'POST'],
    );
    t.strictSame(
      [301, 302, 303, 307].map((status) => method(status, 'PUT')),
      ['PUT', 'PUT', 'GET', 'PUT'],
    );
    t.strictSame(
      [301, 303].map((status) => method(status, 'HEAD')),
      ['HEAD', 'HEAD'],
    );
    const toGet = redirectRequest(request(), 303, '/two');
    t.equal(toGet?.url.href, 'https://a.test/two');
    t.equal(toGet?.body, undefined);
    t.strictSame(names(toGet), ['authorization', 'cookie', 'x-own'], 'what described the body went with it');
    t.equal(redirectRequest(request(), 307, '/two')?.body?.toString(), 'body');
    t.end();
  });

  t.test('credentials stay with their origin', (t) => {
    const others = ['https://b.test/', 'http://a.test/two', 'https://a.test:8443/', '//b.test/x'];
    for (const location of others) {
      t.strictSame(names(redirectRequest(request(), 307, location)), ['content-type', 'x-own'], location);
    }
    t.end();
  });

  t.test('places that nobody may be sent to', (t) => {
    for (const location of [
      'ftp://a.test/',
      'file:///etc/passwd',
      'https://user:pass@a.test/',
      'https://',
      'data:,x',
    ]) {
      t.throws(() => redirectRequest(request(), 302, location), { name: 'FetchFailure', kind: 'redirect' }, location);
    }
    t.throws(() => redirectRequest(request({ redirect: 'error' }), 302, '/two'), /forbids/);
    t.end();
  });
});

t.test('what a plugin leaves out is set, what it sets stays', (t) => {
  t.strictSame(fetchRequestHeaders([]), [
    ['user-agent', 'isolayer-plugin'],
    ['accept', '*/*'],
    ['accept-encoding', 'gzip, deflate, br'],
  ]);
  t.strictSame(
    fetchRequestHeaders([
      ['User-Agent', 'mine'],
      ['accept', 'a/b'],
      ['Range', 'bytes=0-1'],
      ['x', '1'],
      ['x', '2'],
    ]),
    [
      ['user-agent', 'mine'],
      ['accept', 'a/b'],
      ['range', 'bytes=0-1'],
      ['x', '1'],
      ['x', '2'],
      ['accept-encoding', 'identity'],
    ],
  );
  t.end();
});

t.test('nothing of the connection, no line break and no flood gets through', (t) => {
  const refused = (name: string, value = 'x') =>
    t.throws(() => fetchRequestHeaders([[name, value]]), { name: 'FetchFailure', kind: 'invalid', unsent: true });
  for (const name of [
    'Host',
    'connection',
    'Content-Length',
    'transfer-encoding',
    'Proxy-Authorization',
    'upgrade',
    'te',
    'expect',
    'via',
  ]) {
    refused(name);
  }
  for (const name of ['', 'a b', 'a:b', 'a\r\nb', 'é']) refused(name);
  for (const value of ['a\r\nhost: evil', 'a\nb', 'a\0b', '\u20ac', 'a\x7fb']) refused('x', value);
  t.throws(() => fetchRequestHeaders(Array.from({ length: 101 }, () => ['x', 'y'] as const)), /at most 100/);
  t.throws(() => fetchRequestHeaders([['x', 'y'.repeat(16_384)]]), /16384 bytes/);
  t.end();
});
