/**
 * An endpoint's address without what may be a key: its path, its query and, unlike in the reference, its user-info.
 * What is no address is hidden whole.
 */
export function maskUrl(url: string): string {
  const [, scheme, rest] = /^([^:]*):\/\/(.*)$/s.exec(url) ?? [];
  if (scheme === undefined || rest === undefined) return '***';
  const end = rest.search(/[/?#]/);
  const authority = end === -1 ? rest : rest.slice(0, end);
  const tail = end === -1 ? '' : rest.slice(end);
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const hidden = tail === '' || tail === '/' ? tail : `${tail.charAt(0)}***`;
  return `${scheme}://${host}${hidden}`;
}
