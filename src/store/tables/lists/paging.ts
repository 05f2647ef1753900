import type { PageRequest } from '../../../domain/page.ts';

/** Where a page lies in its list; a page number beyond what a database counts to lies behind every list. */
export function pageBounds({ page, perPage }: PageRequest): { limit: number; offset: number } {
  const offset = (Math.max(page, 1) - 1) * perPage;
  return { limit: perPage, offset: Math.min(offset, Number.MAX_SAFE_INTEGER) };
}

/** The answer of a query that counts. */
export function totalOf(rows: readonly { total: number }[]): number {
  const [row] = rows;
  if (row === undefined) throw new Error('A query that counts answered nothing');
  return row.total;
}
