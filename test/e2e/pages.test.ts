/** What somebody sees who opens the service in a browser: judged in one, on a wide screen and on a phone. */
import type { Browser, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { HAS_BROWSER, openBrowser } from '../support/browser.ts';
import { startHttp } from '../support/http-server.ts';

const SCREENS = { wide: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

/** Opens a page, and notes whatever the browser refuses, reports or asks elsewhere. */
async function open(browser: Browser, url: string, viewport: { width: number; height: number }, faults: string[]) {
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  const isOwn = (address: string) => address.startsWith(url) || /^(data|blob):/.test(address);
  page.on('request', (request) => isOwn(request.url()) || faults.push(`asked ${request.url()}`));
  return page;
}

async function fits(t: Test, page: Page): Promise<void> {
  const width = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
  t.equal(width, 0, 'nothing sticks out to the side');
}

t.test('the pages of the service in a browser', { timeout: 150_000 }, async (t) => {
  if (!HAS_BROWSER) return void t.pass('there is no browser for this system');
  const { url } = await startHttp(t);
  const browser = await openBrowser(t);
  const faults: string[] = [];

  for (const [name, viewport] of Object.entries(SCREENS)) {
    const page = await open(browser, url, viewport, faults);
    await page.goto(url);
    t.match(await page.textContent('body'), /It is healthy/, `${name}: the front page says how the service is`);
    await fits(t, page);
    await page.click('a[href="/api-docs"]');
    await page.getByRole('heading', { name: 'Isolayer' }).waitFor();
    t.notMatch(await page.textContent('body'), '`', 'no backquote is left in the texts');
    await fits(t, page);
  }

  const page = await open(browser, url, SCREENS.wide, faults);
  await page.goto(`${url}/api-docs`);
  await page
    .getByRole('button', { name: /search/i })
    .first()
    .click();
  await page.getByRole('combobox').fill('webhook');
  const found = page.getByRole('option', { name: /webhook/i });
  await found.first().waitFor();
  t.ok((await found.count()) >= 4, 'the search finds what is about webhooks');
  await found.filter({ hasText: 'One webhook notification' }).first().click();
  const call = page.locator('pre', { hasText: '/api/v1/notifications/accounting' }).first();
  await call.waitFor();
  t.match(await call.textContent(), /curl .*\/api\/v1\/notifications\/accounting/s, 'a call to paste has no {id}');
  t.strictSame(faults, []);
});

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
});

t.test('the description is JSON, also at a path with a slash too many; what begins alike is not public', async (t) => {
  const { url } = await startHttp(t);
  t.match(await (await fetch(`${url}/api-docs//openapi.json`)).json(), { openapi: '3.1.1' });
  t.equal((await fetch(`${url}/api-docsX`)).status, 401);
  t.equal((await fetch(`${url}/api-docs/other`)).status, 401);
});
