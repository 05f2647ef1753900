/** The explorer's address of a transaction; undefined without an explorer that is safe to link to. */
export function explorerLink(explorer: string | undefined, hash: string | null): string | undefined {
  const url = explorer === undefined ? null : URL.parse(explorer);
  if (url?.protocol !== 'https:' || hash === null) return undefined;
  // Some explorers name the network in the query of the URL, which stays at the end.
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/tx/${encodeURIComponent(hash)}`;
  return url.href;
}
