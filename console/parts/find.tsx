import { useState } from 'preact/hooks';
import { type FoundTransaction, findTransactions } from '../../src/client/lists.ts';
import { to } from '../place.ts';
import { client, reasonOf } from '../session.ts';

/**
 * A form that finds a transaction by its id, hash or counter. Searches all relayers that the key may see, or the given
 * one.
 */
export function Find({ relayerId }: { relayerId?: string }) {
  const [text, setText] = useState('');
  const [error, setError] = useState('');
  const [several, setSeveral] = useState<readonly FoundTransaction[]>([]);
  const find = async () => {
    const current = client.value;
    if (current === null || text.trim() === '') return;
    setError('');
    setSeveral([]);
    try {
      const found = await findTransactions(current, text, relayerId === undefined ? undefined : [relayerId]);
      const [one] = found;
      if (one === undefined) setError('Nothing found that this key may see.');
      else if (found.length > 1) setSeveral(found);
      else location.hash = to('transactions', one.relayerId, one.transaction.id);
    } catch (thrown) {
      setError(reasonOf(thrown));
    }
  };
  return (
    <form
      class="find"
      onSubmit={(event) => {
        event.preventDefault();
        void find();
      }}
    >
      <input
        type="search"
        aria-label="Find a transaction by id, hash or counter"
        placeholder="Id, hash or counter"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit">Find</button>
      {error !== '' && (
        <span class="bad" role="alert">
          {error}
        </span>
      )}
      {several.length > 0 && (
        <span role="status">
          Of which relayer?{' '}
          {several.map(({ relayerId: id, transaction }) => (
            <a key={id} href={to('transactions', id, transaction.id)}>
              {id}{' '}
            </a>
          ))}
        </span>
      )}
    </form>
  );
}
