/** The pages that a browser gets from the service. The console's own tests check how they look. */
import t from 'tap';
import { startHttp } from '../support/http-server.ts';

t.test('the pages need no key; their script is whole with and without compression', async (t) => {
  const { url } = await startHttp(t);
  for (const path of ['/', '/api-docs']) {
    const answer = await fetch(`${url}${path}`, { headers: { accept: 'text/html' } });
    t.match(answer, { status: 200 });
    t.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
    t.match(answer.headers.get('content-security-policy'), "default-src 'none'");
    t.match(answer.headers.get('content-security-policy'), "frame-ancestors 'none'");
  }
  const texts = await Promise.all(
    ['gzip', 'identity'].map(async (encoding) => {
      const answer = await fetch(`${url}/api-docs/reference.js`, { headers: { 'accept-encoding': encoding } });
      t.equal(answer.headers.get('content-encoding'), encoding === 'gzip' ? 'gzip' : null);
      return await answer.text();
    }),
  );
  t.ok((texts[0] ?? '').length > 1_000_000);
  t.equal(texts[0], texts[1]);

  // An extra slash does not matter. A path that only starts the same is not public.
  t.match(await (await fetch(`${url}/api-docs//openapi.json`)).json(), { openapi: '3.1.1' });
  t.equal((await fetch(`${url}/api-docsX`)).status, 401);
  t.equal((await fetch(`${url}/api-docs/other`)).status, 401);
});
