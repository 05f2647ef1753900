import { MOST_SHOWN } from './network-use.ts';

/** Names that bundled packages probe on every platform; nobody grants them. */
const PROBED = new Set(['NODE_ENV', 'NODE_DEBUG', 'DEBUG']);

const READ = /\bprocess\.env(?:\.([A-Za-z_]\w{0,255})(?!\w)|\[["']([A-Za-z_]\w{0,255})["']\])/g;

/**
 * The environment entries that a bundle reads by name, so that the operator learns which grants it will miss; at most
 * one more than shown.
 */
export function environmentReads(code: string): string[] {
  const names = new Set<string>();
  for (const [, dotted, quoted] of code.matchAll(READ)) {
    const name = dotted ?? quoted;
    if (name !== undefined && !PROBED.has(name)) names.add(name);
    if (names.size > MOST_SHOWN) break;
  }
  return [...names].sort();
}
