import t from 'tap';
import { API_KEY, startHttp } from '../../../../support/http-server.ts';

const BROWSER = { headers: { accept: 'text/html' }, redirect: 'manual' } as const;

t.test('browsers are led to the console, which is whole with and without compression', async (t) => {
  const { url, call } = await startHttp(t, { hasConsole: true });
  const front = await fetch(url, BROWSER);
  t.match([front.status, front.headers.get('location')], [302, '/console']);
  t.equal((await call('/', { headers: { accept: 'application/json' } })).status, 404, 'programs are not');
  const page = await fetch(`${url}/console`);
  t.match(page.headers.get('content-security-policy'), /script-src 'self'; style-src 'self'/);
  const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(await page.text()) ?? [];
  const plain = await fetch(url + script, { headers: { 'accept-encoding': 'identity' } });
  const compressed = await fetch(url + script, { headers: { 'accept-encoding': 'gzip' } });
  t.match([plain.headers.get('content-encoding'), compressed.headers.get('content-encoding')], [null, 'gzip']);
  t.equal(await plain.text(), await compressed.text());
  t.equal((await fetch(`${url}/console/console.css`)).headers.get('content-type'), 'text/css; charset=utf-8');
});

t.test('where it is switched off there is nothing of it', async (t) => {
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
