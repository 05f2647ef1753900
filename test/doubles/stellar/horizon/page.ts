import { limitParam } from './params.ts';
import { invalidField, PROBLEMS, Problem } from './problem.ts';
import type { Asked } from './route.ts';

/** A record with its position in the total order (SEP-35). */
export interface Placed {
  readonly paging_token: string;
}

/** The position of a ledger, or of a transaction in it, in the total order. */
export function placeOf(ledger: number, order = 0): bigint {
  return (BigInt(ledger) << 32n) | (BigInt(order) << 12n);
}

/** A page of records, with its links. The records must be in order. @throws Problem */
export function pageOf<T extends Placed>(asked: Asked, records: () => readonly T[]) {
  const { params, view } = asked;
  const order = params.get('order') || 'asc';
  if (order !== 'asc' && order !== 'desc') throw invalidField('order', 'order: invalid value');
  const limit = limitParam(asked, 10);
  const cursor = cursorOf(asked);
  if (order === 'desc' && cursor !== undefined && cursor <= placeOf(view.oldest.sequence)) {
    throw new Problem(PROBLEMS.beforeHistory);
  }
  const page = records().filter(({ paging_token: token }) => {
    if (cursor === undefined) return true;
    return order === 'asc' ? BigInt(token) > cursor : BigInt(token) < cursor;
  });
  const shown = (order === 'asc' ? page : page.toReversed()).slice(0, limit);
  return { _links: linksOf(asked, { order, limit, cursor }, shown), _embedded: { records: shown } };
}

function cursorOf({ params, view }: Asked): bigint | undefined {
  const text = params.get('cursor') ?? '';
  if (text === '') return undefined;
  if (text === 'now') return placeOf(view.latest.sequence + 1) - 1n;
  if (!/^\d{1,19}$/.test(text)) throw invalidField('cursor', 'cursor: invalid value');
  return BigInt(text);
}

function linksOf(
  { base, path }: Asked,
  { order, limit, cursor }: { order: string; limit: number; cursor: bigint | undefined },
  shown: readonly Placed[],
) {
  const link = (place: bigint | string | undefined, direction: string) => ({
    href: `${base}${path}?${new URLSearchParams({ cursor: String(place ?? ''), limit: String(limit), order: direction })}`,
  });
  return {
    self: link(cursor, order),
    next: link(shown.at(-1)?.paging_token ?? cursor, order),
    prev: link(shown[0]?.paging_token ?? cursor, order === 'asc' ? 'desc' : 'asc'),
  };
}
