/**
 * Threat: a plugin with network access floods it, uses it after its call, or passes tricky options. Or a server answers
 * a plugin with bombs, without end, or with redirects into the private network. Uses real threads and children.
 */
import { createHmac } from 'node:crypto';
import t, { type Test } from 'tap';
import { createAddressGuard } from '../../src/egress/address-guard.ts';
import { createPluginHttp } from '../../src/egress/fetch/plugin-http.ts';
import { eventually } from '../support/eventually.ts';
import { endless, gzipBomb, hostileHttp, plain, redirectTo } from '../support/hostile-http.ts';
import { fetchServiceOver } from '../support/no-plugin-http.ts';
import { type HostOptions, startPluginHost } from '../support/plugin-host.ts';
import { PluginServices } from '../support/plugin-services.ts';

/** A host whose plugins may fetch from one server of the test. */
async function open(t: Test, answers: Parameters<typeof hostileHttp>[1], options: HostOptions & { grant?: object }) {
  const server = await hostileHttp(t, answers);
  const http = createPluginHttp({
    open: createAddressGuard({ allowedHosts: [], blockPrivate: true }),
    private: createAddressGuard({ allowedHosts: [], blockPrivate: false }),
  });
  t.teardown(() => http.close());
  const { grant = {}, ...more } = options;
  const host = { host: server.host, private: true, ...grant };
  const services = new PluginServices();
  services.fetch = fetchServiceOver(http);
  const ids = Object.keys(more.files ?? {}).map((file) => file.replace('.ts', ''));
  // Wide limits, because the machine may have other work.
  const limits = { slice_ms: 10_000, cpu_ms: 20_000 } as never;
  const permissions = { relayers: {}, hosts: [host], env: [], kv: true } as never;
  const running = await startPluginHost({
    ...more,
    services,
    entries: ids.map((id) => ({ id, permissions, limits })),
  });
  t.teardown(() => running.close());
  return { ...running, server };
}

