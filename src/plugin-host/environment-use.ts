/** Names that bundled packages probe on every platform; nobody grants them. */
const PROBED = new Set(['NODE_ENV', 'NODE_DEBUG', 'DEBUG']);

/** The environment entries that a bundle reads by name, so that the operator learns which grants it will miss. */
export function environmentReads(code: string): string[] {
  const names = new Set<string>();
  for (const [, dotted, quoted] of code.matchAll(/\bprocess\.env(?:\.([A-Za-z_]\w*)|\[["']([A-Za-z_]\w*)["']\])/g)) {
    const name = dotted ?? quoted;
    if (name !== undefined && !PROBED.has(name)) names.add(name);
  }
  return [...names].sort();
}
