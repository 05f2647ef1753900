import { useEffect, useState } from 'preact/hooks';
import type { Schemas } from '../../src/client/api.ts';
import { ApiError } from '../../src/client/client.ts';
import type { Alert } from '../alerts.ts';
import { type Figures, sumsBy } from '../figures.ts';
import { type CallNews, listen, type TransactionNews } from '../live.ts';
import { useFigures } from '../live-figures.ts';
import { type Loaded, useCall, useEvery } from '../load.ts';
import { Rates } from '../parts/rates.tsx';
import { Badge, counted, durationText, Note, Short, Time } from '../parts/text.tsx';
import { to } from '../place.ts';
import { causeOf, stateOf } from './relayers.tsx';

const MAX_NEWS = 12;

const LOOK_EVERY_MS = 15_000;

/** As many entries as the service lists at once. */
const ALL = { query: { per_page: 500 } };

const MAX_NEEDING = 50;

const NEEDING = { query: { state: 'paused,disabled', per_page: MAX_NEEDING } };

/** Only the number of active entries. */
const FINE = { query: { state: 'active', per_page: 0 } };

/** Shows current activity, and what needs attention. */
export function Overview() {
  const live = useFigures();
  const [news, setNews] = useState<TransactionNews[]>([]);
  const [calls, setCalls] = useState<CallNews[]>([]);
  useEffect(
    () =>
      listen({
        transaction: (news) =>
          setNews((before) => [news, ...before.filter(({ id }) => id !== news.id)].slice(0, MAX_NEWS)),
        call: (news) => setCalls((before) => [news, ...before].slice(0, MAX_NEWS)),
      }),
    [],
  );
  return (
    <>
      <h1>Overview</h1>
      <Rates>{live !== undefined && <OldestOpen figures={live.figures} />}</Rates>
      <Needs />
      {live !== undefined && <Alerts alerts={live.alerts} />}
      <div class="columns">
        <section aria-labelledby="news">
          <h2 id="news">Transactions now</h2>
          {news.length === 0 ? (
            <Note>Nothing yet. New transactions appear here.</Note>
          ) : (
            <ul class="list">
              {news.map((one) => (
                <li key={`${one.id} ${one.status} ${one.at}`}>
                  <Badge state={one.status} title={one.status_reason ?? undefined} />{' '}
                  <a href={to('transactions', one.relayer_id, one.id)}>
                    <Short text={one.id} />
                  </a>{' '}
                  <span class="quiet">
                    {one.relayer_id} · <Time at={one.at} />
                  </span>
                </li>
              ))}
            </ul>
          )}
        </section>
        <section aria-labelledby="calls">
          <h2 id="calls">Plugin calls now</h2>
          {calls.length === 0 ? (
            <Note>No calls yet.</Note>
          ) : (
            <ul class="list">
              {calls.map((one) => (
                <li key={one.request_id}>
                  <Badge state={one.outcome} /> <a href={to('plugins', one.plugin_id)}>{one.plugin_id}</a>{' '}
                  <span class="quiet">
                    {one.duration_ms} ms · <Time at={one.at} />
                  </span>
                </li>
              ))}
            </ul>
          )}
        </section>
      </div>
    </>
  );
}

/** Names under which the report shows the store once more, for clients of another relayer. */
const PEER_NAMES: ReadonlySet<string> = new Set(['redis', 'queue']);

