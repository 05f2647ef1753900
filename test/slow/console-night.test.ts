/** The console during faults of the service, a plugin or a key, and for users without a mouse. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { HAS_BROWSER } from '../support/browser.ts';
import { consoleScene } from '../support/console-scene.ts';
import { firstView } from '../support/first-view.ts';
import { startHttp } from '../support/http-server.ts';

const STACK = /at handler \(plugins\/fails\.ts:\d+/;

const SCREENS = { wide: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

/** Opens a page. Records errors, refused requests and requests to other hosts. */
async function open(browser: Browser, url: string, viewport: { width: number; height: number }, faults: string[]) {
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  // Longer than a busy machine takes.
  page.setDefaultTimeout(90_000);
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

t.test('the console when something is wrong', { timeout: 230_000 }, async (t) => {
  if (!HAS_BROWSER) return void t.pass('there is no browser for this system');
  const scene = await consoleScene(t);
  const { service, anvil, url } = scene;
  const request = async (method: string, path: string, body?: unknown) =>
    (await service.request(method, `/api/v1${path}`, body)).body.data;
  const send = async () =>
    await request('POST', '/relayers/local-1/transactions', {
      to: `0x${'1'.repeat(40)}`,
      value: '1',
      data: '0x',
      gas_limit: 21_000,
      speed: 'fast',
    });
  const page = await scene.signedIn();
  const answered = async (path: string, status: number, body: unknown, then: (page: Page) => Promise<void>) => {
    await page.route(path, (route) =>
      route.fulfill({ status, contentType: 'application/json', body: JSON.stringify(body) }),
    );
    await page.goto(`${url}/console`);
    await then(page);
    await page.unroute(path);
  };

  await t.test('it says nothing of what it has not seen, and what the service says of itself', async (t) => {
    const needs = page.locator('section.needs');
    await needs.getByText('Nothing. 1 relayer and 3 plugins are healthy.').waitFor();
    const database = { status: 'unhealthy', error: 'no answer' };
    const report = { ready: false, status: 'unhealthy', reason: 'database: no answer', components: { database } };
    await answered('**/api/v1/ready', 503, { ...report, timestamp: 'now' }, async () => {
      await needs.getByText('The service is not ready: database: no answer.').waitFor();
      t.match(await needs.getByRole('listitem').textContent(), /unhealthy database no answer/);
    });
    const failure = { success: false, data: null, error: 'Out of order', code: 'INTERNAL' };
    for (const path of ['**/api/v1/relayers**', '**/api/v1/plugins**', '**/api/v1/ready']) {
      await answered(path, 500, failure, async () => {
        await needs.getByRole('alert').getByText('Out of order').waitFor();
        t.notMatch(await needs.textContent(), /fine|Loading/, path);
      });
    }
  });

  await t.test('what needs attention, and a relayer among many, is found by the service', async (t) => {
    const asked: string[] = [];
    page.on('request', (request) => request.url().includes('/relayers?') && asked.push(request.url()));
    await request('PATCH', '/relayers/local-1', { paused: true });
    await page.reload();
    const needs = page.locator('section.needs');
    await needs.getByRole('link', { name: 'Local relayer' }).waitFor();
    t.match(await needs.getByRole('listitem').textContent(), /^paused Local relayer/);
    t.ok(asked.length >= 2 && asked.every((path) => path.includes('state=')), 'not all of them are read');

    await page.goto(`${url}/console#/relayers`);
    const row = page.getByRole('table', { name: 'Relayers' }).getByRole('link', { name: 'Local relayer' });
    const none = page.getByText('No relayer matches.');
    const find = page.getByLabel('Find relayers by id, name, address or network');
    await row.waitFor();
    for (const [text, state, seen] of [
      ['nowhere', '', none],
      ['LOCAL REL', '', row],
      ['LOCAL REL', 'active', none],
      ['LOCAL REL', 'paused or disabled', row],
    ] as const) {
      await find.fill(text);
      await find.press('Enter');
      if (state !== '') await page.getByLabel('State').selectOption(state);
      await seen.waitFor();
    }
    await request('PATCH', '/relayers/local-1', { paused: false });
  });

  await t.test('the stack of a failing plugin is read where it was called, and where its calls are', async (t) => {
    await page.goto(`${url}/console#/plugins/fails`);
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    const log = page.getByRole('list', { name: 'Calls and logs' });
    await log.getByText(STACK).waitFor();
    const form = page.locator('form.call');
    await form.getByText(STACK).waitFor();
    t.match(await form.textContent(), /500: out of stock/);
    await page.reload();
    await log.getByText(STACK).waitFor();
    t.match(await log.textContent(), /\n +at handler/, 'line by line');
  });

  await t.test('a list keeps up with payments that come faster than it is read', async (t) => {
    await page.goto(`${url}/console#/transactions/local-1`);
    await page.getByText('Nothing was sent yet.').waitFor();
    const stopping = new AbortController();
    const sending = (async () => {
      while (!stopping.signal.aborted) {
        await send();
        await delay(100);
      }
    })();
    // The console does not wait for a pause between payments.
    const rows = page.getByRole('table', { name: 'Transactions' }).getByRole('row');
    for (const count of [5, 10, 15]) {
      await rows.nth(count).waitFor();
      t.ok((await rows.count()) > count, `${count} of them, while more come`);
    }
    stopping.abort();
    await sending;
    await page.getByRole('table').getByText('submitted').first().waitFor({ state: 'detached' });
  });

  await t.test('a key that may read relayers has no other pages, and no button that sends or changes', async (t) => {
    await anvil.rpc('evm_setAutomine', [false]);
    const { id } = await send();
    const { key } = await request('POST', '/api-keys', { name: 'Reader', permissions: ['relayers:*:read'] });
    const reader = await scene.signedIn({ key, at: `transactions/local-1/${id}` });
    const links = reader.getByRole('navigation', { name: 'Main' });
    t.strictSame(await links.getByRole('link').allTextContents(), ['Overview', 'Transactions', 'Relayers']);
    const cancel = reader.getByRole('button', { name: 'Cancel' });
    await cancel.waitFor();
    t.equal(await cancel.getAttribute('title'), 'Your key lacks the permission relayers:local-1:send');
    const offered = async () => await reader.locator('main button:enabled').allTextContents();
    t.strictSame(await offered(), []);
    await reader.goto(`${url}/console#/relayers/local-1`);
    await reader.getByRole('button', { name: 'Pause' }).waitFor();
    t.strictSame(await offered(), []);
    await reader.goto(`${url}/console#/webhooks`);
    await reader.getByText('Your key lacks the permission notifications:read').waitFor();
    await reader.context().close();
  });

  await t.test('what a key may not see is not asked for, and keys that it may not revoke keep theirs', async (t) => {
    const permissions = ['relayers:*:read', 'networks:read', 'api-keys:write'];
    const { key } = await request('POST', '/api-keys', { name: 'Keeper', permissions });
    const { id } = await send();
    const keeper = await scene.signedIn({ key, at: `transactions/local-1/${id}` });
    const refused: string[] = [];
    keeper.on('response', (response) => response.status() >= 400 && refused.push(response.url()));
    await keeper.getByText('Your key lacks the permission notifications:read').waitFor();
    await keeper.goto(`${url}/console#/networks`);
    await keeper.getByRole('row').filter({ hasText: 'local' }).getByText(anvil.url).waitFor();
    await keeper.goto(`${url}/console#/keys`);
    const rows = keeper.getByRole('table', { name: 'API keys' }).getByRole('row');
    await rows.filter({ hasText: 'Keeper' }).waitFor();
    await keeper.getByText('Your key lacks the permission audit:read').waitFor();
    t.strictSame(refused, []);
    t.equal(await rows.filter({ hasText: 'default' }).getByRole('button').count(), 0, 'that of the environment');
    t.ok(await rows.filter({ hasText: 'Keeper' }).getByRole('button', { name: 'Revoke' }).isEnabled());
    const { name } = await request('POST', '/api-keys', { name: 'Hooks', permissions: ['notifications:read'] });
    await keeper.getByRole('link', { name: 'Networks' }).click();
    await keeper.getByRole('link', { name: 'Keys and audit' }).click();
    const beyond = rows.filter({ hasText: name }).getByRole('button', { name: 'Revoke' });
    await beyond.waitFor();
    t.equal(await beyond.getAttribute('title'), 'Your key lacks the permission notifications:read');
    await keeper.context().close();
  });

  await t.test('a key that may do less than when it signed in is told so, and not offered it again', async (t) => {
    const { id } = await send();
    const made = await request('POST', '/api-keys', { name: 'Sender', permissions: ['relayers:local-1:send'] });
    const sender = await scene.signedIn({ key: made.key, at: `transactions/local-1/${id}` });
    const cancel = sender.getByRole('button', { name: 'Cancel' });
    await cancel.waitFor();
    t.ok(await cancel.isEnabled());
    await request('PATCH', `/api-keys/${made.id}`, { permissions: ['relayers:local-1:read'] });
    await cancel.click();
    await sender.getByRole('button', { name: 'Yes' }).click();
    await sender.getByRole('alert').getByText('The API key has no permission relayers:local-1:send').waitFor();
    await sender.getByTitle('Your key lacks the permission relayers:local-1:send').first().waitFor();
    t.ok(await cancel.isDisabled());
    await sender.context().close();
  });

  await t.test('a payment is canceled by keyboard alone', async (t) => {
    const focused = async () => String(await page.evaluate('document.activeElement.textContent'));
    const tabTo = async (name: string) => {
      const passed: string[] = [];
      for (let at = ''; at !== name; passed.push(at)) {
        if (passed.length > 60) throw new Error(`no ${name} among ${passed.join(', ')}`);
        await page.keyboard.press('Tab');
        at = await focused();
      }
      return passed;
    };
    const { id } = await send();
    await page.goto(`${url}/console`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await tabTo('Transactions');
    await page.keyboard.press('Enter');
    const link = page.getByRole('link', { name: id.slice(-8) });
    await link.waitFor();
    await tabTo((await link.textContent()) ?? '');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    t.match(
      (await tabTo('Cancel')).slice(-2),
      ['Transactions of local-1', 'Cancel'],
      'in the order in which one reads',
    );
    await page.keyboard.press('Enter');
    t.equal(await focused(), 'Yes');
    await page.keyboard.press('Tab');
    t.equal(await focused(), 'No');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByText('cancel requested').waitFor();
    t.not(await page.evaluate('document.activeElement.tagName'), 'BODY', 'the keyboard stays where it was');
    await anvil.rpc('evm_setAutomine', [true]);
    await anvil.rpc('evm_mine', []);
  });

  await t.test('two hundred plugins are a list like another', async (t) => {
    const [one] = await request('GET', '/plugins');
    const many = Array.from({ length: 200 }, (_, at) => ({
      ...one,
      id: `plugin-${at}`,
      last_hour: { ...one.last_hour, cpu_ms: at, calls: 200 - at },
    }));
    const pagination = { current_page: 1, per_page: 500, total_items: 200 };
    await page.route('**/api/v1/plugins**', (route) =>
      route.fulfill({ json: { success: true, data: many, error: null, pagination } }),
    );
    await page.goto(`${url}/console#/plugins`);
    const first = page.getByRole('table', { name: 'Plugins' }).getByRole('row').nth(1);
    await first.getByText('plugin-199').waitFor();
    await page.getByRole('combobox').selectOption('number of calls');
    await first.getByText('plugin-0').waitFor();
    t.equal(await page.getByRole('table', { name: 'Plugins' }).getByRole('row').count(), 201);
    await page.unroute('**/api/v1/plugins**');
  });

  await t.test('lists that are longer than a page lead to their ends', async (t) => {
    const leads = async (path: string, ends: readonly [string, string]) => {
      await page.goto(`${url}/console#/${path}`);
      const main = page.getByRole('main');
      await main.getByText(ends[0], { exact: true }).first().waitFor();
      t.equal(await main.getByText(ends[1], { exact: true }).count(), 0, `${path}: the end is further on`);
      await main.getByRole('button', { name: 'Next' }).click();
      await main.getByText(ends[1], { exact: true }).first().waitFor();
      t.ok(await main.getByRole('button', { name: 'Next' }).isDisabled());
    };
    const hundred = Array.from({ length: 100 }, (_, at) => at);
    for (const at of hundred) {
      await request('POST', '/api-keys', { name: `Key ${at}`, permissions: ['audit:read'] });
      await request('POST', '/notifications', { id: `hook-${at}`, type: 'webhook', url: 'https://example.com/' });
    }
    await leads('keys', ['Key 99', 'Reader']);
    await leads('webhooks', ['hook-99', 'shop']);
    // Lists from a fake answer, because the service would take long to create so many.
    for (const kind of ['relayers', 'plugins']) {
      const [one] = await request('GET', `/${kind}`);
      const all = Array.from({ length: 501 }, (_, at) => ({ ...one, id: `${at}`, name: `${at}` }));
      await page.route(`**/api/v1/${kind}?**`, (route) => {
        const asked = new URL(route.request().url()).searchParams;
        const [number, size] = [Number(asked.get('page') ?? 1), Number(asked.get('per_page'))];
        const pagination = { current_page: number, per_page: size, total_items: all.length };
        const data = all.slice((number - 1) * size, number * size);
        return route.fulfill({ json: { success: true, data, error: null, pagination } });
      });
    }
    for (const path of ['relayers', 'transactions', 'plugins']) await leads(path, ['7', '500']);
    await page.unrouteAll({ behavior: 'wait' });
  });

  await t.test('the first view is there soon, in whatever language', async (t) => {
    const language = `Object.defineProperty(navigator, 'language', { get: () => 'en-US@posix', configurable: true })`;
    const { afterHtmlMs, bytes } = await firstView(scene.browser, url, language);
    // The time is not checked, because it depends on the machine's load.
    t.comment(`first view ${Math.round(afterHtmlMs)} ms after the HTML, ${bytes} bytes`);
    t.ok(bytes > 0 && bytes < 60_000, `${bytes} bytes`);
  });

  await t.test('the pages of a service without a console fit on a wide screen and on a phone', async (t) => {
    const { url } = await startHttp(t);
    const faults: string[] = [];

    for (const [name, viewport] of Object.entries(SCREENS)) {
      const page = await open(scene.browser, url, viewport, faults);
      await page.goto(url);
      t.match(await page.textContent('body'), /It is healthy/, `${name}: the front page says how the service is`);
      await fits(t, page);
      await page.click('a[href="/api-docs"]');
      await page.getByRole('heading', { name: 'Isolayer' }).waitFor();
      t.notMatch(await page.textContent('body'), '`', 'no backquote is left in the texts');
      await fits(t, page);
    }

    const page = await open(scene.browser, url, SCREENS.wide, faults);
    await page.goto(`${url}/api-docs`);
    await page
      .getByRole('button', { name: /search/i })
      .first()
      .click();
    await page.getByRole('combobox').fill('webhook');
    const found = page.getByRole('option', { name: /webhook/i });
    await found.first().waitFor();
    t.ok((await found.count()) >= 4, 'the search finds what is about webhooks');
    await found.filter({ hasText: 'Get a webhook notification' }).first().click();
    const call = page.locator('pre', { hasText: '/api/v1/notifications/accounting' }).first();
    await call.waitFor();
    t.match(await call.textContent(), /curl .*\/api\/v1\/notifications\/accounting/s, 'a call to paste has no {id}');
    t.strictSame(faults, []);
  });
});
