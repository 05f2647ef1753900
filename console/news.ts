import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Schemas } from '../src/client/api.ts';
import { listen, type TransactionNews } from './live.ts';
import type { Loaded } from './load.ts';

interface Heard {
  told: TransactionNews;
  /** The time by the clock of `performance`. */
  at: number;
}

/**
 * Collects events about the transactions of a list since the list was requested. Also counts other transactions that
 * began.
 */
export function useNews(relayerId: string, list: Loaded<{ data: Pick<Schemas['Transaction'], 'id'>[] }>) {
  const [changed, setChanged] = useState<ReadonlyMap<string, TransactionNews>>(new Map());
  const [waiting, setWaiting] = useState(0);
  const heard = useRef(new Map<string, Heard>()).current;
  const shown = useRef<ReadonlySet<string>>(new Set());
  const { isAsking } = list;
  useEffect(
    () =>
      listen({
        transaction: (told) => {
          if (told.relayer_id !== relayerId) return;
          const isShown = shown.current.has(told.id);
          if (told.status === 'pending' && !isShown) setWaiting((count) => count + 1);
          // Also keeps events while the list is being requested. Until the answer arrives, it is unknown whether the
          // list has the transaction and whether it is newer than the event.
          if (isShown || isAsking()) heard.set(told.id, { told, at: performance.now() });
          if (isShown) setChanged(newsOf(heard));
        },
      }),
    [relayerId, isAsking],
  );
  useEffect(() => {
    shown.current = new Set(list.value?.data.map(({ id }) => id));
    for (const [id, { at }] of heard) if (at < list.askedAt || !shown.current.has(id)) heard.delete(id);
    setChanged(newsOf(heard));
  }, [list.value]);
  return { changed, waiting, seen: useCallback(() => setWaiting(0), []) };
}

function newsOf(heard: ReadonlyMap<string, Heard>): ReadonlyMap<string, TransactionNews> {
  return new Map([...heard].map(([id, { told }]) => [id, told]));
}
