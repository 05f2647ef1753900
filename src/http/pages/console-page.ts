import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { STRICT_POLICY } from './html.ts';

/** The paths of the console page's script and style. */
export const CONSOLE_SCRIPT_PATH = '/console/console.js';
export const CONSOLE_STYLE_PATH = '/console/console.css';

/** The console's HTML page. It gets its data from the API, with the user's key. */
export const CONSOLE_PAGE = [
  '<!doctype html><html lang="en"><head><meta charset="utf-8">',
  '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Isolayer</title>',
  `<link rel="icon" href="data:,"><link rel="stylesheet" href="${CONSOLE_STYLE_PATH}">`,
  `<script type="module" src="${CONSOLE_SCRIPT_PATH}"></script></head><body><div id="app"></div>`,
  '<noscript>This page needs JavaScript. The service itself is used over its <a href="/api-docs">API</a>.</noscript>',
  '</body></html>',
].join('');

/** Allows no inline content and nothing from other hosts, except images in data URLs. */
export const CONSOLE_POLICY = [
  ...STRICT_POLICY,
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
].join('; ');

/** The parts of the page, gzipped. */
export interface ConsoleBundle {
  script: Uint8Array;
  style: Uint8Array;
}

/** Bundles the console in a thread, which ends after that. */
export function bundleConsole(): Promise<ConsoleBundle> {
  const { promise, resolve, reject } = Promise.withResolvers<ConsoleBundle>();
  // The process's own options may not suit a thread.
  const thread = new Worker(join(import.meta.dirname, 'console-bundle-thread.ts'), { execArgv: [] });
  thread.once('message', resolve);
  thread.once('error', reject);
  thread.once('exit', () => reject(new Error('The thread that bundles the console ended without it')));
  return promise;
}
