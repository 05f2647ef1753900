import type { PageRequest } from '../domain/page.ts';

/** Where a page lies in its list; a page number beyond what a database counts to lies behind every list. */
export function pageBounds({ page, perPage }: PageRequest): { limit: number; offset: number } {
  const offset = (Math.max(page, 1) - 1) * perPage;
  return { limit: perPage, offset: Math.min(offset, Number.MAX_SAFE_INTEGER) };
}
