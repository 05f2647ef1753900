/** What operators do in the console at night: in a browser, against the whole service. */
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { HAS_BROWSER } from '../support/browser.ts';
import { runTyped } from '../support/command.ts';
import { consoleScene } from '../support/console-scene.ts';

/** The folder for the guide's picture, if it is to be taken anew. */
const PICTURES = process.env['ISOLAYER_PICTURES'];

t.test('the console of an operator', { timeout: 230_000 }, async (t) => {
  if (!HAS_BROWSER) return void t.pass('there is no browser for this system');
  const scene = await consoleScene(t);
  const { service, anvil, shop, url } = scene;
  const request = async (method: string, path: string, body?: unknown) =>
    (await service.request(method, `/api/v1${path}`, body)).body.data;
  const send = async () =>
    await request('POST', '/relayers/local-1/transactions', {
      to: `0x${'1'.repeat(40)}`,
      value: '1',
      data: '0x',
      gas_limit: 21_000,
      speed: 'average',
    });
  // The webhook receiver is broken.
  shop.answer = () => ({ status: 500 });
  const page = await scene.signedIn();

  await t.test('a transaction that waits is sped up, and what is in the block is the dearer one', async (t) => {
    await anvil.rpc('evm_setAutomine', [false]);
    const { id } = await send();
    await page.goto(`${url}/console#/transactions/local-1/${id}`);
    await page.getByText('version 1 · taken by').waitFor();
    await page.getByRole('button', { name: 'Speed up' }).click();
    await page.getByRole('button', { name: 'Yes' }).click();
    await page.getByText('version 2 · taken by').waitFor();
    await anvil.rpc('evm_setAutomine', [true]);
    await anvil.rpc('evm_mine', []);
    await page.getByText('It took 2 attempts').waitFor();
    if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/console.png` });
    const { hash } = await request('GET', `/relayers/local-1/transactions/${id}`);
    t.match(await anvil.rpc('eth_getTransactionReceipt', [hash]), { status: '0x1' });
    const { events } = await request('GET', `/relayers/local-1/transactions/${id}/timeline`);
    const [first, second] = events.filter(({ event }: { event: string }) => event === 'signed');
    t.equal(second.hash, hash);

    const find = page.getByLabel('Find a transaction by id, hash or counter');
    for (const text of [id, hash.toUpperCase().replace('0X', '0x'), first.hash, '0']) {
      await page.goto(`${url}/console#/transactions/local-1`);
      await find.fill(text);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: id }).waitFor();
    }
    await page.goto(`${url}/console#/transactions/local-1`);
    await find.fill(`0x${'9'.repeat(64)}`);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Nothing found that this key may see.').waitFor();
  });

  await t.test('was the shop told? It was not, and is now', async (t) => {
    await shop.until('a try', (deliveries) => deliveries.length > 0, 60_000);
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('main').getByRole('link', { name: 'shop' }).click();
    const row = page.getByRole('table', { name: 'Deliveries' }).getByRole('row').last();
    await row.getByText('waiting').waitFor();
    t.match(await row.textContent(), /500/, 'why not');
    shop.answer = () => ({ status: 200 });
    await row.getByRole('button', { name: 'Show' }).click();
    // The details open below their own row, however many rows there are.
    t.ok(await page.locator('tr:has([aria-expanded=true]) + tr.opened').isVisible());
    await page.getByRole('button', { name: 'Deliver again' }).click();
    await page.getByRole('region', { name: 'Delivery' }).getByText('delivered', { exact: true }).waitFor();
    const shown = await page.getByRole('heading', { name: /^Delivery / }).textContent();
    const id = shown?.replace('Delivery ', '') ?? '';
    t.ok(shop.deliveries.filter(({ json }) => json.id === id).length >= 2, 'it was sent again');

    const told = page.getByRole('table', { name: 'Deliveries' }).getByRole('row');
    await told.nth(1).getByRole('link').click();
    await page.getByRole('heading', { name: 'Webhook deliveries' }).waitFor();
    await told.nth(1).getByText('transaction_update').waitFor();
    await page.getByText(/^\d+ .* · fee paid: 0\.\d+ of the native coin$/).waitFor();
    t.equal(await page.locator('.timeline li.ended.confirmed').count(), 1);

    await page.goto(`${url}/console#/no-such-page`);
    await page.getByRole('alert').getByText('There is no page at this address').waitFor();
    await page.goto(`${url}/console#/`);
  });

  await t.test('the command line says the same', async (t) => {
    const env = { ISOLAYER_URL: service.url, ISOLAYER_KEY: service.apiKey };
    const run = async (...typed: string[]) => (await runTyped(t.testdir({}), typed, env)).said;
    t.match(await run('relayers'), /^local-1 +evm:\S+ +active +[\d.]+ of the native coin/m);
    const [sent] = (await run('tx', 'list', 'local-1', '--status', 'confirmed', '--json')).trim().split('\n');
    const { id } = JSON.parse(sent ?? '') as { id: string };
    t.match(await run('tx', 'show', id), /signed, version 2 \(replace\) 0x\w+ [\d.]+ gwei/);
    const told = await run('webhooks', 'shop', '--json');
    const last = JSON.parse(told.trim().split('\n').at(-1) ?? '') as { id: string; transaction_id: string };
    t.equal(last.transaction_id, id);
    t.match(await run('webhooks', 'redeliver', 'shop', last.id), `${last.id} is waiting`);
    t.match(await runTyped(t.testdir({}), ['webhooks', 'redeliver', 'shop', 'none'], env), { code: 1 });
  });

  await t.test('which plugin eats the processor? The first', async (t) => {
    for (let calls = 0; calls < 5; calls += 1) await service.call('pay', { value: '1' });
    await page.getByRole('link', { name: 'Plugins' }).click();
    const first = page.getByRole('table', { name: 'Plugins' }).getByRole('row').nth(1);
    await first.getByRole('link', { name: 'pay' }).click();
    await page.getByText(/p50 \d+ ms, p99 \d+ ms/).waitFor();
    t.equal(await page.locator('.plots canvas').count(), 4);
  });

  await t.test('endpoints tell how they stand, and how long they take', async (t) => {
    await page.getByRole('link', { name: 'Networks' }).click();
    const endpoint = page.getByRole('row').filter({ hasText: 'local' }).locator('.endpoint');
    await endpoint.getByText(/p50 \d+ ms, p99 \d+ ms/).waitFor();
    t.match(await endpoint.textContent(), /^ready.*127\.0\.0\.1/);
  });

  await t.test('an alert that would fire is told in words, and leads to whom it is about', async (t) => {
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Alerts that would fire' }).waitFor();
    // A minimum above the account's balance. The changed endpoints trigger a new check.
    const policies = { min_balance: `1${'0'.repeat(24)}` };
    const { status } = await service.request('PATCH', '/api/v1/relayers/local-1', {
      policies,
      custom_rpc_urls: [{ url: anvil.url, weight: 100 }],
    });
    t.equal(status, 200);
    while (!(await request('GET', '/relayers/local-1')).system_disabled) await delay(50);
    await page.reload();
    await page.getByRole('link', { name: 'Relayer local-1 takes no transactions.' }).click();
    await page.getByRole('heading', { name: 'Local relayer' }).waitFor();
    t.match(await page.getByRole('alert').textContent(), /Checked again/);
  });

  // The search asks for things that may not exist, so a 404 is no fault.
  const faults = scene.faults.filter((text) => !text.includes('status of 404'));
  t.strictSame(faults, [], 'nothing was refused, and nobody else asked');
});
