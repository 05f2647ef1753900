import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../src/client/client.ts';
import { signedOutWhy, signIn } from '../session.ts';

/** The health of the service, which is public; empty until it is known. */
function useHealth(): string {
  const [health, setHealth] = useState('');
  useEffect(() => {
    // The body is the same when the service is not ready and answers with 503.
    fetch('/api/v1/ready')
      .then(async (answer) => setHealth(((await answer.json()) as { status?: string }).status ?? 'not known'))
      .catch(() => setHealth('not reached'));
  }, []);
  return health;
}

/** The page on which the user signs in with an API key. */
export function SignIn() {
  const [key, setKey] = useState('');
  const [error, setError] = useState('');
  const [isBusy, setBusy] = useState(false);
  const health = useHealth();
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError('');
    await signIn(key.trim()).catch((thrown: unknown) => {
      const isRefused = thrown instanceof ApiError;
      setError(isRefused ? `The key is not accepted: ${thrown.message}` : 'The server cannot be reached.');
    });
    setBusy(false);
  };
  return (
    <main class="sign-in">
      <form onSubmit={(event) => void submit(event)}>
        <h1>
          <span class="mark" aria-hidden="true" /> Isolayer
        </h1>
        <p class="quiet small">
          This service relays transactions, signs them, and runs plugins.
          {health !== '' && (
            <>
              {' '}
              It is <strong class={health === 'healthy' ? '' : 'bad'}>{health}</strong>.
            </>
          )}
        </p>
        <p class="quiet">{signedOutWhy.value || 'You see what your API key may see.'}</p>
        <label for="key">API key</label>
        <input
          id="key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
        <button type="submit" class="primary" disabled={isBusy}>
          Sign in
        </button>
        {error !== '' && (
          <p class="bad" role="alert">
            {error}
          </p>
        )}
        <p class="quiet small">
          The key is <code>API_KEY</code> of the server’s environment. If that is not set, it is in the file{' '}
          <code>api-key</code> of the server’s data folder (<code>data/api-key</code>), or make one with{' '}
          <code>POST /api/v1/api-keys</code>. The key stays in this tab. <a href="/api-docs">Read the API</a>
        </p>
      </form>
    </main>
  );
}