/** Lists what needs attention. Says that nothing does only after all answers have arrived without an error. */
function Needs() {
  const relayers = useCall('listRelayers', NEEDING);
  const fine = useCall('listRelayers', FINE);
  const plugins = useCall('listPlugins', ALL);
  const ready = useCall('ready', {});
  for (const one of [relayers, fine, plugins, ready]) useEvery(LOOK_EVERY_MS, one.reload);
  const report = reportOf(ready);
  const needing = relayers.value?.data ?? [];
  const more = (relayers.value?.pagination.total_items ?? 0) - needing.length;
  const broken = (plugins.value?.data ?? []).filter(({ state, enabled }) => enabled && state !== 'serving');
  const unwell = Object.entries(report?.components ?? {}).filter(
    ([name, { status }]) => status !== 'healthy' && !PEER_NAMES.has(name),
  );
  const errors = [relayers.error, fine.error, plugins.error, report === ready.value ? ready.error : ''].filter(Boolean);
  const isQuiet = needing.length + broken.length + unwell.length === 0 && (report?.ready ?? true);
  const known = [relayers.value, fine.value, plugins.value, report];
  return (
    <section class="needs" aria-labelledby="needs">
      <h2 id="needs">Needs attention</h2>
      {report?.ready === false && (
        <Note kind="bad">The service is not ready{report.reason === undefined ? '' : `: ${report.reason}`}.</Note>
      )}
      {[...new Set(errors)].map((error) => (
        <Note key={error} kind="bad">
          {error}
        </Note>
      ))}
      {isQuiet && errors.length === 0 && (
        <Note>{known.includes(undefined) ? 'Loading…' : `Nothing. ${fineText(fine.value, plugins.value)}.`}</Note>
      )}
      {!isQuiet && (
        <ul class="list">
          {unwell.map(([name, { status, error }]) => (
            <li key={name}>
              <Badge state={status} /> {name} <span class="quiet">{error}</span>
            </li>
          ))}
          {needing.map((one) => (
            <li key={one.id}>
              <Badge state={stateOf(one)} /> <a href={to('relayers', one.id)}>{one.name}</a>{' '}
              <span class="quiet">{causeOf(one)}</span>
            </li>
          ))}
          {more > 0 && (
            <li>
              <a href={to('relayers')}>{counted(more, 'more relayer')}</a>
            </li>
          )}
          {broken.map(({ id, state, error, back_off: backOff }) => (
            <li key={id}>
              <Badge state={state} /> <a href={to('plugins', id)}>{id}</a>{' '}
              <span class="quiet">{error?.message ?? backOff?.reason}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/**
 * Takes the readiness report from the answer, or from the error: the service sends it with 503 when it is not ready.
 */
function reportOf({ value, cause }: Loaded<Schemas['Readiness']>): Schemas['Readiness'] | undefined {
  const isReport = cause instanceof ApiError && cause.status === 503 && 'components' in cause.body;
  return isReport ? (cause.body as Schemas['Readiness']) : value;
}

type Listed = { pagination: { total_items: number }; data: unknown[] } | undefined;

function fineText(relayers: Listed, plugins: Listed): string {
  const [seen, all] = [plugins?.data.length ?? 0, plugins?.pagination.total_items ?? 0];
  const some = seen < all ? `${seen} of ` : '';
  return `${counted(relayers?.pagination.total_items ?? 0, 'relayer')} and ${some}${counted(all, 'plugin')} are healthy`;
}

/** Lists the alerts that will fire if nothing changes. */
function Alerts({ alerts }: { alerts: readonly Alert[] }) {
  return (
    <section aria-labelledby="alerts">
      <h2 id="alerts">Alerts that would fire</h2>
      {alerts.length === 0 ? (
        <Note>None.</Note>
      ) : (
        <ul class="list">
          {alerts.map(({ alert, severity, lasting, text, page, who }) => (
            <li key={`${alert} ${who}`}>
              <Badge state={severity} /> {page === undefined ? text : <a href={to(...placeOf(page, who))}>{text}</a>}{' '}
              <span class="quiet">
                {alert}, after {lasting} min
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function placeOf(page: string, who: string): string[] {
  return who === '' || page === 'networks' ? [page] : [page, who];
}

/** Shows the age of the oldest transaction that has not ended, and its relayer. */
function OldestOpen({ figures }: { figures: Figures }) {
  const ages = [...sumsBy(figures.get('isolayer_transactions_oldest_open_age_seconds'), 'relayer_id')];
  const [oldest] = ages.filter(([, seconds]) => seconds > 0).sort(([, a], [, b]) => b - a);
  return (
    <div>
      <strong>{oldest === undefined ? '—' : durationText(oldest[1] * 1_000)}</strong>
      <span>
        oldest open{oldest === undefined ? '' : ', of '}
        {oldest !== undefined && <a href={to('transactions', oldest[0])}>{oldest[0]}</a>}
      </span>
    </div>
  );
}
