import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Operations } from '../src/client/api.ts';
import { lackOf } from './access.ts';
import { generation } from './live.ts';
import { client, reasonOf } from './session.ts';

/** An answer of the API, as far as it has arrived. The old value stays while it is loaded again. */
export interface Loaded<T> {
  value: T | undefined;
  error: string;
  /** The thrown error; undefined without one. */
  cause: unknown;
  /** Why the key may not make this request; then `error` is the same text. Undefined if it may. */
  lack: string | undefined;
  /** When the value was requested, by the clock of `performance`. */
  askedAt: number;
  /** Whether a request is running now. */
  isAsking: () => boolean;
  reload: () => void;
}

/**
 * Calls an operation: once, again when the operation or its input changes, and again when events were missed. Makes no
 * call that the key may not make.
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
          // If the input has changed, the previous answer does not belong to it.
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

/** Whether the pointer or the keyboard focus is in a list. Then nothing in the list may move. */
export function isHeld(): boolean {
  const isPointed = matchMedia('(hover: hover)').matches && document.querySelector('main table:hover') !== null;
  return isPointed || document.querySelector('main table:focus-within') !== null;
}

/** Calls `call` at an interval, for data that no event reports. Not while the page is hidden. */
export function useEvery(milliseconds: number, call: () => void): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') call();
    }, milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds, call]);
}
