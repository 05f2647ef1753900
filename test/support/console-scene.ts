import type { Browser, Page } from 'playwright-core';
import type { Test } from 'tap';
import { fund } from '../../examples/demo/chain.ts';
import { type Anvil, startAnvil } from './anvil.ts';
import { openBrowser } from './browser.ts';
import { type ComposedService, composeService } from './composed-service.ts';
import { startWay } from './way.ts';
import { startReceiver, type WebhookReceiver } from './webhook-receiver.ts';
import { createWorkspace } from './workspace.ts';

/** Longer than any step takes on a busy machine. */
const MAX_MS = 90_000;
const RECEIVER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';

/** A log line that a plugin may write and that a page must show as text. */
export const HOSTILE_LINE = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>\u001b[31m`;

const PLUGINS = {
  'pay.ts': `export const handler = async ({ api, params }) => {
    console.log('paying', params.value);
    return await api.useRelayer('local-1').sendTransaction({ to: '${RECEIVER}', value: params.value, data: '0x', gas_limit: 21000, speed: 'fast' });
  };`,
  'fails.ts': `export const handler = () => {
    console.error(${JSON.stringify(HOSTILE_LINE)});
    console.log('x'.repeat(1_000_000));
    throw new Error('out of stock');
  };`,
  'asks.ts': `export const handler = async ({ api, kv, trigger }) => {
    await kv.set('asked', trigger?.name ?? 'by a client');
    return await api.waitFor('approved', { timeout: 3_600_000 });
  };`,
};

/** A service with a node, a relayer, three plugins, and a browser. */
export interface ConsoleScene {
  /** The service that runs now. */
  readonly service: ComposedService;
  /** The address for browsers. It is the same for each service. */
  url: string;
  /** The receiver of webhook `shop`, which reports on `local-1`. */
  shop: WebhookReceiver;
  anvil: Anvil;
  browser: Browser;
  /** Ends the service and every connection to it. */
  lose(): Promise<void>;
  /** Starts the service again on its data. */
  regain(): Promise<void>;
  /** What the browser refused or reported, and its requests to other hosts. */
  faults: string[];
  /** Opens the console as a user who has entered a key. */
  signedIn(options?: { key?: string; width?: number; dark?: boolean; at?: string }): Promise<Page>;
}

export async function consoleScene(t: Test): Promise<ConsoleScene> {
  const anvil = await startAnvil();
  t.teardown(() => anvil.stop());
  const grants = { relayers: { 'local-1': ['read', 'send'] } };
  const shop = await startReceiver();
  t.teardown(() => shop.stop());
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    relayer: { notification_id: 'shop' },
    config: { notifications: [{ id: 'shop', type: 'webhook', url: shop.url }] },
    plugins: [
      { id: 'pay', path: 'pay.ts', emit_logs: true, emit_traces: true, permissions: grants },
      { id: 'fails', path: 'fails.ts', emit_logs: true },
      { id: 'asks', path: 'asks.ts', durable: true, triggers: [{ name: 'monthly', cron: '0 8 1 * *' }] },
    ],
    pluginFiles: PLUGINS,
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '100000', RATE_LIMIT_BURST_SIZE: '100000' },
  });
  t.teardown(() => workspace.remove());
  await fund(anvil.url, workspace.address);
  let service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  const way = await startWay(service.url);
  t.teardown(() => way.stop());
  const { url } = way;
  const browser = await openBrowser(t);
  const faults: string[] = [];
  return {
    url,
    shop,
    anvil,
    browser,
    faults,
    get service() {
      return service;
    },
    async lose() {
      way.cut();
      await service.stop();
    },
    async regain() {
      service = await composeService(workspace.env);
      way.lead(service.url);
    },
    async signedIn({ key = service.apiKey, width = 1440, dark = false, at = '' } = {}) {
      const viewport = { width, height: width < 700 ? 780 : 900 };
      const context = await browser.newContext({ viewport, colorScheme: dark ? 'dark' : 'light', locale: 'en-US' });
      const page = await context.newPage();
      page.setDefaultTimeout(MAX_MS);
      page.on('pageerror', (error) => faults.push(error.message));
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
      page.on('request', (request) => request.url().startsWith(url) || faults.push(`asked ${request.url()}`));
      await page.goto(`${url}/${at === '' ? '' : `console#/${at}`}`);
      await page.getByText(/It is (healthy|degraded|unhealthy)\./).waitFor();
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
      return page;
    },
  };
}
