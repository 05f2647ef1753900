import { useCallback, useEffect } from 'preact/hooks';
import type { Schemas } from '../../src/client/api.ts';
import { amountText, eventName, priceOf } from '../../src/client/format.ts';
import { listen, type TransactionNews } from '../live.ts';
import { useCall, useEvery } from '../load.ts';
import { Action } from '../parts/action.tsx';
import { Attempts } from '../parts/attempts.tsx';
import { Deliveries } from '../parts/deliveries.tsx';
import { explorerLink } from '../parts/explorer.ts';
import { ListOf } from '../parts/table.tsx';
import { Badge, durationText, Note, Short, Time } from '../parts/text.tsx';
import { to } from '../place.ts';
import { fieldOf, hashOf } from './transactions.tsx';

type Event = Schemas['TimelineEvent'];

const FINAL = new Set(['confirmed', 'failed', 'canceled', 'expired']);
const CANCELABLE = new Set(['pending', 'sent', 'submitted']);
/** Transactions are polled, because the event stream does not report decisions. */
const LOOK_EVERY_MS = 4_000;

export function TransactionPage({ relayerId, id }: { relayerId: string; id: string }) {
  const path = { id: relayerId, transactionId: id };
  const transaction = useCall('getTransaction', { path });
  const timeline = useCall('getTransactionTimeline', { path });
  const relayer = useCall('getRelayer', { path: { id: relayerId } });
  const networkId = relayer.value && `${relayer.value.data.network_type}:${relayer.value.data.network}`;
  const reload = useCallback(() => {
    transaction.reload();
    timeline.reload();
  }, [transaction.reload, timeline.reload]);
  useEffect(() => {
    const reloadFor = (news: TransactionNews) => {
      if (news.id === id) reload();
    };
    return listen({ transaction: reloadFor });
  }, [id, reload]);
  const one = transaction.value?.data;
  const isOpen = one !== undefined && !FINAL.has(one.status);
  const look = useCallback(() => (isOpen ? timeline.reload() : undefined), [isOpen, timeline.reload]);
  useEvery(LOOK_EVERY_MS, look);
  if (one === undefined) {
    return <Note kind={transaction.error ? 'bad' : 'quiet'}>{transaction.error || 'Loading…'}</Note>;
  }
  const events = timeline.value?.data.events ?? [];
  const original = timeline.value?.data.original;
  const webhook = relayer.value?.data.notification_id;
  return (
    <>
      <p class="back">
        <a href={to('transactions', relayerId)}>Transactions of {relayerId}</a>
      </p>
      <Head transaction={one} path={path} done={reload} />
      <p class="lead">
        {timeline.value === undefined ? one.status_reason : whyText(one.status, one.status_reason ?? null, events)}
      </p>
      <h2>Attempts</h2>
      <Attempts events={events} />
      <h2>Timeline</h2>
      <Timeline events={events} />
      {(timeline.value?.data.omitted ?? 0) > 0 && (
        <Note>{timeline.value?.data.omitted} older events are not shown.</Note>
      )}
      <h2>Webhook deliveries</h2>
      {webhook === undefined ? (
        <Note>None: its relayer has no webhook.</Note>
      ) : (
        <WebhookDeliveries webhookId={webhook} id={id} />
      )}
      {original != null && (
        <>
          <h2>Original request</h2>
          <p>An empty transaction took its place. This is what it was to do:</p>
          <Fields of={original} />
        </>
      )}
      <h2>Details</h2>
      <dl class="facts">
        <dt>Accepted</dt>
        <dd>
          <Time at={fieldOf(one, 'created_at')} />
        </dd>
        <dt>In a block</dt>
        <dd>
          <Place inclusion={timeline.value?.data.inclusion} at={minedAt(one, events)} />
        </dd>
        <dt>Hash</dt>
        <dd>
          <Hash networkId={networkId} hash={hashOf(one)} />
        </dd>
      </dl>
      <Fields of={one} />
    </>
  );
}

interface HeadProps {
  transaction: Schemas['Transaction'];
  path: { id: string; transactionId: string };
  done: () => void;
}

function Head({ transaction: one, path, done }: HeadProps) {
  const dearer = dearerOf(one);
  return (
    <header class="head">
      <h1>
        Transaction <code class="wrap">{one.id}</code>
      </h1>
      <Badge state={one.status} />
      {CANCELABLE.has(one.status) && (
        <Action sure="Cancel it?" does="cancelTransaction" input={{ path }} done={done}>
          Cancel
        </Action>
      )}
      {dearer !== undefined && CANCELABLE.has(one.status) && (
        <Action sure="Pay more?" does="replaceTransaction" input={{ path, body: dearer }} done={done}>
          Speed up
        </Action>
      )}
    </header>
  );
}

function Timeline({ events }: { events: readonly Event[] }) {
  const [first] = events;
  return (
    <ol class="timeline" aria-label="Timeline">
      {events.map((event, index) => (
        <li key={`${event.at} ${index}`} class={event.event === 'ended' ? `ended ${event.status}` : event.event}>
          <After at={event.at} first={first?.at} />
          <div>
            <strong>{eventName(event)}</strong>
            <Detail event={event} />
          </div>
        </li>
      ))}
    </ol>
  );
}

/** Shows the fields of a transaction that no other part of the page shows. */
function Fields({ of }: { of: object }) {
  return (
    <dl class="facts">
      {Object.entries(of)
        .filter(([name, value]) => !SHOWN.has(name) && value != null && typeof value !== 'object')
        .map(([name, value]) => [
          <dt key={name}>{name.replaceAll('_', ' ')}</dt>,
          <dd key={`${name} value`} class="wrap">
            {name.endsWith('_at') ? <Time at={String(value)} /> : fieldText(name, value)}
          </dd>,
        ])}
    </dl>
  );
}

