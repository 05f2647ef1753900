import { z } from 'zod';
import type { ListPartRequest, PageRequest } from '../domain/page.ts';

const MAX_PAGE = 4_294_967_295;
const MAX_PER_PAGE = 500;

const wholeNumber = z
  .string('must be given once')
  .refine((text) => /^\d+$/.test(text), 'must be a whole number, 0 or more')
  .transform(Number)
  .meta({ type: 'integer', minimum: 0 });

const perPage = wholeNumber.default(10).meta({ type: 'integer', minimum: 0, description: 'More than 500 means 500' });

/** The query of every list: `page` from 1 (0 means 1), `per_page` 0 to 500, more is 500. Other keys are ignored. */
export const pageQuerySchema = z.object({
  page: wholeNumber
    .refine((page) => page <= MAX_PAGE, `must be at most ${MAX_PAGE}`)
    .default(1)
    .meta({ type: 'integer', minimum: 0, maximum: MAX_PAGE, description: 'From 1; 0 means 1' }),
  per_page: perPage,
});

export function pageRequest(query: z.infer<typeof pageQuerySchema>): PageRequest {
  return { page: Math.max(1, query.page), perPage: Math.min(MAX_PER_PAGE, query.per_page) };
}

export const NO_CURSOR = 'must be a next_cursor of this list';

const cursorSchema = z.string('must be given once');
const CURSOR = {
  type: 'string',
  minLength: 1,
  description: 'The `next_cursor` of the previous page; absent for the first page',
} as const;

/** The query of a list that only grows. `cursor` comes from the part before; `per_page` is as in every list. */
export const partQuerySchema = z.object({
  cursor: cursorSchema
    .regex(/^\d{1,15}$/, NO_CURSOR)
    .transform(Number)
    .optional()
    .meta(CURSOR),
  per_page: perPage,
});

/** The same query, for a list with sealed cursors. */
export const sealedPartQuerySchema = partQuerySchema.extend({ cursor: cursorSchema.optional().meta(CURSOR) });

export function partRequest(query: z.infer<typeof partQuerySchema>): ListPartRequest {
  return { before: query.cursor ?? null, limit: Math.min(MAX_PER_PAGE, query.per_page) };
}
