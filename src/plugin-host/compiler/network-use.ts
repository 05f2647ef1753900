import { FETCH_METHODS } from '../../domain/host-permission.ts';
import type { FetchGrants } from '../../egress/fetch/plugin-fetch.ts';

/** What a bundle shows of what it fetches. */
export interface NetworkUse {
  /** Whether the word `fetch` is called anywhere, in a package for instance. */
  fetches: boolean;
  /** Hosts of the URLs that the author's own files spell out, with a port where one is named; at most one more than shown. */
  hosts: string[];
}

/** The bundler writes the file before each module of a bundle. */
const MODULE = /^ {2}\/\/ (\S.*)$/m;
/** A quote, a scheme, and what may be a host: beyond 260 characters, a port included, it is none. */
const URL_START = /["'`](https?:\/\/[^"'`\s${}\\/?#]{1,260})(?=["'`\s${}\\/?#])/g;
/** Different texts that are looked at: whoever spells out more of them names no hosts. */
const LOOKED_AT = 1000;

/** Hosts, and names of environment entries, that are shown of a plugin; one more that was found tells that there are more. */
export const MOST_SHOWN = 64;

/**
 * The hosts that a plugin is likely to fetch from, so that the operator learns which grants it will miss. Packages spell
 * out many URLs that they never ask; theirs do not count.
 */
export function networkUse(code: string): NetworkUse {
  if (!/\bfetch\s*\(/.test(code)) return { fetches: false, hosts: [] };
  const hosts = new Set<string>();
  const seen = new Set<string>();
  for (const text of authorsUrls(code)) {
    if (seen.has(text)) continue;
    seen.add(text);
    const host = URL.parse(text)?.host ?? '';
    if (host !== '') hosts.add(host);
    if (hosts.size > MOST_SHOWN || seen.size === LOOKED_AT) break;
  }
  return { fetches: true, hosts: [...hosts].sort() };
}

/** Scheme and host of what the modules that are no packages spell out. */
function* authorsUrls(code: string): Generator<string> {
  const [, ...parts] = code.split(MODULE);
  for (let at = 0; at < parts.length; at += 2) {
    if (parts[at]?.includes('node_modules/') === true) continue;
    for (const [, text = ''] of (parts[at + 1] ?? '').matchAll(URL_START)) yield text;
  }
}

/** Why nothing may be fetched from a host, with the line to add; undefined when some method is granted. */
export function hostRefusal(host: string, grants: FetchGrants): string | undefined {
  const url = new URL(`https://${host}`);
  const rules = FETCH_METHODS.map((method) => grants.rule(url, method));
  const refusals = rules.filter((rule) => typeof rule === 'string');
  return refusals.length === rules.length ? refusals[0] : undefined;
}
