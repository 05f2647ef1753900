import type { Browser } from 'playwright-core';

/** How a new visitor's browser loads the console. */
export interface FirstView {
  /** From the last byte of the HTML to the first visible content. */
  afterHtmlMs: number;
  /** The bytes sent for everything other than the HTML. */
  bytes: number;
}

/** @param prepare text of a script that runs before those of the page */
export async function firstView(browser: Browser, url: string, prepare = ''): Promise<FirstView> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(prepare);
  await page.goto(`${url}/console`);
  await page.getByLabel('API key').waitFor();
  const view = await page.evaluate(`new Promise((resolve) => {
    new PerformanceObserver((seen) => {
      const [paint] = seen.getEntriesByName('first-contentful-paint');
      if (paint === undefined) return;
      const [{ responseEnd }] = performance.getEntriesByType('navigation');
      const sizes = performance.getEntriesByType('resource').map(({ encodedBodySize }) => encodedBodySize);
      resolve({ afterHtmlMs: paint.startTime - responseEnd, bytes: sizes.reduce((sum, size) => sum + size, 0) });
    }).observe({ type: 'paint', buffered: true });
  })`);
  await context.close();
  return view as FirstView;
}
