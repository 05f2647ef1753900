import { useState } from 'preact/hooks';

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
