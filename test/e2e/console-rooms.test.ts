/** Every room of the console: on a desk and on a phone, in the light and in the dark, for everybody. */
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { HAS_BROWSER } from '../support/browser.ts';
import { type ConsoleScene, consoleScene } from '../support/console-scene.ts';

/** Where pictures go, for who wants to look at them. */
const PICTURES = process.env['ISOLAYER_PICTURES'];
const ROOMS = [
  '',
  'transactions/local-1',
  'relayers',
  'relayers/local-1',
  'plugins',
  'plugins/fails',
  'webhooks',
  'webhooks/shop',
  'networks',
  'keys',
];

/** Has every colour that rooms have. */
const COLOURFUL = 'plugins/fails';

/** A room fits, has no serious fault for anybody by the given rules, and has asked nobody else. */
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

t.test('every room fits, has no serious fault, and asks nobody else', { timeout: 230_000 }, async (t) => {
  if (!HAS_BROWSER) return void t.pass('there is no browser for this system');
  const scene = await consoleScene(t);
  const { service, shop } = scene;
  const request = async (method: string, path: string, body?: unknown) =>
    (await service.request(method, `/api/v1${path}`, body)).body.data;
  await service.call('pay', { value: '7' });
  await service.call('fails');
  await request('POST', '/api-keys', { name: 'Reader', permissions: ['relayers:local-1:read'] });
  await shop.until('the shop was told', (deliveries) => deliveries.length > 0, 60_000);
  const { id } = (await request('GET', '/relayers/local-1/transactions'))[0];
  const page = await scene.signedIn();
  for (const room of [...ROOMS, `transactions/local-1/${id}`]) {
    const name = room.replace(id, 'one');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(`${scene.url}/console#/${room}`);
    await judge(t, scene, page, { name: `desk ${name}`, rules: 'all' });
    await page.setViewportSize({ width: 360, height: 780 });
    await page.emulateMedia({ colorScheme: 'dark' });
    // What else there is to say of a room does not depend on the screen.
    await judge(t, scene, page, { name: `phone ${name}`, rules: room === COLOURFUL ? 'colours' : 'none' });
  }
});
