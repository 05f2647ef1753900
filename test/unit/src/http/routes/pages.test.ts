import t from 'tap';
import { startHttp } from '../../../../support/http-server.ts';

t.test('pages are public and no part of the described interface', async (t) => {
  const { url } = await startHttp(t);
  const { paths } = (await (await fetch(`${url}/api-docs/openapi.json`)).json()) as { paths: Record<string, unknown> };
  t.strictSame(
    Object.keys(paths).filter((path) => !/^\/(api\/v1|plugins)\//.test(path)),
    ['/api-docs/openapi.json'],
  );
  t.equal((await fetch(url)).status, 200);
  t.equal((await fetch(url, { method: 'POST' })).status, 405);
});
