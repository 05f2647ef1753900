import { createHash } from 'node:crypto';
import t from 'tap';
import { escapeHtml } from '../../../../../src/http/pages/page.ts';
import { API_KEY, startHttp } from '../../../../support/http-server.ts';

const BROWSER = { headers: { accept: 'text/html,*/*;q=0.8' }, redirect: 'manual' } as const;
const GZIP = { headers: { 'accept-encoding': 'gzip' } };

t.test('pages are public and no part of the described API', async (t) => {
  const { url } = await startHttp(t);
  const { paths } = (await (await fetch(`${url}/api-docs/openapi.json`)).json()) as { paths: Record<string, unknown> };
  t.strictSame(
    Object.keys(paths).filter((path) => !/^\/(api\/v1|plugins)\//.test(path)),
    ['/api-docs/openapi.json'],
  );
  t.equal((await fetch(url, { method: 'POST' })).status, 405);
});

t.test(
  'the root has a page for browsers, with the state of each component only, and an error for programs',
  async (t) => {
    const store = () => ({ status: 'unhealthy' as const, error: '<b>no disk</b>' });
    const { url, call } = await startHttp(t, { checks: { store } });
    const page = await fetch(url, BROWSER);
    t.equal(page.status, 200);
    const html = await page.text();
    t.match(html, '<td>store</td><td><span class="unhealthy">unhealthy</span></td>');
    t.notMatch(html, 'no disk', 'the page needs no key');
    for (const accept of ['*/*', 'application/json']) {
      const stranger = await fetch(url, { headers: { accept } });
      t.match([stranger.status, await stranger.json()], [401, { success: false, message: 'Unauthorized' }], accept);
      t.match(await call('/', { headers: { accept } }), { status: 404, json: { success: false, data: null } }, accept);
    }
    t.equal(escapeHtml(`<a href="x" title='y'>&`), '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;');
  },
);

t.test('the API reference runs its own two scripts and loads nothing from elsewhere', async (t) => {
  const { url } = await startHttp(t);
  const page = await fetch(`${url}/api-docs`);
  const policy = page.headers.get('content-security-policy') ?? '';
  const [, source = '', inline = ''] =
    /<script src="([^"]+)"><\/script><script>([^]*?)<\/script>/.exec(await page.text()) ?? [];
  t.match(inline, 'Scalar.createApiReference');
  // As browsers compute it: https://www.w3.org/TR/CSP3/#external-hash.
  const digest = createHash('sha256').update(inline).digest('base64');
  t.match(policy, `script-src 'self' 'sha256-${digest}';`);
  t.notMatch(policy, /https?:/);
  const script = await fetch(url + source, GZIP);
  t.equal(script.headers.get('content-encoding'), 'gzip');
  const text = await script.text();
  t.match(text, 'createApiReference');
  const plain = await fetch(url + source, { headers: { 'accept-encoding': 'identity' } });
  t.equal(plain.headers.get('content-encoding'), null);
  t.ok(text === (await plain.text()));
  // A path that only starts the same is not public.
  for (const path of ['/api-docsX', '/api-docs/other']) t.equal((await fetch(url + path)).status, 401, path);
});

t.test(
  'the console is whole with and without compression, small, and has nothing inline or from elsewhere',
  async (t) => {
    const { url, call } = await startHttp(t, { hasConsole: true });
    const front = await fetch(url, BROWSER);
    t.match([front.status, front.headers.get('location')], [302, '/console']);
    t.equal((await call('/', { headers: { accept: 'application/json' } })).status, 404, 'programs are not sent there');
    const page = await fetch(`${url}/console`);
    const policy = page.headers.get('content-security-policy') ?? '';
    t.match(policy, /^default-src 'none'; .*frame-ancestors 'none'.*script-src 'self'; style-src 'self'/);
    t.notMatch(policy, /unsafe|https?:|\*/);
    const html = await page.text();
    t.notMatch(html, /<style|<script[^>]*>[^<]|https?:|\son\w+=/);
    const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(html) ?? [];
    const plain = await (await fetch(url + script, { headers: { 'accept-encoding': 'identity' } })).text();
    const style = await fetch(`${url}/console/console.css`, GZIP);
    t.equal(style.headers.get('content-type'), 'text/css; charset=utf-8');
    t.match(await style.text(), '--accent');
    const compressed = await fetch(url + script, GZIP);
    t.equal(compressed.headers.get('content-encoding'), 'gzip');
    t.equal(await compressed.text(), plain);
    const size = [compressed, style].reduce((sum, { headers }) => sum + Number(headers.get('content-length')), 0);
    t.ok(size > 0 && size < 60_000, `${size} bytes`);
    t.notMatch(plain, 'ZodError', 'what judges permissions comes without the schemas');
  },
);

t.test('where the console is switched off there is nothing of it', async (t) => {
  const { url } = await startHttp(t);
  t.equal((await fetch(url, BROWSER)).status, 200);
  for (const path of ['/console', '/console/console.js']) t.equal((await fetch(url + path)).status, 401, path);
});

t.test('a code is exchanged for the key once, by a page of the service on this machine only', async (t) => {
  const { url, post, signInCode, lines } = await startHttp(t, { hasConsole: true });
  const exchange = async (code: string, headers = {}) =>
    await fetch(`${url}/console/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ code }),
    });
  const code = signInCode.make();
  const strangers = [{ 'x-forwarded-for': '192.0.2.1' }, { via: '1.1 proxy' }, { origin: 'https://elsewhere.example' }];
  for (const headers of strangers) t.equal((await exchange(code, headers)).status, 401, JSON.stringify(headers));
  t.equal((await exchange(`${code}x`)).status, 401);
  const first = await exchange(code, { origin: url });
  t.match(await first.json(), { success: true, data: { key: API_KEY } });
  t.equal(first.headers.get('cache-control'), 'no-store');
  t.equal((await exchange(code)).status, 401, 'once');
  t.equal((await post('/console/sign-in', '{}')).status, 401);
  t.notMatch(lines.join(''), code);
});
