import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Operations } from '../../src/client/api.ts';
import { lackOf } from '../access.ts';
import { client, learnAccess, reasonOf } from '../session.ts';

interface ActionProps<Id extends keyof Operations> {
  children: ComponentChildren;
  /** The question to confirm before an action that cannot be undone. */
  sure?: string;
  /** The operation to call. The button is disabled if the key may not call it. */
  does: Id;
  input: Operations[Id]['input'];
  /** Permissions needed in addition to that of the operation. */
  needs?: readonly string[];
  done: () => void;
}

/** A button that calls an operation of the server. It shows that the call runs, and why it failed or is not allowed. */
export function Action<Id extends keyof Operations>({ children, sure, does, input, needs, done }: ActionProps<Id>) {
  const [state, setState] = useState<'idle' | 'asking' | 'acting'>('idle');
  const [error, setError] = useState('');
  const place = useRef<HTMLSpanElement>(null);
  const hadFocus = useRef(false);
  // A disabled or removed button loses the keyboard focus. The focus moves here, so that the user can go on.
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
