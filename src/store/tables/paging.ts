import type { PageRequest } from '../../domain/page.ts';

/**
 * The limit and offset of a page. A page number beyond what a database can count to lies after the end of every list.
 */
export function pageBounds({ page, perPage }: PageRequest): { limit: number; offset: number } {
  const offset = (Math.max(page, 1) - 1) * perPage;
  return { limit: perPage, offset: Math.min(offset, Number.MAX_SAFE_INTEGER) };
}

/** Returns the result of a query that counts. */
export function countOf(rows: readonly { total: number }[]): number {
  const [row] = rows;
  if (row === undefined) throw new Error('A query that counts answered nothing');
  return row.total;
}
