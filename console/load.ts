import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Operations } from '../src/client/api.ts';
import { lackOf } from './access.ts';
import { generation } from './live.ts';
import { client, reasonOf } from './session.ts';

/** What was asked for, as far as it is there. What was there stays while it is asked for anew. */
export interface Loaded<T> {
  value: T | undefined;
  error: string;
  /** What the error came of; undefined without one. */
  cause: unknown;
  /** Why the key may not ask for it, which is the error then; undefined when it may. */
  lack: string | undefined;
  /** When the value was asked for, by the clock of `performance`. */
  askedAt: number;
  /** Whether it is being asked for, at the moment of the look. */
  isAsking: () => boolean;
  reload: () => void;
}

/**
 * Asks once, again when what is asked for changes, and when the stream of events says that something was missed. What the
 * key may not see is not asked for.
 */
export function useCall<Id extends keyof Operations>(
  id: Id,
  input: Operations[Id]['input'],
): Loaded<Operations[Id]['answer']> {
  const asked = JSON.stringify([id, input]);
  const [state, setState] = useState<State<Operations[Id]['answer']>>({ asked, error: '', askedAt: 0 });
  const isAsking = useRef(false);
  const [round, setRound] = useState(0);
  const missed = generation.value;
  const lack = lackOf(id, input);
  useEffect(() => {
    if (lack !== undefined) return undefined;
    const leaving = new AbortController();
    const askedAt = performance.now();
    isAsking.current = true;
    client
      .peek()
      ?.call(id, input, leaving.signal)
      .then(
        (value) => {
          isAsking.current = false;
          setState({ asked, value, error: '', cause: undefined, askedAt });
        },
        (cause: unknown) => {
          if (leaving.signal.aborted) return;
          isAsking.current = false;
          const known = { asked, error: reasonOf(cause), cause };
          // What was asked for before is no answer to this.
          setState((before) => (before.asked === asked ? { ...before, ...known } : { ...known, askedAt }));
        },
      );
    return () => leaving.abort();
  }, [asked, round, missed, lack]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const known = state.asked === asked ? state : { ...state, value: undefined, error: '' };
  const { value, error, cause, askedAt } = lack === undefined ? known : { askedAt: 0, error: lack };
  return { value, error, cause, askedAt, lack, isAsking: useCallback(() => isAsking.current, []), reload };
}

interface State<T> {
  asked: string;
  value?: T;
  error: string;
  cause?: unknown;
  askedAt: number;
}

/** Whether the pointer or the keyboard is within a list, so that nothing in it may move. */
export function isHeld(): boolean {
  const isPointed = matchMedia('(hover: hover)').matches && document.querySelector('main table:hover') !== null;
  return isPointed || document.querySelector('main table:focus-within') !== null;
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
