import { useState } from 'preact/hooks';
import type { Schemas } from '../../src/client/api.ts';
import { useCall, useEvery } from '../load.ts';
import { Action } from '../parts/action.tsx';
import { ListOf, Pages, Table } from '../parts/table.tsx';
import { Badge, Note, Short, Time } from '../parts/text.tsx';
import { to } from '../place.ts';

const LOOK_EVERY_MS = 5_000;
/** Longer texts of the journal are cut. */
const MAX_TEXT = 2_000;

type Call = Schemas['PluginCall'];

/** The triggers of a plugin, with buttons to fire, pause and resume each. */
export function TriggerList({ plugin: { id, triggers }, done }: { plugin: Schemas['Plugin']; done: () => void }) {
  return (
    <Table name="Triggers" heads={['Trigger', 'When', 'State', 'Next', 'Last call', 'Calls', 'Skipped', '']}>
      {triggers.map((one) => {
        const on = { input: { path: { id, name: one.name } }, done };
        return (
          <tr key={one.name}>
            <td data-head="Trigger">{one.name}</td>
            <td data-head="When">
              <code>{one.cron ?? one.every ?? one.kind}</code> <span class="quiet">{one.time_zone}</span>
            </td>
            <td data-head="State">
              <Badge state={one.state} />
            </td>
            <td data-head="Next">
              <Time at={one.next_at} />
            </td>
            <td data-head="Last call">
              {one.last_call === null ? (
                <Time at={null} />
              ) : (
                <a href={to('plugins', id, one.last_call)}>
                  <Time at={one.last_at} />
                </a>
              )}
            </td>
            <td data-head="Calls">{one.fired}</td>
            <td data-head="Skipped">{one.skipped}</td>
            <td>
              <Action
                sure="Call the plugin now?"
                does="firePluginTrigger"
                input={{ ...on.input, body: {} }}
                done={done}
              >
                Fire
              </Action>
              {one.state === 'active' ? (
                <Action does="pausePluginTrigger" {...on}>
                  Pause
                </Action>
              ) : (
                <Action does="resumePluginTrigger" {...on}>
                  Resume
                </Action>
              )}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

/** The durable calls of a plugin, with what each waits for. */
export function DurableCalls({ pluginId }: { pluginId: string }) {
  const [page, setPage] = useState(1);
  const calls = useCall('listPluginCalls', { path: { id: pluginId }, query: { page, per_page: 25 } });
  useEvery(LOOK_EVERY_MS, calls.reload);
  return (
    <>
      <ListOf loaded={calls} empty="There is no durable call yet, or all ended long ago.">
        {(items) => (
          <Table name="Durable calls" heads={['Call', 'State', 'Waits for', 'By', 'Runs', 'Began', 'Ended']}>
            {items.map((one) => (
              <tr key={one.id}>
                <td data-head="Call">
                  <a href={to('plugins', pluginId, one.id)}>
                    <Short text={one.id} />
                  </a>
                </td>
                <td data-head="State">
                  <Badge state={one.state} title={one.error?.message} />
                </td>
                <td data-head="Waits for">
                  <Waits call={one} />
                </td>
                <td data-head="By">{one.trigger?.name ?? one.key_id}</td>
                <td data-head="Runs">{one.tries}</td>
                <td data-head="Began">
                  <Time at={one.created_at} />
                </td>
                <td data-head="Ended">
                  <Time at={one.ended_at} />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </ListOf>
      <Pages page={page} of={calls.value?.pagination} go={setPage} />
    </>
  );
}

function Waits({ call: { waits_for: waits } }: { call: Call }) {
  if (waits.length === 0) return <span class="quiet">—</span>;
  return (
    <>
      {waits.map((wait, index) => (
        <div key={index}>
          {wait.kind} <Short text={wait.transaction_id ?? wait.name ?? ' '} />{' '}
          {wait.kind !== 'plugin' && (
            <>
              until <Time at={wait.until} />
            </>
          )}
        </div>
      ))}
    </>
  );
}

/** One durable call: what it waits for, what it came to, and what it heard. */
export function CallPage({ pluginId, id }: { pluginId: string; id: string }) {
  const path = { path: { id: pluginId, call: id } };
  const call = useCall('getPluginCall', path);
  useEvery(LOOK_EVERY_MS, call.reload);
  const one = call.value?.data;
  if (one === undefined) return <Note kind={call.error ? 'bad' : 'quiet'}>{call.error || 'Loading…'}</Note>;
  const on = { input: path, done: call.reload };
  return (
    <>
      <p class="back">
        <a href={to('plugins', pluginId)}>{pluginId}</a>
      </p>
      <header class="head">
        <h1>
          Call <Short text={one.id} />
        </h1>{' '}
        <Badge state={one.state} />
        {one.ended_at === null ? (
          <Action sure="Cancel it? What it did stays done." does="cancelPluginCall" {...on}>
            Cancel
          </Action>
        ) : (
          one.state !== 'returned' && (
            <Action sure="Run it again from its last effect on?" does="retryPluginCall" {...on}>
              Try again
            </Action>
          )
        )}
      </header>
      <dl class="facts">
        <dt>Waits for</dt>
        <dd>
          <Waits call={one} />
        </dd>
        <dt>Called by</dt>
        <dd>
          {one.key_id}
          {one.trigger !== null && (
            <>
              , for <Time at={one.trigger.at} />
            </>
          )}
        </dd>
        <dt>Key</dt>
        <dd>
          <code>{one.key}</code>
        </dd>
        <dt>Version</dt>
        <dd>
          <code>{one.version?.slice(0, 12) ?? '—'}</code>
        </dd>
        <dt>Runs</dt>
        <dd>{one.tries}</dd>
        <dt>Began</dt>
        <dd>
          <Time at={one.created_at} />
        </dd>
        <dt>{one.ended_at === null ? 'Ends at the latest' : 'Ended'}</dt>
        <dd>
          <Time at={one.ended_at ?? one.expires_at} />
        </dd>
      </dl>
      {one.error !== null && (
        <pre class="bad" role="alert">
          {one.error.code}: {one.error.message}
        </pre>
      )}
      {one.state === 'returned' && (
        <>
          <h2>Answer</h2>
          <pre tabIndex={0}>{JSON.stringify(one.answer, null, 2)}</pre>
        </>
      )}
      <h2>What it heard</h2>
      <Journal key={`${one.state} ${one.tries}`} pluginId={pluginId} id={id} />
    </>
  );
}

function Journal({ pluginId, id }: { pluginId: string; id: string }) {
  const record = useCall('getPluginCallRecord', { path: { id: pluginId, call: id } });
  const heard = record.value?.data;
  if (heard === undefined) return <Note>{record.error || 'Loading…'}</Note>;
  if (heard.deliveries.length === 0) return <Note>Nothing yet that is stored.</Note>;
  return (
    <ol class="log" aria-label="What the call heard">
      {heard.deliveries.map(({ request, method, at, payload, answer: { ok, value, error } }) => (
        <li key={request}>
          <p>
            <Badge state={ok ? 'answered' : 'refused'} /> <code>{method}</code> <Time at={new Date(at).toISOString()} />
          </p>
          {payload !== undefined && <pre tabIndex={0}>{textOf(payload)}</pre>}
          <pre class={ok ? '' : 'bad'} tabIndex={0}>
            {textOf(ok ? value : error)}
          </pre>
        </li>
      ))}
    </ol>
  );
}

function textOf(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… (${text.length} characters)` : text;
}