/** A field as text, with its unit where the name says that it is an amount of wei. */
function fieldText(name: string, value: unknown): string {
  if (name === 'value' && typeof value === 'string' && value.startsWith('0x')) return amountText(value, 'wei');
  if (/^gas_price$|_fee_per_gas$/.test(name)) return priceOf({ gas_price: value });
  return String(value);
}

/** Shows the block of a transaction and what it paid there. */
function Place(props: { inclusion: Record<string, unknown> | null | undefined; at: string | undefined }) {
  const { inclusion, at } = props;
  if (inclusion == null) return at === undefined ? <span class="quiet">no</span> : <Time at={at} />;
  const block = inclusion['block_number'] ?? inclusion['slot'] ?? inclusion['ledger'];
  const fee = feeText(inclusion);
  return (
    <>
      {String(block)} {at !== undefined && <Time at={at} />}
      {fee !== undefined && ` · fee paid: ${fee}`}
    </>
  );
}

/** The fee that a transaction has paid in its block; undefined if the block does not say. */
function feeText({ gas_used, effective_gas_price, fee, slot }: Record<string, unknown>): string | undefined {
  const amount = (value: unknown) =>
    typeof value === 'string' || typeof value === 'number' ? BigInt(value) : undefined;
  const [gas, price, paid] = [amount(gas_used), amount(effective_gas_price), amount(fee)];
  if (gas !== undefined && price !== undefined) return amountText(gas * price, 'wei');
  return paid === undefined ? undefined : amountText(paid, slot === undefined ? 'stroop' : 'lamport');
}

/** When the transaction got into its block; undefined if it is in none or nobody noted it. */
function minedAt(one: Schemas['Transaction'], events: readonly Event[]): string | undefined {
  const mined = events.findLast((event) => event.event === 'decided' && event.decision === 'mined');
  return fieldOf(one, 'confirmed_at') ?? mined?.at;
}

const SHOWN = new Set([
  'id',
  'status',
  'status_reason',
  'created_at',
  'confirmed_at',
  'hash',
  'signature',
  'relayer_id',
]);

/** Shows the webhook deliveries of a transaction's events. */
function WebhookDeliveries({ webhookId, id }: { webhookId: string; id: string }) {
  const query = { transaction_id: id, per_page: 50 };
  const deliveries = useCall('listDeliveries', { path: { id: webhookId }, query });
  useEvery(LOOK_EVERY_MS, deliveries.reload);
  return (
    <>
      <p>
        <a href={to('webhooks', webhookId)}>{webhookId}</a>
      </p>
      <ListOf loaded={deliveries} empty="No event yet.">
        {(items) => <Deliveries webhookId={webhookId} items={items} changed={deliveries.reload} />}
      </ListOf>
    </>
  );
}

function Hash({ networkId, hash }: { networkId: string | undefined; hash: string | null }) {
  const network = useCall('getNetwork', { path: { id: networkId ?? '' } });
  const [explorer] = network.value?.data.explorer_urls ?? [];
  const link = explorerLink(explorer, hash);
  if (hash === null) return <span class="quiet">not signed yet</span>;
  return link === undefined ? (
    <code class="wrap">{hash}</code>
  ) : (
    <a href={link} rel="noreferrer noopener" target="_blank" class="wrap">
      {hash}
    </a>
  );
}

/** Shows how long after the first event something happened. The exact time is in the tooltip. */
function After({ at, first = at }: { at: string; first: string | undefined }) {
  return at === first ? (
    <Time at={at} />
  ) : (
    <time dateTime={at} title={at}>
      +{durationText(Date.parse(at) - Date.parse(first))}
    </time>
  );
}

/**
 * Makes a request for the same transaction at the highest price. Undefined for networks whose transactions have no
 * price to raise.
 */
function dearerOf(one: Schemas['Transaction']): Record<string, unknown> | undefined {
  if (!('max_fee_per_gas' in one)) return undefined;
  const { to: recipient, value, data, gas_limit: gasLimit, access_list: accesses, authorization_list: grants } = one;
  return {
    to: recipient,
    value,
    data,
    speed: 'fastest',
    ...(gasLimit !== null && { gas_limit: gasLimit }),
    ...(accesses !== undefined && { access_list: accesses }),
    ...(grants !== undefined && { authorization_list: grants }),
  };
}

/** Explains in one sentence why the transaction is in its state, or why it takes long. */
function whyText(status: string, reason: string | null, events: readonly Event[]): string {
  if (reason !== null) return reason;
  const last = events.findLast((event) => event.event === 'decided');
  const signed = events.filter((event) => event.event === 'signed').length;
  if (status === 'pending') return 'It waits for its turn to be signed.';
  if (status === 'confirmed') {
    return signed > 1
      ? `It took ${signed} attempts${last ? `: ${last.text}` : ''}.`
      : 'It went through at the first attempt.';
  }
  if (status === 'mined') return 'It is in a block that is not final yet.';
  if (last !== undefined) return last.text;
  if (status === 'sent') return 'It is signed, and no node has taken it yet.';
  if (status === 'submitted') return 'A node has taken it; it waits for a block.';
  return '';
}

function Detail({ event }: { event: Event }) {
  switch (event.event) {
    case 'decided':
    case 'cancel_refused':
    case 'replace_refused':
      return <p>{event.text}</p>;
    case 'signed':
      return (
        <p>
          {event.purpose} · <Short text={event.hash} /> {priceOf(event.content)}
        </p>
      );
    case 'submitted':
      return (
        <p>
          version {event.version}
          {event.endpoint !== undefined && ` · taken by ${event.endpoint}`}
        </p>
      );
    case 'ended':
      return event.text === undefined ? null : <p>{event.text}</p>;
    default:
      return null;
  }
}
