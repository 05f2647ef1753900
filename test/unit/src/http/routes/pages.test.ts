import t from 'tap';
import { startHttp } from '../../../../support/http-server.ts';

t.test('pages are public and no part of the described interface', async (t) => {
  const { url } = await startHttp(t);
  const { paths } = (await (await fetch(`${url}/api-docs/openapi.json`)).json()) as { paths: Record<string, unknown> };
  t.strictSame(
    Object.keys(paths).filter((path) => !/^\/(api\/v1|plugins)\//.test(path)),
    ['/api-docs/openapi.json'],
  );
  t.equal((await fetch(url, { headers: { accept: 'text/html,*/*;q=0.8' } })).status, 200);
  t.equal((await fetch(url, { method: 'POST' })).status, 405);
});

t.test('the address itself has a page for browsers, and for programs what it always had', async (t) => {
  const { url, call } = await startHttp(t);
  for (const accept of ['*/*', 'application/json']) {
    const stranger = await fetch(url, { headers: { accept } });
    t.match([stranger.status, await stranger.json()], [401, { success: false, message: 'Unauthorized' }], accept);
    t.match(await call('/', { headers: { accept } }), { status: 404, json: { success: false, data: null } }, accept);
  }
});
