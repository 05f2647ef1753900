import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Operations } from '../src/client/api.ts';
import { generation } from './live.ts';
import { client, reasonOf } from './session.ts';

/** What was asked for, as far as it is there. What was there stays while it is asked for anew. */
export interface Loaded<T> {
  value: T | undefined;
  error: string;
  reload: () => void;
}

/** Asks once, again when what is asked for changes, and when the stream of events says that something was missed. */
export function useCall<Id extends keyof Operations>(
  id: Id,
  input: Operations[Id]['input'],
): Loaded<Operations[Id]['answer']> {
  const asked = JSON.stringify([id, input]);
  const [state, setState] = useState<{ asked: string; value?: Operations[Id]['answer']; error: string }>({
    asked,
    error: '',
  });
  const [round, setRound] = useState(0);
  const missed = generation.value;
  useEffect(() => {
    const leaving = new AbortController();
    client
      .peek()
      ?.call(id, input, leaving.signal)
      .then(
        (value) => setState({ asked, value, error: '' }),
        (error: unknown) => {
          if (!leaving.signal.aborted) setState((before) => ({ ...before, asked, error: reasonOf(error) }));
        },
      );
    return () => leaving.abort();
  }, [asked, round, missed]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { value: state.asked === asked ? state.value : undefined, error: state.error, reload };
}

/** Calls back now and then, for what no event tells of; not while nobody looks. */
export function useEvery(milliseconds: number, call: () => void): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') call();
    }, milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds, call]);
}
