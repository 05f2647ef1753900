import type { FetchGrants } from '../../../../egress/fetch/plugin-fetch.ts';
import { FETCH_METHODS } from '../../records/host-permission.ts';

/** What a bundle's code shows about its fetches. */
export interface FetchHostUse {
  /** Whether anything named `fetch` is called anywhere, for instance in a package. */
  fetches: boolean;
  /**
   * Hosts of the URLs that the author's own files spell out, with a port when the URL names one. At most one more than
   * `MAX_SHOWN`.
   */
  hosts: string[];
}

/** The comment with the file's path, which the bundler writes before each module of a bundle. */
const MODULE = /^ {2}\/\/ (\S.*)$/m;
/** A quote, a scheme, and a possible host. No host has more than 260 characters, including a port. */
const URL_START = /["'`](https?:\/\/[^"'`\s${}\\/?#]{1,260})(?=["'`\s${}\\/?#])/g;
/** The most different URLs that are looked at. Code that spells out more of them does not tell its hosts by them. */
const LOOKED_AT = 1000;

/**
 * The most hosts, and the most names of environment entries, that are shown of a plugin. One more may be found, to tell
 * that there are more.
 */
export const MAX_SHOWN_NAMES = 64;

/**
 * The hosts that a plugin is likely to fetch from, so that the operator learns which grants are missing. URLs in
 * packages do not count: packages spell out many URLs that they never fetch.
 */
export function findFetchHosts(code: string): FetchHostUse {
  if (!/\bfetch\s*\(/.test(code)) return { fetches: false, hosts: [] };
  const hosts = new Set<string>();
  const seen = new Set<string>();
  for (const text of authorsUrls(code)) {
    if (seen.has(text)) continue;
    seen.add(text);
    const host = URL.parse(text)?.host ?? '';
    if (host !== '') hosts.add(host);
    if (hosts.size > MAX_SHOWN_NAMES || seen.size === LOOKED_AT) break;
  }
  return { fetches: true, hosts: [...hosts].sort() };
}

/** Scheme and host of each URL in modules that belong to no package. */
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
