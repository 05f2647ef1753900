import { MAX_SHOWN } from './network-use.ts';

/** Names that bundled packages probe on every platform. Operators do not grant them. */
const PROBED = new Set(['NODE_ENV', 'NODE_DEBUG', 'DEBUG']);

const READ = /\bprocess\.env(?:\.([A-Za-z_]\w{0,255})(?!\w)|\[["']([A-Za-z_]\w{0,255})["']\])/g;

/**
 * The environment entries that a bundle reads by name, so that the operator learns which grants are missing. At most
 * one more than `MAX_SHOWN`.
 */
export function environmentReads(code: string): string[] {
  const names = new Set<string>();
  for (const [, dotted, quoted] of code.matchAll(READ)) {
    const name = dotted ?? quoted;
    if (name !== undefined && !PROBED.has(name)) names.add(name);
    if (names.size > MAX_SHOWN) break;
  }
  return [...names].sort();
}
