import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Operations } from '../../src/client/api.ts';
import { lackOf } from '../access.ts';
import { client, learnAccess, reasonOf } from '../session.ts';

interface ActionProps<Id extends keyof Operations> {
  children: ComponentChildren;
  /** What it asks before it is done, where it cannot be taken back. */
  sure?: string;
  /** Which operation. What the key may not do is not offered. */
  does: Id;
  input: Operations[Id]['input'];
  /** Permissions that it takes beside that of the operation. */
  needs?: readonly string[];
  done: () => void;
}

/** A button that does something on the server, says that it does, and why it did not or cannot. */
export function Action<Id extends keyof Operations>({ children, sure, does, input, needs, done }: ActionProps<Id>) {
  const [state, setState] = useState<'idle' | 'asking' | 'acting'>('idle');
  const [error, setError] = useState('');
  const place = useRef<HTMLSpanElement>(null);
  const hadFocus = useRef(false);
  // A button that cannot be pressed, or is gone, loses the keyboard: who pressed it goes on from here.
  useEffect(() => {
    if (state === 'idle' && hadFocus.current && document.activeElement === document.body) place.current?.focus();
  }, [state]);
  const run = async () => {
    hadFocus.current = place.current?.contains(document.activeElement) === true;
    setState('acting');
    setError('');
    try {
      await client.peek()?.call(does, input);
      done();
    } catch (thrown) {
      setError(reasonOf(thrown));
      void learnAccess();
    }
    setState('idle');
  };
  // What is asked about may have changed meanwhile, so that there is nothing to ask any more.
  if (state === 'asking' && sure !== undefined) {
    return (
      <span class="action" role="group" aria-label={sure} ref={place} tabIndex={-1}>
        <span>{sure}</span>
        <button type="button" class="danger" onClick={() => void run()}>
          Yes
        </button>
        <button type="button" onClick={() => setState('idle')}>
          No
        </button>
      </span>
    );
  }
  const lack = lackOf(does, input, needs);
  const begin = () => (sure === undefined ? void run() : setState('asking'));
  return (
    <span class="action" ref={place} tabIndex={-1}>
      <button
        type="button"
        disabled={lack !== undefined || state === 'acting'}
        title={lack}
        aria-busy={state === 'acting'}
        onClick={begin}
      >
        {children}
      </button>
      {error !== '' && (
        <span class="bad" role="alert">
          {error}
        </span>
      )}
    </span>
  );
}
