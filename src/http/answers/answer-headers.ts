/**
 * Headers of every answer. Browsers must take the content type as it is, and nothing may be cached. A route that does
 * not answer with JSON may set its own.
 */
export const ANSWER_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' } as const;
