import t from 'tap';
import { renderPage } from '../../../../../src/http/openapi/page.ts';
import { startHttp } from '../../../../support/http-server.ts';

t.test('every operation and every schema is on the page, and each link on it leads somewhere', async (t) => {
  const { call } = await startHttp(t);
  const { json } = await call('/api-docs/openapi.json');
  const html = renderPage(json as never);
  const { paths } = json as { paths: Record<string, Record<string, { operationId: string }>> };
  for (const { operationId } of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    t.match(html, `<details id="${operationId}"`);
  }
  const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  for (const [, target] of html.matchAll(/href="#([^"]+)"/g)) t.ok(ids.has(target), `#${target}`);
  t.notMatch(html, /(?:src|href)="(?:https?:)?\/\//, 'nothing is loaded from elsewhere');
  t.notMatch(html, /undefined|\[object/);
});

t.test('the examples work as pasted once the address is in them', async (t) => {
  const { call } = await startHttp(t);
  const html = renderPage((await call('/api-docs/openapi.json')).json as never);
  const [, example = ''] = /id="createNotification"[^]*?<pre>([^]*?)<\/pre>/.exec(html) ?? [];
  t.match(example, 'curl -X POST');
  t.match(example, '-H &quot;Authorization: Bearer $API_KEY&quot;');
  t.match(example, '<span class="base">http://127.0.0.1:8080</span>/api/v1/notifications');
});

t.test('what the description says is text, whatever is in it', (t) => {
  const nasty = '<script>alert(1)</script>';
  const html = renderPage({
    info: { title: nasty, description: nasty },
    tags: [],
    paths: {},
    components: { schemas: { A: { description: nasty } }, responses: {} },
  });
  t.notMatch(html, nasty);
  t.end();
});
