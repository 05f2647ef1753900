import type { ComponentChildren } from 'preact';
import type { Loaded } from '../load.ts';
import { Note } from './text.tsx';

interface TableProps {
  /** What is in it, for who does not see it. */
  name: string;
  heads: readonly string[];
  children: ComponentChildren;
}

/** A list in rows; on a narrow screen each row is a card, and its cells name themselves. */
export function Table({ name, heads, children }: TableProps) {
  return (
    <div class="scroll">
      <table aria-label={name}>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** A list as it was asked for, or why there is none. */
export function ListOf<Item>(props: {
  loaded: Loaded<{ data: Item[] }>;
  empty: string;
  children: (items: Item[]) => ComponentChildren;
}) {
  const { loaded, empty, children } = props;
  if (loaded.value === undefined) {
    return loaded.error === '' ? <Note>Loading…</Note> : <Note kind="bad">{loaded.error}</Note>;
  }
  return (
    <>
      {loaded.error !== '' && <Note kind="bad">{loaded.error}</Note>}
      {loaded.value.data.length === 0 ? <Note>{empty}</Note> : children(loaded.value.data)}
    </>
  );
}

/** Leads from page to page. */
export function Pages({
  page,
  total,
  perPage,
  go,
}: {
  page: number;
  total: number;
  perPage: number;
  go: (page: number) => void;
}) {
  const last = Math.max(1, Math.ceil(total / perPage));
  if (last === 1) return null;
  return (
    <nav class="pages" aria-label="Pages">
      <button type="button" disabled={page <= 1} onClick={() => go(page - 1)}>
        Newer
      </button>
      <span>
        Page {page} of {last}
      </span>
      <button type="button" disabled={page >= last} onClick={() => go(page + 1)}>
        Older
      </button>
    </nav>
  );
}
