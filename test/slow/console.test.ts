/** The console in use: in a browser, against the whole service, with payments on a chain. */
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { HAS_BROWSER } from '../support/browser.ts';
import { type ConsoleScene, consoleScene, HOSTILE_LINE } from '../support/console-scene.ts';

/** The folder for screenshots, if they are wanted. */
const PICTURES = process.env['ISOLAYER_PICTURES'];
const PATHS = [
  '',
  'transactions/local-1',
  'relayers',
  'relayers/local-1',
  'plugins',
  'plugins/fails',
  'plugins/asks',
  'webhooks',
  'webhooks/shop',
  'networks',
  'keys',
];

/** This page uses every colour. */
const COLOURFUL = 'plugins/fails';

/** Asserts that a page fits the screen, has no serious accessibility fault, and makes no request to other hosts. */
async function judge(
  t: Test,
  { faults }: ConsoleScene,
  page: Page,
  { name, rules }: { name: string; rules: 'all' | 'none' | 'colours' },
): Promise<void> {
  await page.getByText('Loading…').first().waitFor({ state: 'detached' });
  t.equal(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'), 0, `${name} fits`);
  const axe = new AxeBuilder({ page });
  if (rules === 'colours') axe.withRules('color-contrast');
  const violations = rules === 'none' ? [] : (await axe.analyze()).violations;
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  t.strictSame(
    serious.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html)]),
    [],
    name,
  );
  t.strictSame(faults, [], name);
  if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/${name.replaceAll(/\W+/g, '-')}.png` });
}

t.test('the console', { timeout: 230_000 }, async (t) => {
  if (!HAS_BROWSER) return void t.pass('there is no browser for this system');
  const scene = await consoleScene(t);
  const { service, anvil, shop, faults } = scene;
  const request = async (method: string, path: string, body?: unknown) =>
    (await service.request(method, `/api/v1${path}`, body)).body.data;
  const page = await scene.signedIn();
  let called = '';

  await t.test('a payment of a plugin goes from accepted to confirmed while one looks', async (t) => {
    t.match(page.url(), /\/console$/, 'the address of the service leads to it');
    await page.getByRole('link', { name: 'Transactions' }).click();
    await page.getByText('Nothing was sent yet.').waitFor();
    await anvil.rpc('evm_setAutomine', [false]);
    await service.call('pay', { value: '7' });
    const row = page.getByRole('row').nth(1);
    await row.getByText('submitted').waitFor();
    await anvil.rpc('evm_setAutomine', [true]);
    await anvil.rpc('evm_mine', []);
    await row.getByText('confirmed').waitFor();
    await row.getByRole('link').click();
    await page.getByText('It went through at the first attempt.').waitFor();
    t.match(
      await page.getByRole('list', { name: 'Timeline' }).textContent(),
      /accepted.*signed, version 1.*confirmed/s,
    );
  });

  await t.test('another is canceled', async (t) => {
    await anvil.rpc('evm_setAutomine', [false]);
    const { id } = await request('POST', '/relayers/local-1/transactions', {
      to: `0x${'1'.repeat(40)}`,
      value: '1',
      data: '0x',
      gas_limit: 21_000,
      speed: 'fast',
    });
    await page.goto(`${scene.url}/console#/transactions/local-1/${id}`);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Yes' }).click();
    await page.getByText('cancel requested').waitFor();
    // Wait for the cancelling version. Before it is sent, a block would take the payment itself.
    await page.getByText('version 2 · taken by').waitFor();
    await anvil.rpc('evm_setAutomine', [true]);
    await anvil.rpc('evm_mine', []);
    await page.locator('header.head').getByText('canceled').waitFor();
    t.equal((await request('GET', `/relayers/local-1/transactions/${id}`)).status, 'canceled');
  });

  await t.test('what a plugin writes is text, whatever it writes', async (t) => {
    await page.goto(`${scene.url}/console#/plugins/fails`);
    await page.getByLabel('Parameters').fill('{"a":1}');
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    const log = page.getByRole('list', { name: 'Calls and logs' });
    await log.getByText('threw').waitFor();
    t.ok((await log.textContent())?.includes(HOSTILE_LINE.replace('\u001b', '\\u001b')), 'letter for letter');
    t.match(await page.locator('form.call').textContent(), /out of stock/);
    t.equal(await page.locator('main img, main script').count(), 0);
    t.notMatch(await page.title(), /owned/);
    // The browser reports a failed call as a failed request.
    t.ok(faults.splice(0).every((text) => /status of (4|5)\d\d/.test(text)));
  });

  await t.test('a trigger is fired, and its call waits, is told, and returns', async (t) => {
    await page.goto(`${scene.url}/console#/plugins/asks`);
    await page.getByRole('table', { name: 'Triggers' }).getByText('0 8 1 * *').waitFor();
    await page.getByRole('button', { name: 'Fire' }).click();
    await page.getByRole('button', { name: 'Yes' }).click();
    const row = page.getByRole('table', { name: 'Durable calls' }).getByRole('row').nth(1);
    await row.getByText('monthly').waitFor();
    await row.getByRole('link').click();
    await page.getByText('trigger:asks/monthly').waitFor();
    const [{ id }] = await request('GET', '/plugins/asks/calls');
    await request('POST', `/plugins/asks/calls/${id}/events/approved`, { value: { by: 'an operator' } });
    await page.locator('header.head').getByText('returned').waitFor();
    t.match(await page.locator('main').textContent(), /an operator/);
    await page.getByRole('list', { name: 'What the call heard' }).getByText('kv.set').waitFor();
    called = id;
  });

  // On a desktop and on a phone, in light and dark colours, with the accessibility rules.
  await t.test(
    'every page fits the screen, has no serious accessibility fault, and makes no request to other hosts',
    async (t) => {
      await request('POST', '/api-keys', { name: 'Reader', permissions: ['relayers:local-1:read'] });
      await shop.until('the shop was told', (deliveries) => deliveries.length > 0, 60_000);
      const { id } = (await request('GET', '/relayers/local-1/transactions'))[0];
      for (const path of [...PATHS, `transactions/local-1/${id}`, `plugins/asks/${called}`]) {
        const name = path.replace(id, 'one').replace(called, 'one');
        await page.setViewportSize({ width: 1440, height: 900 });
        await page.emulateMedia({ colorScheme: 'light' });
        await page.goto(`${scene.url}/console#/${path}`);
        await judge(t, scene, page, { name: `desk ${name}`, rules: 'all' });
        await page.setViewportSize({ width: 360, height: 780 });
        await page.emulateMedia({ colorScheme: 'dark' });
        // The other accessibility rules do not depend on the screen.
        await judge(t, scene, page, { name: `phone ${name}`, rules: path === COLOURFUL ? 'colours' : 'none' });
      }
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.emulateMedia({ colorScheme: 'light' });
    },
  );

  await t.test('a key sees its part, and nothing of the rest', async (t) => {
    const { key } = await request('POST', '/api-keys', { name: 'Narrow', permissions: ['plugins:pay:call'] });
    const narrow = await scene.signedIn({ key, at: 'plugins' });
    await narrow.getByRole('link', { name: 'pay' }).waitFor();
    t.equal(await narrow.getByText('fails', { exact: true }).count(), 0);
    t.equal(await narrow.getByRole('link', { name: 'Relayers' }).count(), 0);
    await narrow.goto(`${scene.url}/console#/relayers`);
    await narrow.getByText('There is no relayer yet, or none that this key may see.').waitFor();
    const kept = await narrow.evaluate('[document.cookie, location.href, Object.keys(localStorage).length].join()');
    t.notMatch(kept, key);
    await narrow.getByRole('button', { name: 'Sign out' }).click();
    await narrow.getByLabel('API key').waitFor();
    t.equal(await narrow.evaluate('sessionStorage.length'), 0);
    await narrow.context().close();
    faults.splice(0);
  });

  await t.test('the link of a first start signs in once, and the address does not keep it', async (t) => {
    const link = service.signInLink() ?? '';
    const context = await scene.browser.newContext({ locale: 'en-US' });
    const first = await context.newPage();
    await first.goto(link);
    await first.getByRole('heading', { name: 'Overview' }).waitFor();
    t.equal(first.url(), `${service.url}/console`);
    const second = await context.newPage();
    await second.goto(link);
    await second.getByText('The link was used before').waitFor();
    t.ok(await second.getByLabel('API key').isVisible());
    const [, code = ''] = link.split('/sign-in/');
    t.notMatch(service.output(), code);
    await context.close();
  });

  await t.test('by keyboard alone, and with a key that is none', async (t) => {
    const context = await scene.browser.newContext({ locale: 'en-US' });
    const stranger = await context.newPage();
    await stranger.goto(`${scene.url}/console`);
    await stranger.getByLabel('API key').waitFor();
    await stranger.keyboard.press('Tab');
    await stranger.keyboard.type('not the key');
    await stranger.keyboard.press('Enter');
    await stranger.getByRole('alert').getByText('The key is not accepted').waitFor();
    await stranger.getByLabel('API key').fill('');
    await stranger.keyboard.type(service.apiKey);
    await stranger.keyboard.press('Enter');
    await stranger.getByRole('heading', { name: 'Overview' }).waitFor();
    await stranger.keyboard.press('Tab');
    await stranger.keyboard.press('Enter');
    t.equal(await stranger.evaluate('document.activeElement.id'), 'main', 'past what is on every page');
    await context.close();
  });

  await t.test('when the server is gone the page says so, and goes on when it is back', async (t) => {
    await page.goto(`${scene.url}/console#/transactions/local-1`);
    const rows = page.getByRole('table', { name: 'Transactions' }).getByRole('row');
    await rows.nth(1).waitFor();
    const before = await rows.count();
    await scene.lose();
    await page.getByRole('alert').getByText('The server cannot be reached.').waitFor();
    t.equal(await rows.count(), before, 'what was there stays');
    await scene.regain();
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    t.equal(await page.getByRole('alert').count(), 0);
    await scene.service.call('pay', { value: '9' });
    await rows.nth(before).waitFor();
    await rows
      .nth(1)
      .getByText(/mined|confirmed/)
      .waitFor();
  });

  await t.test('a connection that says nothing any more is made anew', async (t) => {
    const streams: string[] = [];
    page.on('request', (request) => request.url().includes('/api/v1/events') && streams.push(request.url()));
    await page.clock.install();
    await page.goto(`${scene.url}/console`);
    await page.reload();
    const live = page.getByRole('status').filter({ hasText: 'live' });
    const lost = page.getByRole('alert').getByText('The server cannot be reached.');
    await live.waitFor();
    // The service sends something every 15 s. The page's clock only moves when the test moves it.
    await page.clock.pauseAt(Date.now() + 1_000);
    const ways: [string, () => Promise<unknown>][] = [
      ['silence', () => page.clock.fastForward(41_000)],
      ['another network', () => page.evaluate(`dispatchEvent(new Event('online'))`)],
      [
        'a machine that slept',
        async () => {
          await page.evaluate(`(() => { const before = Date.now; Date.now = () => before() + 21_000; })()`);
          await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
        },
      ],
    ];
    for (const [way, happen] of ways) {
      const before = streams.length;
      await happen();
      await lost.waitFor();
      await page.clock.fastForward(1_000);
      await live.waitFor();
      t.equal(streams.length, before + 1, way);
    }
    await page.clock.resume();
    await scene.service.call('pay', { value: '3' });
    await page.getByRole('region', { name: 'Plugin calls now' }).getByText('pay').waitFor();
  });

  await t.test('a stream that misses much does not have everything read each time', async (t) => {
    let lists = 0;
    await page.route('**/api/v1/plugins?**', (route) => {
      lists += 1;
      return route.continue();
    });
    // Each stream ends at once, and the next one follows after a second. So resets come as often as in a flood.
    await page.route('**/api/v1/events', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: 'id: 1\nevent: reset\ndata: {}\n\n' }),
    );
    let streams = 0;
    page.on('requestfinished', (request) => {
      if (request.url().endsWith('/events')) streams += 1;
    });
    await page.reload();
    const clock = async () => Number(await page.evaluate('performance.now()')) / 1_000;
    const begun = await clock();
    while (streams < 12) await page.clock.fastForward(100);
    const seconds = (await clock()) - begun;
    t.ok(lists > 1, 'it is read anew');
    t.ok(lists <= 3 + seconds / 5, `${lists} times in ${seconds} s with ${streams} resets`);
    await page.unrouteAll({ behavior: 'wait' });
  });
});
