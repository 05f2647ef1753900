import type { HealthReport } from '../../observability/health.ts';
import { escapeHtml, inlineSource, STRICT_POLICY } from './html.ts';

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
body { max-width: 40rem; margin: 4rem auto; padding: 0 1.25rem; }
h1 { margin: 0 0 .5rem; }
table { border-collapse: collapse; width: 100%; margin: 1.5rem 0; }
td { padding: .35rem 1rem .35rem 0; border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); vertical-align: top; }
code { font: .9em ui-monospace, Menlo, Consolas, monospace; }
.healthy { color: light-dark(#0b7a4b, #45c08a); }
.degraded { color: light-dark(#a35c00, #e0a14a); }
.unhealthy { color: light-dark(#b3261e, #f28b82); }
`;

/** Allows the page's own style only. The page loads nothing. */
export const FRONT_PAGE_POLICY = [...STRICT_POLICY, `style-src ${inlineSource(STYLE)}`].join('; ');

/** Makes the page at the root of the service: what the service is, its health, and links to the API. */
export function frontPage({ status, components }: HealthReport): string {
  const rows = Object.entries(components).map(
    ([name, { status: state }]) =>
      `<tr><td>${escapeHtml(name)}</td><td><span class="${state}">${state}</span></td></tr>`,
  );
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Isolayer</title><style>${STYLE}</style></head><body><h1>Isolayer</h1>`,
    '<p>This service relays transactions, signs them, and runs plugins. It is used over its HTTP API, with a key.</p>',
    `<p>It is <strong class="${status}">${status}</strong>.</p><table>${rows.join('')}</table>`,
    '<p><a href="/api-docs">Read the API</a>, with a call to paste for each operation. ',
    '<a href="/api-docs/openapi.json">openapi.json</a> is the same for programs.</p>',
    '<p><a href="/api/v1/health">/api/v1/health</a> and <a href="/api/v1/ready">/api/v1/ready</a> are for probes. ',
    'Calls carry <code>Authorization: Bearer &lt;API key&gt;</code>.</p></body></html>',
  ].join('');
}
