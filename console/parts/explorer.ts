/** Where an explorer shows a transaction; undefined without an explorer that one may lead people to. */
export function explorerLink(explorer: string | undefined, hash: string | null): string | undefined {
  const url = explorer === undefined ? null : URL.parse(explorer);
  if (url?.protocol !== 'https:' || hash === null) return undefined;
  // Some name their network behind a question mark, which stays at the end.
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/tx/${encodeURIComponent(hash)}`;
  return url.href;
}
