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

/** The metrics of the last hour, since the page was opened. Keeps only the metrics that alerts compare over time. */
let scrapes: readonly Scrape[] = [];

// The scrapes belong to the key that read them.
effect(() => {
  if (client.value === null) scrapes = [];
});

export interface LiveFigures {
  figures: Figures;
  alerts: readonly Alert[];
}

/** The latest metrics of the service, and their alerts; undefined for a key that may not see metrics. */
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

/** Reads the metrics by name. A read of all metrics resets some of them, and Prometheus would miss their values. */
async function readFigures(current: ApiClient): Promise<Figures> {
  const read = (name: string) => current.call('getMetric', { path: { name } });
  const [first = '', ...others] = ALERT_METRICS;
  return parseFigures([await read(first), ...(await Promise.all(others.map(read)))].join('\n'));
}

/** Adds a scrape to the kept ones, and returns them all. */
function remembered(figures: Figures): Scrape[] {
  const at = Date.now();
  const kept = new Map([...figures].filter(([name]) => RISING.has(name)));
  const earlier = scrapes.filter((one) => one.at > at - MEMORY_MS);
  scrapes = [...earlier, { at, figures: kept }];
  return [...earlier, { at, figures }];
}
