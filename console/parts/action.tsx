import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { reasonOf } from '../session.ts';

interface ActionProps {
  children: ComponentChildren;
  /** What it asks before it is done, where it cannot be taken back. */
  sure?: string;
  act: () => Promise<unknown>;
  disabled?: boolean;
}

/** A button that does something on the server, says that it does, and why it did not. */
export function Action({ children, sure, act, disabled = false }: ActionProps) {
  const [state, setState] = useState<'idle' | 'asking' | 'acting'>('idle');
  const [error, setError] = useState('');
  const run = async () => {
    setState('acting');
    setError('');
    await act().catch((thrown: unknown) => setError(reasonOf(thrown)));
    setState('idle');
  };
  if (state === 'asking') {
    return (
      <span class="action" role="group" aria-label={sure}>
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
    <span class="action">
      <button type="button" disabled={disabled || state === 'acting'} aria-busy={state === 'acting'} onClick={begin}>
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
