import { useCallback, useState } from 'preact/hooks';
import type { Schemas } from '../../src/client/api.ts';
import { useCall, useEvery } from '../load.ts';
import { Action } from '../parts/action.tsx';
import { ListOf, Table } from '../parts/table.tsx';
import { Badge, Note, Time } from '../parts/text.tsx';
import { to } from '../place.ts';
import { client } from '../session.ts';

export function Webhooks() {
  const targets = useCall('listNotifications', { query: { per_page: 100 } });
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
    </>
  );
}

/** No event tells of deliveries. */
const LOOK_EVERY_MS = 3_000;
const STATES = ['waiting', 'delivered', 'dead', 'dropped'] as const;

export function WebhookRoom({ id }: { id: string }) {
  const [state, setState] = useState<(typeof STATES)[number] | ''>('');
  const [chosen, setChosen] = useState('');
  const deliveries = useCall('listDeliveries', {
    path: { id },
    query: { per_page: 50, ...(state !== '' && { state }) },
  });
  // Nothing moves under who reads further down, or has one open.
  const look = useCallback(() => {
    if (chosen === '' && window.scrollY < 200) deliveries.reload();
  }, [chosen, deliveries.reload]);
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
          Look again
        </button>
      </header>
      <ListOf loaded={deliveries} empty="Nothing was to be told yet.">
        {(items) => (
          <Table name="Deliveries" heads={['State', 'Event', 'Made', 'Tries', 'Outcome', '']}>
            {items.map((one) => (
              <tr key={one.id}>
                <td data-head="State">
                  <Badge state={one.state} />
                </td>
                <td data-head="Event">{one.event}</td>
                <td data-head="Made">
                  <Time at={one.created_at} />
                </td>
                <td data-head="Tries">{one.tries}</td>
                <td data-head="Outcome" class="wrap">
                  {one.outcome ?? '—'}
                </td>
                <td>
                  <button
                    type="button"
                    aria-expanded={chosen === one.id}
                    onClick={() => setChosen(chosen === one.id ? '' : one.id)}
                  >
                    {chosen === one.id ? 'Close' : 'Show'}
                  </button>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </ListOf>
      {chosen !== '' && <Delivery key={chosen} id={id} deliveryId={chosen} changed={deliveries.reload} />}
    </>
  );
}

function Delivery({ id, deliveryId, changed }: { id: string; deliveryId: string; changed: () => void }) {
  const path = { id, deliveryId };
  const delivery = useCall('getDelivery', { path });
  const one: Schemas['WholeDelivery'] | undefined = delivery.value?.data;
  useEvery(LOOK_EVERY_MS, delivery.reload);
  if (one === undefined) return <Note kind={delivery.error ? 'bad' : 'quiet'}>{delivery.error || 'Loading…'}</Note>;
  const again = async () => {
    await client.value?.call('redeliver', { path });
    delivery.reload();
    changed();
  };
  return (
    <section aria-label="Delivery">
      <header class="head">
        <h2>
          Delivery <code>{one.id}</code>
        </h2>
        <Badge state={one.state} />
        <Action act={again}>Deliver again</Action>
      </header>
      <dl class="facts">
        <dt>Relayer</dt>
        <dd>{one.relayer_id === null ? '—' : <a href={to('transactions', one.relayer_id)}>{one.relayer_id}</a>}</dd>
        <dt>Tries</dt>
        <dd>{one.tries}</dd>
        <dt>Outcome of the latest</dt>
        <dd>{one.outcome ?? '—'}</dd>
        <dt>Next try</dt>
        <dd>
          <Time at={one.next_try_at} />
        </dd>
        <dt>Ended</dt>
        <dd>
          <Time at={one.ended_at} />
        </dd>
      </dl>
      <h3 class="above">What is sent</h3>
      <pre tabIndex={0}>{readable(one.body)}</pre>
    </section>
  );
}

/** The text as it is sent, with line breaks where that changes nothing else. */
function readable(body: string): string {
  try {
    const value: unknown = JSON.parse(body);
    return JSON.stringify(value) === body ? JSON.stringify(value, null, 2) : body;
  } catch {
    return body;
  }
}
