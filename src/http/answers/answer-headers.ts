/**
 * What every answer says to browsers and caches on its way: it is what its type says, and is kept nowhere. A route that
 * answers with something else than JSON may set its own.
 */
export const ANSWER_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' } as const;
