/** Where an explorer shows a transaction; undefined for an address that is none of the web. */
export function explorerLink(explorer: string | undefined, hash: string | null): string | undefined {
  if (explorer === undefined || hash === null) return undefined;
  const base = explorer.replace(/\/+$/, '');
  return /^https:\/\/[^\s]+$/.test(base) ? `${base}/tx/${encodeURIComponent(hash)}` : undefined;
}
