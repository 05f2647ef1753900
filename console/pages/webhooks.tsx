import { useCallback, useState } from 'preact/hooks';
import { isHeld, useCall, useEvery } from '../load.ts';
import { Deliveries, LOOK_EVERY_MS } from '../parts/deliveries.tsx';
import { ListOf, Older, Pages, Table, useParts } from '../parts/table.tsx';
import { to } from '../place.ts';

export function Webhooks() {
  const [page, setPage] = useState(1);
  const targets = useCall('listNotifications', { query: { page, per_page: 100 } });
  return (
    <>
      <h1>Webhooks</h1>
      <ListOf loaded={targets} empty="There is no webhook yet.">
        {(items) => (
          <Table name="Webhooks" heads={['Webhook', 'Address', 'Signed']}>
            {items.map((one) => (
              <tr key={one.id}>
                <td data-head="Webhook">
                  <a href={to('webhooks', one.id)}>{one.id}</a>
                </td>
                <td data-head="Address" class="wrap">
                  {one.url}
                </td>
                <td data-head="Signed">{one.has_signing_key ? 'yes' : 'no'}</td>
              </tr>
            ))}
          </Table>
        )}
      </ListOf>
      <Pages page={page} of={targets.value?.pagination} go={setPage} />
    </>
  );
}

const STATES = ['waiting', 'delivered', 'dead', 'dropped'] as const;

export function WebhookPage({ id }: { id: string }) {
  const [state, setState] = useState<(typeof STATES)[number] | ''>('');
  const parts = useParts(state);
  const query = { per_page: 50, ...parts.query, ...(state !== '' && { state }) };
  const deliveries = useCall('listDeliveries', { path: { id }, query });
  // Reloads only at the top of the latest part, and not while the user points at or focuses a row. Otherwise rows would
  // move under the reader.
  const look = useCallback(() => {
    if (parts.isLatest && window.scrollY < 200 && !isHeld()) deliveries.reload();
  }, [parts.isLatest, deliveries.reload]);
  useEvery(LOOK_EVERY_MS, look);
  return (
    <>
      <p class="back">
        <a href={to('webhooks')}>Webhooks</a>
      </p>
      <header class="head">
        <h1>{id}</h1>
        <label>
          <span class="quiet">State </span>
          <select value={state} onChange={(event) => setState(event.currentTarget.value as typeof state)}>
            <option value="">any</option>
            {STATES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <button type="button" onClick={deliveries.reload}>
          Refresh
        </button>
      </header>
      <ListOf
        loaded={deliveries}
        empty={parts.isLatest ? 'There are no deliveries yet.' : 'There are none on this page.'}
      >
        {(items) => <Deliveries webhookId={id} items={items} changed={deliveries.reload} />}
      </ListOf>
      <Older parts={parts} next={deliveries.value?.pagination.next_cursor} />
    </>
  );
}
