import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isRefusal } from '../refused.ts';
import { reasonOf } from '../session.ts';

interface ActionProps {
  children: ComponentChildren;
  /** What it asks before it is done, where it cannot be taken back. */
  sure?: string;
  act: () => Promise<unknown>;
  disabled?: boolean;
}

/**
 * A button that does something on the server, says that it does, and why it did not. The service alone knows what a key
 * may do: what it refused once is not offered again.
 */
export function Action({ children, sure, act, disabled = false }: ActionProps) {
  const [state, setState] = useState<'idle' | 'asking' | 'acting'>('idle');
  const [error, setError] = useState('');
  const [isRefused, setRefused] = useState(false);
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
    await act().catch((thrown: unknown) => {
      setError(reasonOf(thrown));
      setRefused(isRefusal(thrown));
    });
    setState('idle');
  };
  if (state === 'asking') {
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
  const begin = () => (sure === undefined ? void run() : setState('asking'));
  return (
    <span class="action" ref={place} tabIndex={-1}>
      <button
        type="button"
        disabled={disabled || isRefused || state === 'acting'}
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
