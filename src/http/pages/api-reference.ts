import { inlineSource, STRICT_POLICY } from './html.ts';
import { REFERENCE_SCRIPT_PATH } from './reference-script.ts';

/** Settings of Scalar's API reference. It speaks to this server only: no fonts, proxies, counters or agents of others. */
const SETTINGS = {
  url: '/api-docs/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  persistAuth: false,
};

const START = `Scalar.createApiReference('#reference', ${JSON.stringify(SETTINGS)});`;

/** The page on which the API's description is read: Scalar's API reference. */
export const REFERENCE_PAGE = [
  '<!doctype html><html lang="en"><head><meta charset="utf-8">',
  '<meta name="viewport" content="width=device-width, initial-scale=1">',
  '<title>Isolayer API</title></head><body><div id="reference"></div>',
  '<noscript>This page needs JavaScript. The description itself is <a href="/api-docs/openapi.json">openapi.json</a>.</noscript>',
  `<script src="${REFERENCE_SCRIPT_PATH}"></script><script>${START}</script></body></html>`,
].join('');

/** The page runs its own two scripts and speaks to this server. Its script makes its styles, so those may be inline. */
export const REFERENCE_POLICY = [
  ...STRICT_POLICY,
  `script-src 'self' ${inlineSource(START)}`,
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
].join('; ');
