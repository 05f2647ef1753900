import { createHash } from 'node:crypto';
import t from 'tap';
import { startHttp } from '../../../../support/http-server.ts';

t.test('the page needs no key, may load nothing, and runs only its own script', async (t) => {
  const { url } = await startHttp(t);
  const answer = await fetch(`${url}/api-docs`);
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
  const policy = answer.headers.get('content-security-policy') ?? '';
  t.match(policy, "default-src 'none'");
  const html = await answer.text();
  for (const tag of ['script', 'style']) {
    const [, text = ''] = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(html) ?? [];
    t.match(
      policy,
      `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
      `the browser will take the ${tag}`,
    );
  }
});

t.test(
  'the document is JSON, also at a path with a slash too many; what merely begins alike is not public',
  async (t) => {
    const { url } = await startHttp(t);
    t.match(await (await fetch(`${url}/api-docs//openapi.json`)).json(), { openapi: '3.1.1' });
    t.equal((await fetch(`${url}/api-docsX`)).status, 401);
    t.equal((await fetch(`${url}/api-docs/other`)).status, 401);
  },
);
