import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Loaded } from '../load.ts';
import { Note } from './text.tsx';

interface TableProps {
  /** What the table lists, for screen readers. */
  name: string;
  /** The heads of the columns; an empty one is a column of buttons or links. */
  heads: readonly string[];
  children: ComponentChildren;
}

/** A table. On a narrow screen each row is a card, and each cell shows its column's name. */
export function Table({ name, heads, children }: TableProps) {
  return (
    <div class="scroll">
      <table aria-label={name}>
        <thead>
          <tr>
            {heads.map((head) =>
              head === '' ? (
                <td key={head} />
              ) : (
                <th key={head} scope="col">
                  {head}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** Shows a loaded list, or why it is missing. */
export function ListOf<Item>(props: {
  loaded: Loaded<{ data: Item[] }>;
  empty: string;
  children: (items: Item[]) => ComponentChildren;
}) {
  const { loaded, empty, children } = props;
  if (loaded.value === undefined) {
    const { error, lack } = loaded;
    return error === '' ? <Note>Loading…</Note> : <Note kind={lack === undefined ? 'bad' : 'quiet'}>{error}</Note>;
  }
  return (
    <>
      {loaded.error !== '' && <Note kind="bad">{loaded.error}</Note>}
      {loaded.value.data.length === 0 ? <Note>{empty}</Note> : children(loaded.value.data)}
    </>
  );
}

interface Pagination {
  per_page: number;
  total_items: number;
}

/** Buttons for the previous and the next page. */
export function Pages(props: { page: number; of: Pagination | undefined; go: (page: number) => void }) {
  const { page, of, go } = props;
  // Keeps the last known pagination while the next page loads.
  const known = useRef(of);
  known.current = of ?? known.current;
  const last = known.current && Math.max(1, Math.ceil(known.current.total_items / known.current.per_page));
  // The last page may have become empty.
  useEffect(() => {
    if (last !== undefined && page > last) go(last);
  }, [page, last, go]);
  if (last === undefined || last === 1) return null;
  return (
    <nav class="pages" aria-label="Pages">
      <button type="button" disabled={page <= 1} onClick={() => go(page - 1)}>
        Previous
      </button>
      <span>
        Page {page} of {last}
      </span>
      <button type="button" disabled={page >= last} onClick={() => go(page + 1)}>
        Next
      </button>
    </nav>
  );
}

/** Pages through a list that only grows, from the latest entries on. Starts again for another list. */
export function useParts(list: string) {
  // The cursors of the visited parts. The first part has none.
  const [way, setWay] = useState({ list, cursors: [] as readonly string[] });
  const cursors = way.list === list ? way.cursors : [];
  const [cursor] = cursors.slice(-1);
  return {
    query: cursor === undefined ? {} : { cursor },
    isLatest: cursor === undefined,
    newer: () => setWay({ list, cursors: cursors.slice(0, -1) }),
    older: (next: string) => setWay({ list, cursors: [...cursors, next] }),
  };
}

export function Older({ parts, next }: { parts: ReturnType<typeof useParts>; next: string | null | undefined }) {
  if (parts.isLatest && next == null) return null;
  return (
    <nav class="pages" aria-label="Parts">
      <button type="button" disabled={parts.isLatest} onClick={parts.newer}>
        Newer
      </button>
      <button type="button" disabled={next == null} onClick={() => next != null && parts.older(next)}>
        Older
      </button>
    </nav>
  );
}
