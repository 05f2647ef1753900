import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Schemas } from '../../src/client/api.ts';
import { listen, type TransactionNews } from '../live.ts';
import { type Loaded, useCall } from '../load.ts';
import { Find } from '../parts/find.tsx';
import { ListOf, Pages, Table } from '../parts/table.tsx';
import { Badge, Short, Time } from '../parts/text.tsx';
import { to } from '../place.ts';

type Transaction = Schemas['Transaction'];

type Status = Transaction['status'];

const STATUSES: readonly Status[] = [
  'pending',
  'sent',
  'submitted',
  'mined',
  'confirmed',
  'failed',
  'canceled',
  'expired',
];

const PER_PAGE = 50;

/** The shortest time between two reloads of the list, however many transactions begin. */
const GATHER_MS = 500;

/** The name of a transaction on its chain: its hash, or its signature on Solana. */
export function hashOf(one: Transaction): string | null {
  return ('hash' in one ? one.hash : 'signature' in one ? one.signature : null) ?? null;
}

/** A field that only some networks have; null if it is absent. */
export function fieldOf(one: Transaction, name: string): string | null {
  const value = (one as unknown as Record<string, unknown>)[name];
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value) ? `${value as string | number}` : null;
}

/** Lists the relayers whose transactions the key may see. */
export function TransactionsOfAll() {
  const [page, setPage] = useState(1);
  const relayers = useCall('listRelayers', { query: { page, per_page: 500 } });
  const [only] = relayers.value?.data ?? [];
  useEffect(() => {
    if (relayers.value?.pagination.total_items === 1 && only !== undefined)
      location.replace(to('transactions', only.id));
  }, [only]);
  return (
    <>
      <header class="head">
        <h1>Transactions</h1>
        <Find />
      </header>
      <ListOf loaded={relayers} empty="There is no relayer yet, or none that this key may see.">
        {(items) => (
          <ul class="cards">
            {items.map(({ id, name, network }) => (
              <li key={id}>
                <a href={to('transactions', id)}>
                  <strong>{name}</strong>
                  <span class="quiet">{network}</span>
                </a>
              </li>
            ))}
          </ul>
        )}
      </ListOf>
      <Pages page={page} of={relayers.value?.pagination} go={setPage} />
    </>
  );
}

export function Transactions({ relayerId }: { relayerId: string }) {
  const [page, setPage] = useState(1);
  const [status, setStatus] = useState<Status | ''>('');
  const query = { page, per_page: PER_PAGE, ...(status !== '' && { status }) };
  const list = useCall('listTransactions', { path: { id: relayerId }, query });
  const { reload } = list;
  const { changed, waiting, seen } = useNews(relayerId, list);
  const isAtTop = page === 1 && status === '';
  // Reloads by itself only on the first page without a filter, near its top. Further down, rows would move under the
  // reader.
  const isWaiting = waiting > 0;
  useEffect(() => {
    if (!isWaiting || !isAtTop) return undefined;
    const timer = setInterval(() => {
      if (window.scrollY > 200 || list.isAsking() || document.visibilityState !== 'visible') return;
      seen();
      reload();
    }, GATHER_MS);
    return () => clearInterval(timer);
  }, [isWaiting, isAtTop, seen, reload]);
  const show = () => {
    seen();
    setPage(1);
    setStatus('');
    reload();
  };
  return (
    <>
      <p class="back">
        <a href={to('relayers', relayerId)}>{relayerId}</a>
      </p>
      <header class="head">
        <h1>Transactions</h1>
        <label>
          <span class="quiet">Status </span>
          <select
            value={status}
            onChange={(event) => {
              setPage(1);
              setStatus(event.currentTarget.value as Status | '');
            }}
          >
            <option value="">any</option>
            {STATUSES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <Find relayerId={relayerId} />
      </header>
      {waiting > 0 && (
        <button type="button" class="more" onClick={show}>
          {waiting} new
        </button>
      )}
      <ListOf loaded={list} empty={status === '' ? 'Nothing was sent yet.' : `None is ${status}.`}>
        {(items) => (
          <Table name="Transactions" heads={['Status', 'Transaction', 'Accepted', 'Counter', 'To', 'Hash']}>
            {items.map((one) => (
              <Row key={one.id} relayerId={relayerId} one={one} news={changed.get(one.id)} />
            ))}
          </Table>
        )}
      </ListOf>
      <Pages page={page} of={list.value?.pagination} go={setPage} />
    </>
  );
}

/** One row. It shows later events of its transaction without moving. */
function Row({ relayerId, one, news }: { relayerId: string; one: Transaction; news: TransactionNews | undefined }) {
  return (
    <tr>
      <td data-head="Status">
        <Badge state={news?.status ?? one.status} title={news?.status_reason ?? one.status_reason ?? undefined} />
      </td>
      <td data-head="Transaction">
        <a href={to('transactions', relayerId, one.id)}>
          <Short text={one.id} />
        </a>
      </td>
      <td data-head="Accepted">
        <Time at={fieldOf(one, 'created_at')} />
      </td>
      <td data-head="Counter">{fieldOf(one, 'nonce') ?? fieldOf(one, 'sequence_number') ?? '—'}</td>
      <td data-head="To">
        <Short text={fieldOf(one, 'to')} />
      </td>
      <td data-head="Hash">
        <Short text={news?.hash ?? hashOf(one)} />
      </td>
    </tr>
  );
}

interface Received {
  news: TransactionNews;
  /** The time by the clock of `performance`. */
  at: number;
}

/**
 * Collects events about the transactions of a list since the list was requested. Also counts other transactions that
 * began.
 */
function useNews(relayerId: string, list: Loaded<{ data: Pick<Schemas['Transaction'], 'id'>[] }>) {
  const [changed, setChanged] = useState<ReadonlyMap<string, TransactionNews>>(new Map());
  const [waiting, setWaiting] = useState(0);
  const received = useRef(new Map<string, Received>()).current;
  const shown = useRef<ReadonlySet<string>>(new Set());
  const { isAsking } = list;
  useEffect(
    () =>
      listen({
        transaction: (news) => {
          if (news.relayer_id !== relayerId) return;
          const isShown = shown.current.has(news.id);
          if (news.status === 'pending' && !isShown) setWaiting((count) => count + 1);
          // Also keeps events while the list is being requested. Until the answer arrives, it is unknown whether the
          // list has the transaction and whether it is newer than the event.
          if (isShown || isAsking()) received.set(news.id, { news, at: performance.now() });
          if (isShown) setChanged(newsOf(received));
        },
      }),
    [relayerId, isAsking],
  );
  useEffect(() => {
    shown.current = new Set(list.value?.data.map(({ id }) => id));
    for (const [id, { at }] of received) if (at < list.askedAt || !shown.current.has(id)) received.delete(id);
    setChanged(newsOf(received));
  }, [list.value]);
  return { changed, waiting, seen: useCallback(() => setWaiting(0), []) };
}

function newsOf(received: ReadonlyMap<string, Received>): ReadonlyMap<string, TransactionNews> {
  return new Map([...received].map(([id, { news }]) => [id, news]));
}
