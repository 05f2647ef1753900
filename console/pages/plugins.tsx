import { useEffect, useRef, useState } from 'preact/hooks';
import type { Schemas } from '../../src/client/api.ts';
import { type CallNews, listen } from '../live.ts';
import { isHeld, useCall, useEvery } from '../load.ts';
import { Action } from '../parts/action.tsx';
import { CallForm, CallLog } from '../parts/calls.tsx';
import { PluginPlots, usageOf } from '../parts/plugin-plots.tsx';
import { ListOf, Pages, Table } from '../parts/table.tsx';
import { Badge, counted, Note, Time } from '../parts/text.tsx';
import { to } from '../place.ts';
import { DurableCalls, TriggerList } from './calls.tsx';

const LOOK_EVERY_MS = 5_000;
/** Longer than for a single plugin, because the list may have hundreds of entries. */
const LIST_EVERY_MS = 15_000;
const MAX_CALLS = 200;

export function Plugins() {
  const [page, setPage] = useState(1);
  const plugins = useCall('listPlugins', { query: { page, per_page: 500 } });
  useEvery(LIST_EVERY_MS, plugins.reload);
  const [order, setOrder] = useState<Order>('processor');
  const inOrder = useOrder(order);
  const all = (plugins.value?.data ?? []).reduce((sum, { last_hour: { cpu_ms: cpuMs } }) => sum + cpuMs, 0);
  return (
    <>
      <header class="head">
        <h1>Plugins</h1>
        <label>
          <span class="quiet">Sort by </span>
          <select value={order} onChange={(event) => setOrder(event.currentTarget.value as Order)}>
            <option value="processor">processor time</option>
            <option value="calls">number of calls</option>
            <option value="failed">failures</option>
            <option value="id">name</option>
          </select>
        </label>
      </header>
      <ListOf loaded={plugins} empty="There is no plugin yet, or none that this key may see.">
        {(items) => (
          <Table
            name="Plugins"
            heads={['Plugin', 'State', 'Calls, 1 h', 'Failed', 'Processor, 1 h', 'Memory', 'Version']}
          >
            {inOrder(items).map((one) => (
              <tr key={one.id}>
                <td data-head="Plugin">
                  <a href={to('plugins', one.id)}>{one.id}</a>
                </td>
                <td data-head="State">
                  <Badge state={one.enabled ? one.state : 'disabled'} title={one.error?.message} />
                </td>
                <td data-head="Calls, 1 h">{one.last_hour.calls}</td>
                <td data-head="Failed">{failuresOf(one.last_hour)}</td>
                <td data-head="Processor, 1 h">
                  <Share part={one.last_hour.cpu_ms} of={all} /> {Math.round(one.last_hour.cpu_ms)} ms
                </td>
                <td data-head="Memory">{megabytes(one.now.resident_bytes)}</td>
                <td data-head="Version">
                  <Time at={one.version?.since} />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </ListOf>
      <Pages page={page} of={plugins.value?.pagination} go={setPage} />
    </>
  );
}

/** Sorts plugins. The rows keep their places while the user points at or focuses a row. */
function useOrder(order: Order): (items: readonly Plugin[]) => Plugin[] {
  const last = useRef({ order, places: new Map<string, number>() });
  return (items) => {
    const { places } = last.current;
    const stays = last.current.order === order && isHeld() && items.every(({ id }) => places.has(id));
    const placeOf = ({ id }: Plugin) => places.get(id) ?? 0;
    const sorted = items.toSorted(stays ? (a, b) => placeOf(a) - placeOf(b) : ORDERS[order]);
    last.current = { order, places: new Map(sorted.map(({ id }, place) => [id, place])) };
    return sorted;
  };
}

type Plugin = Schemas['Plugin'];
type Order = keyof typeof ORDERS;

const ORDERS = {
  processor: (a: Plugin, b: Plugin) => b.last_hour.cpu_ms - a.last_hour.cpu_ms,
  calls: (a: Plugin, b: Plugin) => b.last_hour.calls - a.last_hour.calls,
  failed: (a: Plugin, b: Plugin) => failuresOf(b.last_hour) - failuresOf(a.last_hour),
  id: (a: Plugin, b: Plugin) => a.id.localeCompare(b.id),
};

/** A bar that shows a part of a whole. The figure is printed beside it. */
function Share({ part, of }: { part: number; of: number }) {
  return (
    <meter class="share" value={of === 0 ? 0 : part / of} aria-label="Share of the processor time of all plugins" />
  );
}

/** The number of calls in the last hour that did not return a result. */
function failuresOf({ outcomes }: { outcomes: Record<string, number> }): number {
  return Object.entries(outcomes).reduce((sum, [outcome, count]) => sum + (outcome === 'returned' ? 0 : count), 0);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}

export function PluginPage({ id }: { id: string }) {
  const plugin = useCall('getPlugin', { path: { id } });
  useEvery(LOOK_EVERY_MS, plugin.reload);
  const earlier = useCall('listPluginLogs', { path: { id }, query: { per_page: 50 } });
  const [calls, setCalls] = useState<CallNews[]>([]);
  useEffect(
    () =>
      listen({
        call: (news) => {
          if (news.plugin_id === id) setCalls((before) => [news, ...before].slice(0, MAX_CALLS));
        },
      }),
    [id],
  );
  const one = plugin.value?.data;
  useEffect(() => {
    if (one !== undefined) usageOf(id).seen(one);
  }, [one]);
  if (one === undefined) return <Note kind={plugin.error ? 'bad' : 'quiet'}>{plugin.error || 'Loading…'}</Note>;
  const on = { input: { path: { id } }, done: plugin.reload };
  const stored = earlier.value?.data ?? [];
  // A stored log has more of a call's output than the event does, so it replaces the event.
  const known = new Set(stored.map(({ request_id: requestId }) => requestId));
  const shown = [...calls.filter(({ request_id: requestId }) => !known.has(requestId)), ...stored];
  return (
    <>
      <p class="back">
        <a href={to('plugins')}>Plugins</a>
      </p>
      <header class="head">
        <h1>{one.id}</h1> <Badge state={one.enabled ? one.state : 'disabled'} />
        {one.enabled ? (
          <Action sure="Refuse its calls?" does="disablePlugin" {...on}>
            Disable
          </Action>
        ) : (
          <Action does="enablePlugin" {...on}>
            Enable
          </Action>
        )}
        <Action does="reloadPlugin" {...on}>
          Rebuild
        </Action>
      </header>
      {one.error !== null && (
        <pre class="bad" role="alert">
          {[one.error.file, one.error.line, one.error.column].filter((part) => part != null).join(':')}{' '}
          {one.error.message}
        </pre>
      )}
      {one.back_off !== null && <Note kind="bad">In back-off: {one.back_off.reason}</Note>}
      <PluginPlots id={id} />
      <PluginFacts plugin={one} />
      <details>
        <summary>Permissions and limits</summary>
        <pre tabIndex={0}>{JSON.stringify({ permissions: one.permissions, limits: one.limits }, null, 2)}</pre>
      </details>
      {one.triggers.length > 0 && (
        <>
          <h2>Triggers</h2>
          <TriggerList plugin={one} done={plugin.reload} />
        </>
      )}
      {(one.durable || one.triggers.length > 0) && (
        <>
          <h2>Durable calls</h2>
          <DurableCalls pluginId={id} />
        </>
      )}
      <h2>Call it</h2>
      <CallForm pluginId={id} />
      <h2>Calls and logs</h2>
      {earlier.error !== '' && <Note>{earlier.error}</Note>}
      <CallLog calls={shown} />
    </>
  );
}

function PluginFacts({ plugin: one }: { plugin: Schemas['Plugin'] }) {
  return (
    <dl class="facts">
      <dt>File</dt>
      <dd>
        <code>{one.path}</code>
      </dd>
      <dt>Version</dt>
      <dd>
        <code>{one.version?.hash.slice(0, 12) ?? '—'}</code> <Time at={one.version?.since} />
      </dd>
      <dt>Time limit</dt>
      <dd>{one.timeout} s</dd>
      <dt>Calls in the last hour</dt>
      <dd>
        {one.last_hour.calls}, {failuresOf(one.last_hour)} failed
      </dd>
      <dt>Processor in the last hour</dt>
      <dd>{Math.round(one.last_hour.cpu_ms)} ms</dd>
      <dt>Largest heap</dt>
      <dd>{megabytes(one.last_hour.heap_peak_bytes)}</dd>
      <dt>Now</dt>
      <dd>
        {counted(one.now.processes, 'process', 'processes')}, {megabytes(one.now.resident_bytes)},{' '}
        {counted(one.now.calls_running, 'call')} running, {one.now.calls_queued} waiting
      </dd>
      <dt>Stored values</dt>
      <dd>
        {one.kv_usage.keys}, {megabytes(one.kv_usage.bytes)}
      </dd>
    </dl>
  );
}
