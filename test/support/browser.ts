import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as browserType } from 'playwright-core';
import type { Test } from 'tap';

/** Turns off what a browser does by itself and tests do not need. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** Whether the packages have a browser for this system. */
export const HAS_BROWSER = process.platform === 'linux' && process.arch === 'x64';

/** Opens a browser for one test. */
export async function openBrowser(t: Test): Promise<Browser> {
  const { browser, close } = await startBrowser();
  t.teardown(close);
  return browser;
}

/** Unpacks a browser from its package into a folder, and starts it. `close` also removes the folder. */
export async function startBrowser(): Promise<{ browser: Browser; close: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'isolayer-browser-'));
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  const executablePath = await chromium.executablePath();
  const browser = await browserType.launch({ args: QUIET, executablePath, headless: true });
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
  const close = async () => {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { browser, close };
}
