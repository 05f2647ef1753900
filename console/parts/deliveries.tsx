import { useState } from 'preact/hooks';
import type { Schemas } from '../../src/client/api.ts';
import { useCall, useEvery } from '../load.ts';
import { to } from '../place.ts';
import { Action } from './action.tsx';
import { Table } from './table.tsx';
import { Badge, Note, Short, Time } from './text.tsx';

/** Deliveries are polled, because the event stream does not report on them. */
export const LOOK_EVERY_MS = 3_000;

interface DeliveriesProps {
  webhookId: string;
  items: readonly Schemas['Delivery'][];
  changed: () => void;
}

/** Lists deliveries of events. Each row opens its details below. */
export function Deliveries({ webhookId, items, changed }: DeliveriesProps) {
  const [chosen, setChosen] = useState('');
  return (
    <Table name="Deliveries" heads={['State', 'Event', 'Of', 'Made', 'Attempts', 'Result', '']}>
      {items.map((one) => [
        <tr key={one.id}>
          <td data-head="State">
            <Badge state={one.state} />
          </td>
          <td data-head="Event">{one.event}</td>
          <td data-head="Of">
            <Subject of={one} />
          </td>
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
        </tr>,
        chosen === one.id && (
          <tr key={`${one.id} open`} class="opened">
            <td colSpan={7}>
              <Delivery webhookId={webhookId} id={one.id} changed={changed} />
            </td>
          </tr>
        ),
      ])}
    </Table>
  );
}

/** The transaction of an event, or else its relayer. */
function Subject({ of: { relayer_id: relayerId, transaction_id: transactionId } }: { of: Schemas['Delivery'] }) {
  if (relayerId === null) return <Short text={transactionId} />;
  if (transactionId === null) return <a href={to('relayers', relayerId)}>{relayerId}</a>;
  return (
    <a href={to('transactions', relayerId, transactionId)}>
      <Short text={transactionId} />
    </a>
  );
}

function Delivery({ webhookId, id, changed }: { webhookId: string; id: string; changed: () => void }) {
  const path = { id: webhookId, deliveryId: id };
  const delivery = useCall('getDelivery', { path });
  const one: Schemas['WholeDelivery'] | undefined = delivery.value?.data;
  useEvery(LOOK_EVERY_MS, delivery.reload);
  if (one === undefined) return <Note kind={delivery.error ? 'bad' : 'quiet'}>{delivery.error || 'Loading…'}</Note>;
  const done = () => {
    delivery.reload();
    changed();
  };
  return (
    <section aria-label="Delivery">
      <header class="head">
        <h2>
          Delivery <code class="wrap">{one.id}</code>
        </h2>
        <Badge state={one.state} />
        <Action does="redeliver" input={{ path }} done={done}>
          Deliver again
        </Action>
      </header>
      <dl class="facts">
        <dt>Relayer</dt>
        <dd>{one.relayer_id === null ? '—' : <a href={to('relayers', one.relayer_id)}>{one.relayer_id}</a>}</dd>
        <dt>Attempts</dt>
        <dd>{one.tries}</dd>
        <dt>Result of the latest</dt>
        <dd>{one.outcome ?? '—'}</dd>
        <dt>Next attempt</dt>
        <dd>
          <Time at={one.next_try_at} />
        </dd>
        <dt>Ended</dt>
        <dd>
          <Time at={one.ended_at} />
        </dd>
      </dl>
      <h3 class="above">Payload</h3>
      <pre tabIndex={0}>{readable(one.body)}</pre>
    </section>
  );
}

/** The body as sent. Adds line breaks only if they change nothing else. */
function readable(body: string): string {
  try {
    const value: unknown = JSON.parse(body);
    return JSON.stringify(value) === body ? JSON.stringify(value, null, 2) : body;
  } catch {
    return body;
  }
}
