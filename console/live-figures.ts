import { effect } from '@preact/signals';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { ApiClient } from '../src/client/client.ts';
import { access } from './access.ts';
import { ALERT_METRICS, type Alert, alertsOf, RISING, type Scrape } from './alerts.ts';
import { type Figures, parseFigures } from './figures.ts';
import { useEvery } from './load.ts';
import { client, reasonOf } from './session.ts';

const LOOK_EVERY_MS = 15_000;
const MEMORY_MS = 3_600_000;

/** What was counted since this page was opened, for an hour: only what alerts have to compare. */
let scrapes: readonly Scrape[] = [];

// They are for the key that they were read with.
effect(() => {
  if (client.value === null) scrapes = [];
});

export interface LiveFigures {
  figures: Figures;
  alerts: readonly Alert[];
}

/** What the service counts, as of late; undefined for a key that may not see it. */
export function useFigures(): LiveFigures | undefined {
  const [seen, setSeen] = useState<LiveFigures>();
  const look = useCallback(() => {
    const current = client.peek();
    if (current === null || !access.peek().sees('metrics')) return;
    readFigures(current).then((figures) => setSeen({ figures, alerts: alertsOf(remembered(figures)) }), reasonOf);
  }, []);
  useEffect(look, [look]);
  useEvery(LOOK_EVERY_MS, look);
  return seen;
}

/** One by one: to read all of them begins some anew, and Prometheus would miss what it did not see. */
async function readFigures(current: ApiClient): Promise<Figures> {
  const read = (name: string) => current.call('getMetric', { path: { name } });
  const [first = '', ...others] = ALERT_METRICS;
  return parseFigures([await read(first), ...(await Promise.all(others.map(read)))].join('\n'));
}

/** The scrapes so far, and this one. */
function remembered(figures: Figures): Scrape[] {
  const at = Date.now();
  const kept = new Map([...figures].filter(([name]) => RISING.has(name)));
  const earlier = scrapes.filter((one) => one.at > at - MEMORY_MS);
  scrapes = [...earlier, { at, figures: kept }];
  return [...earlier, { at, figures }];
}