t.test(
  'a plugin that works as real ones do: signed requests, JSON, forms, pages of bytes',
  { timeout: 60_000 },
  async (t) => {
    const bytes = Buffer.from(Array.from({ length: 900_000 }, (_, index) => index % 251));
    const { call, server, metrics } = await open(
      t,
      {
        '/signed': ({ headers, body: characters }, socket) => {
          const body = Buffer.from(characters, 'latin1').toString();
          const expected = createHmac('sha256', 'the key').update(body).digest('hex');
          const isSigned = headers['x-signature'] === expected;
          socket.write(
            plain(JSON.stringify({ isSigned, body: JSON.parse(body) }), isSigned ? '200 OK' : '401 No', [
              'retry-after: 7',
            ]),
          );
        },
        '/bytes': (_request, socket) => {
          socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${bytes.length}\r\n\r\n`);
          socket.write(bytes);
        },
        '/form': ({ headers, body }, socket) => socket.write(plain(JSON.stringify([headers['content-type'], body]))),
        '/moved': redirectTo('/form', '303 See Other'),
      },
      {
        grant: { max_bytes: 1_000_000 },
        files: {
          'client.ts': `
          import type { PluginContext } from '@openzeppelin/relayer-sdk';
          export async function handler({ params }: PluginContext) {
            const text = JSON.stringify({ amount: '1', memo: 'é' });
            const key = await crypto.subtle.importKey('raw', Buffer.from('the key'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
            const signature = Buffer.from(await crypto.subtle.sign('HMAC', key, Buffer.from(text))).toString('hex');
            const signed = await fetch(new URL('/signed', params.base), {
              method: 'POST', body: text, headers: { 'content-type': 'application/json', 'x-signature': signature },
            });
            const page = await fetch(params.base + '/bytes');
            let length = 0, sum = 0;
            for await (const piece of page.body!) { length += piece.length; for (const byte of piece) sum += byte; }
            const form = new FormData();
            form.append('file', new Blob([Uint8Array.of(1, 2)], { type: 'x/y' }), 'f.bin');
            const sent = await (await fetch(params.base + '/form', { method: 'PUT', body: form })).json();
            const moved = await fetch(params.base + '/moved', { method: 'POST', body: 'gone' });
            return {
              signed: [signed.status, signed.ok, signed.headers.get('retry-after'), await signed.json()],
              page: [length, sum],
              form: [sent[0].startsWith('multipart/form-data; boundary='), sent[1].includes('filename="f.bin"')],
              moved: [moved.redirected, moved.url.endsWith('/form'), (await moved.json())[1]],
            };
          }`,
        },
      },
    );
    const { status, body } = await call('client', { base: `http://${server.host}` });
    t.equal(status, 200, JSON.stringify(body));
    t.same(body.data, {
      signed: [200, true, '7', { isSigned: true, body: { amount: '1', memo: 'é' } }],
      page: [bytes.length, bytes.reduce((sum, byte) => sum + byte, 0)],
      form: [true, true],
      moved: [true, true, ''],
    });
    t.ok(metrics.of('plugin_capability_calls').includes('client fetch ok'));
    t.equal(server.seen[0]?.headers['user-agent'], 'isolayer-plugin');
  },
);

t.test('a refusal is a TypeError that names the line, and the log says it', async (t) => {
  const { call, log, server } = await open(
    t,
    {},
    {
      files: {
        'asker.ts': `export const handler = async ({ params }) => {
        try { return (await fetch(params.url)).status; } catch (error) { return [error instanceof TypeError, error.message]; }
      };`,
      },
    },
  );
  const ask = async (url: string) => (await call('asker', { url })).body.data;
  t.same(await ask('https://other.test:8443/x'), [
    true,
    'Plugin asker has no grant for requests to other.test:8443: add "other.test:8443" to permissions.hosts of its entry in config.json',
  ]);
  t.match(log(), /no grant for requests to other\.test/);
  t.match(await ask(`http://localhost:${server.port}/`), [true, /no grant/]);
  t.match(await ask('file:///etc/passwd'), [true, /http or https/]);
  t.equal(await ask(server.url('/nothing')), 404);
});

t.test('hostile servers cost their own fetch, within its limits', { timeout: 60_000 }, async (t) => {
  const { call, server } = await open(
    t,
    {
      '/endless': endless,
      '/bomb': gzipBomb(256 * 1_048_576),
      '/silent': () => undefined,
      '/inside': redirectTo('http://127.0.0.1:1/'),
      '/metadata': redirectTo('http://169.254.169.254/latest/'),
      '/short': (_request, socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx'),
      '/fine': (_request, socket) => socket.write(plain('fine')),
    },
    {
      grant: { max_bytes: 100_000, timeout_ms: 500 },
      files: {
        'reader.ts': `export const handler = ({ params }) => Promise.all(params.paths.map(async (path) => {
          try { return await (await fetch(params.base + path)).text(); } catch (error) { return error.message; }
        }));`,
      },
    },
  );
  const paths = ['/endless', '/bomb', '/silent', '/inside', '/metadata', '/short', '/fine'];
  const before = process.memoryUsage.rss();
  const { body } = await call('reader', { base: `http://${server.host}`, paths });
  t.match(body.data, [
    /larger than 100000 bytes/,
    /larger than 100000 bytes/,
    /no answer within 500 ms/,
    /no grant for requests to 127\.0\.0\.1:1/,
    /no grant for requests to 169\.254\.169\.254/,
    /connection to .* failed/,
    'fine',
  ]);
  t.ok(process.memoryUsage.rss() - before < 128 * 1_048_576, 'and never takes what it did not give');
});

t.test('a plugin that fetches without end is ended by its own limits', { timeout: 60_000 }, async (t) => {
  const silent = Promise.withResolvers<void>();
  const { call, server } = await open(
    t,
    {
      '/': (_request, socket) => socket.write(plain('x')),
      '/silent': () => silent.resolve(),
      '/told': (_request, socket) => void silent.promise.then(() => socket.write(plain('x'))),
    },
    {
      files: {
        'flood.ts': `export const handler = async ({ params }) => {
          const all = Array.from({ length: params.count }, () => fetch(params.url).then((r) => r.status, (error) => error.message));
          const seen = {};
          for (const one of await Promise.all(all)) seen[one] = (seen[one] ?? 0) + 1;
          return seen;
        };`,
        'large.ts': `export const handler = async ({ params }) => {
          const tries = ['x'.repeat(100_000_000), new Uint8Array(50_000_000), new Blob([new Uint8Array(2_000_000)])];
          const said = [];
          for (const body of tries) said.push(await fetch(params.url, { method: 'POST', body }).then(String, (error) => error.message));
          return said;
        };`,
        'late.ts': `export const handler = async ({ params }) => {
          void fetch(params.silent).catch(() => undefined);
          await fetch(params.told);
          // Both come after the end, however slow the machine is.
          const late = () => fetch(params.url + '?late').catch(() => undefined);
          setTimeout(late, 1);
          void (async () => { for (let turn = 0; turn < 100; turn += 1) await null; await late(); })();
          return 'done';
        };`,
      },
    },
  );
  const url = server.url('/');
  const flooded = await call('flood', { url, count: 1_100 });
  t.match(flooded, { status: 500, body: { data: { code: 'CALL_LIMIT' } } });
  t.ok(server.seen.length <= 256, `${server.seen.length} requests left`);
  const many = await call('flood', { url, count: 300 });
  t.match(many.body.data, { 200: 256, 'more than 256 capability calls are waiting for their answers': 44 });

  const large = await call('large', { url });
  t.same(new Set(large.body.data), new Set(['fetch sends at most 750000 bytes']), JSON.stringify(large.body));
  // Some of the flood may still arrive. Only a POST would be wrong.
  t.notOk(server.seen.some(({ line }) => line.startsWith('POST')));

  const places = { url, silent: server.url('/silent'), told: server.url('/told') };
  t.equal((await call('late', places)).body.data, 'done');
  t.ok(await eventually(() => server.closed.includes('/silent'), Boolean), 'what a call leaves open is closed');
  t.same((await call('flood', { url, count: 1 })).body.data, { 200: 1 }, 'the plugin still serves');
  t.notOk(server.seen.some(({ line }) => line.includes('late')));
});

t.test(
  'tricks on options, prototypes and classes give nothing that was not granted',
  { timeout: 60_000 },
  async (t) => {
    const { call, server } = await open(
      t,
      { '/': (request, socket) => socket.write(plain(JSON.stringify(request))) },
      {
        grant: { methods: ['GET'] },
        files: {
          'tricks.ts': `export const handler = async ({ params }) => {
          const said = {};
          const attempt = async (name, work) => { try { said[name] = await work(); } catch (error) { said[name] = error.message; } };
          let reads = 0;
          await attempt('changing method', () => fetch(params.url, { get method() { return reads++ ? 'POST' : 'GET'; } }).then((r) => r.json()).then(({ line }) => line));
          await attempt('changing url', () => { let n = 0; return fetch({ toString: () => (n++ ? 'http://other.test/' : params.url) }).then((r) => r.status); });
          await attempt('toJSON', () => { Object.prototype.toJSON = () => ({ url: 'http://other.test/' }); return fetch(params.url).then((r) => r.status).finally(() => delete Object.prototype.toJSON); });
          await attempt('header split', () => fetch(params.url, { headers: { a: 'b\\r\\nhost: evil' } }));
          await attempt('own host', () => fetch(params.url, { headers: { host: 'evil', 'transfer-encoding': 'chunked' } }).then((r) => r.json()).then(({ headers }) => [headers.host, headers['transfer-encoding'] ?? null]));
          await attempt('proxied', () => fetch(params.url, new Proxy({}, { get: (_, key) => (key === 'method' ? 'DELETE' : undefined) })));
          await attempt('subclassed', () => fetch(new (class extends Request { get url() { return 'http://other.test/'; } })(params.url)).then((r) => r.status));
          await attempt('userinfo', () => fetch('http://' + params.host + '@other.test/'));
          await attempt('other spelling', () => fetch('http://other.test\\\\@' + params.host + '/'));
          return said;
        };`,
        },
      },
    );
    const { body } = await call('tricks', { url: server.url('/'), host: server.host });
    t.match(body.data, {
      'changing method': 'GET / HTTP/1.1',
      'changing url': 200,
      toJSON: /object is not extensible/,
      'header split': /line break/,
      'own host': [server.host, null],
      proxied: /with DELETE/,
      subclassed: 200,
      userinfo: /credentials/,
      'other spelling': /no grant for requests to other\.test/,
    });
    t.notOk(server.seen.some(({ line }) => !line.startsWith('GET / ')));
  },
);
