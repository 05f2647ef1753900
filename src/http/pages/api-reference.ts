import { inlineSource, STRICT_POLICY } from './html.ts';
import { REFERENCE_SCRIPT_PATH } from './reference-script.ts';

/**
 * Settings of Scalar's API reference. The page connects to this server only. It uses no foreign fonts, proxies,
 * telemetry or agents.
 */
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

/** The page that shows the API's description, with Scalar's API reference. */
export const REFERENCE_PAGE = [
  '<!doctype html><html lang="en"><head><meta charset="utf-8">',
  '<meta name="viewport" content="width=device-width, initial-scale=1">',
  '<title>Isolayer API</title></head><body><div id="reference"></div>',
  '<noscript>This page needs JavaScript. The description itself is <a href="/api-docs/openapi.json">openapi.json</a>.</noscript>',
  `<script src="${REFERENCE_SCRIPT_PATH}"></script><script>${START}</script></body></html>`,
].join('');

/**
 * The page runs only its own two scripts and connects only to this server. Scalar's script creates styles, so inline
 * styles are allowed.
 */
export const REFERENCE_POLICY = [
  ...STRICT_POLICY,
  `script-src 'self' ${inlineSource(START)}`,
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
].join('; ');
