import { useState } from 'preact/hooks';
import type { Schemas } from '../../src/client/api.ts';
import { amountText } from '../../src/client/format.ts';
import type { RelayerState } from '../../src/features/relayers/records/relayer.ts';
import { useCall, useEvery } from '../load.ts';
import { Action } from '../parts/action.tsx';
import { ListOf, Pages, Table } from '../parts/table.tsx';
import { Badge, Note, Short, Time } from '../parts/text.tsx';
import { to } from '../place.ts';

// The service's list comes with its schemas, which would double the bundle.
const STATES: readonly RelayerState[] = ['active', 'paused', 'disabled'];

type Relayer = Schemas['Relayer'];

/** Relayers are polled, because the event stream does not report on them. */
const LOOK_EVERY_MS = 15_000;

/** The state of a relayer, in one word. */
export function stateOf({ paused, system_disabled }: Pick<Relayer, 'paused' | 'system_disabled'>): string {
  if (system_disabled) return 'disabled';
  return paused ? 'paused' : 'active';
}

/** Why a relayer is disabled, in words. */
export function causeOf({ disabled_reason: reason }: Relayer): string {
  if (reason === undefined) return '';
  const causes = reason.type === 'Multiple' ? reason.details.map(({ details }) => details) : [reason.details];
  return causes.join('; ');
}

const NOTHING = { search: '', state: '' };

export function Relayers() {
  const [page, setPage] = useState(1);
  const [filter, setFilter] = useState(NOTHING);
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''));
  const relayers = useCall('listRelayers', { query: { page, per_page: 500, ...given } });
  useEvery(LOOK_EVERY_MS, relayers.reload);
  const isNarrowed = Object.keys(given).length > 0;
  return (
    <>
      <header class="head">
        <h1>Relayers</h1>
        <Narrow
          filter={filter}
          change={(next) => {
            setFilter(next);
            setPage(1);
          }}
        />
      </header>
      <ListOf
        loaded={relayers}
        empty={isNarrowed ? 'No relayer matches.' : 'There is no relayer yet, or none that this key may see.'}
      >
        {(items) => (
          <Table name="Relayers" heads={['Relayer', 'Network', 'Address', 'State', '']}>
            {items.map((one) => (
              <tr key={one.id}>
                <td data-head="Relayer">
                  <a href={to('relayers', one.id)}>{one.name}</a> <span class="quiet">{one.id}</span>
                </td>
                <td data-head="Network">
                  {one.network_type} · {one.network}
                </td>
                <td data-head="Address">
                  <Short text={one.address} />
                </td>
                <td data-head="State">
                  <Badge state={stateOf(one)} title={causeOf(one)} />
                </td>
                <td>
                  <a href={to('transactions', one.id)}>Transactions</a>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </ListOf>
      <Pages page={page} of={relayers.value?.pagination} go={setPage} />
    </>
  );
}

/** The filter fields of the list of relayers. */
function Narrow({ filter, change }: { filter: typeof NOTHING; change: (filter: typeof NOTHING) => void }) {
  const [text, setText] = useState(filter.search);
  return (
    <form
      class="find"
      onSubmit={(event) => {
        event.preventDefault();
        change({ ...filter, search: text.trim() });
      }}
    >
      <input
        type="search"
        aria-label="Find relayers by id, name, address or network"
        placeholder="Id, name, address or network"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <select
        aria-label="State"
        value={filter.state}
        onChange={(event) => change({ ...filter, state: event.currentTarget.value })}
      >
        <option value="">in any state</option>
        <option value="paused,disabled">paused or disabled</option>
        {STATES.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      <button type="submit">Find</button>
    </form>
  );
}

export function RelayerPage({ id }: { id: string }) {
  const relayer = useCall('getRelayer', { path: { id } });
  const status = useCall('getRelayerStatus', { path: { id } });
  const balance = useCall('getRelayerBalance', { path: { id } });
  for (const one of [relayer, status, balance]) useEvery(LOOK_EVERY_MS, one.reload);
  const one = relayer.value?.data;
  if (one === undefined) return <Note kind={relayer.error ? 'bad' : 'quiet'}>{relayer.error || 'Loading…'}</Note>;
  const held = balance.value?.data;
  return (
    <>
      <p class="back">
        <a href={to('relayers')}>Relayers</a>
      </p>
      <header class="head">
        <h1>{one.name}</h1> <Badge state={stateOf(one)} />
        <Action
          {...(!one.paused && { sure: 'Stop sending?' })}
          does="updateRelayer"
          input={{ path: { id }, body: { paused: !one.paused } }}
          done={relayer.reload}
        >
          {one.paused ? 'Resume' : 'Pause'}
        </Action>
      </header>
      {relayer.error !== '' && <Note kind="bad">{relayer.error}</Note>}
      {one.system_disabled && (
        <Note kind="bad">
          {causeOf(one)} Checked again <Time at={one.disabled_reason?.next_check_at} />.
        </Note>
      )}
      <dl class="facts">
        <dt>Balance</dt>
        <dd class="big">
          {held?.balance == null
            ? balance.error || held?.unavailable?.['balance'] || '—'
            : amountText(held.balance, held.unit)}
        </dd>
        <dt>Network</dt>
        <dd>
          {one.network_type} · <a href={to('networks')}>{one.network}</a>
        </dd>
        <dt>Address</dt>
        <dd>
          <code class="wrap">{one.address}</code>
        </dd>
        <dt>Next counter</dt>
        <dd>{status.value?.data.nonce ?? status.value?.data.sequence_number ?? '—'}</dd>
        <dt>Open transactions</dt>
        <dd>
          <a href={to('transactions', id)}>{status.value?.data.pending_transactions_count ?? '—'}</a>
        </dd>
        <dt>Last confirmed</dt>
        <dd>
          <Time at={status.value?.data.last_confirmed_transaction_timestamp} />
        </dd>
        <dt>Signer</dt>
        <dd>{one.signer_id}</dd>
        <dt>Webhook</dt>
        <dd>
          {one.notification_id === undefined ? (
            '—'
          ) : (
            <a href={to('webhooks', one.notification_id)}>{one.notification_id}</a>
          )}
        </dd>
      </dl>
      <h2>Policies</h2>
      <pre tabIndex={0}>
        {JSON.stringify(
          one.policies ?? {},
          (_key, value: unknown) => (typeof value === 'bigint' ? `${value}` : value),
          2,
        )}
      </pre>
    </>
  );
}
