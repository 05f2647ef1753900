import { useEffect, useState } from 'preact/hooks';
import { type CallNews, listen, type TransactionNews } from '../live.ts';
import { useFigures } from '../live-figures.ts';
import { useCall, useEvery } from '../load.ts';
import { Alerts, OldestOpen } from '../parts/alerts.tsx';
import { Rates } from '../parts/rates.tsx';
import { Badge, counted, Note, Short, Time } from '../parts/text.tsx';
import { to } from '../place.ts';
import { causeOf, stateOf } from './relayers.tsx';

const MOST_NEWS = 12;
const LOOK_EVERY_MS = 15_000;

/** What moves now, and what needs somebody. */
export function Overview() {
  const relayers = useCall('listRelayers', { query: { per_page: 100 } });
  const plugins = useCall('listPlugins', { query: { per_page: 100 } });
  const ready = useCall('ready', {});
  useEvery(LOOK_EVERY_MS, relayers.reload);
  useEvery(LOOK_EVERY_MS, plugins.reload);
  const live = useFigures();
  const [news, setNews] = useState<TransactionNews[]>([]);
  const [calls, setCalls] = useState<CallNews[]>([]);
  useEffect(
    () =>
      listen({
        transaction: (told) =>
          setNews((before) => [told, ...before.filter(({ id }) => id !== told.id)].slice(0, MOST_NEWS)),
        call: (told) => setCalls((before) => [told, ...before].slice(0, MOST_NEWS)),
      }),
    [],
  );
  const needing = (relayers.value?.data ?? []).filter((one) => stateOf(one) !== 'active');
  const broken = (plugins.value?.data ?? []).filter(({ state, enabled }) => enabled && state !== 'serving');
  const unwell = Object.entries(ready.value?.components ?? {}).filter(([, { status }]) => status !== 'healthy');
  return (
    <>
      <h1>Overview</h1>
      <Rates>{live !== undefined && <OldestOpen figures={live.figures} />}</Rates>
      <section class="needs" aria-labelledby="needs">
        <h2 id="needs">What needs somebody</h2>
        {needing.length + broken.length + unwell.length === 0 ? (
          <Note>
            Nothing: {counted(relayers.value?.data.length ?? 0, 'relayer')} and{' '}
            {counted(plugins.value?.data.length ?? 0, 'plugin')} are fine.
          </Note>
        ) : (
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
            {broken.map(({ id, state, error, back_off: backOff }) => (
              <li key={id}>
                <Badge state={state} /> <a href={to('plugins', id)}>{id}</a>{' '}
                <span class="quiet">{error?.message ?? backOff?.reason}</span>
              </li>
            ))}
          </ul>
        )}
      </section>
      {live !== undefined && <Alerts alerts={live.alerts} />}
      <div class="columns">
        <section aria-labelledby="news">
          <h2 id="news">Transactions now</h2>
          {news.length === 0 ? (
            <Note>Quiet. What happens comes here by itself.</Note>
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
            <Note>Quiet.</Note>
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
