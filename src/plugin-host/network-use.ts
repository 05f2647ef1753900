import { FETCH_METHODS } from '../domain/host-permission.ts';
import type { FetchGrants } from '../egress/plugin-fetch.ts';

/** What a bundle shows of what it fetches. */
export interface NetworkUse {
  /** Whether the word `fetch` is called anywhere, in a package for instance. */
  fetches: boolean;
  /** Hosts of the URLs that the author's own files spell out, with a port where one is named. */
  hosts: string[];
}

/** The bundler writes the file before each module of a bundle. */
const MODULE = /^ {2}\/\/ (\S.*)$/m;
const URL_TEXT = /["'`](https?:\/\/[^"'`\s${}\\]+)/g;

/**
 * The hosts that a plugin is likely to fetch from, so that the operator learns which grants it will miss. Packages spell
 * out many URLs that they never ask; theirs do not count.
 */
export function networkUse(code: string): NetworkUse {
  if (!/\bfetch\s*\(/.test(code)) return { fetches: false, hosts: [] };
  const hosts = new Set<string>();
  const [, ...parts] = code.split(MODULE);
  for (let at = 0; at < parts.length; at += 2) {
    if (parts[at]?.includes('node_modules/') === true) continue;
    for (const [, text = ''] of (parts[at + 1] ?? '').matchAll(URL_TEXT)) {
      const host = URL.parse(text)?.host ?? '';
      if (host !== '') hosts.add(host);
    }
  }
  return { fetches: true, hosts: [...hosts].sort() };
}

/** Why nothing may be fetched from a host, with the line to add; undefined when some method is granted. */
export function hostRefusal(host: string, grants: FetchGrants): string | undefined {
  const url = new URL(`https://${host}`);
  const rules = FETCH_METHODS.map((method) => grants.rule(url, method));
  const refusals = rules.filter((rule) => typeof rule === 'string');
  return refusals.length === rules.length ? refusals[0] : undefined;
}
