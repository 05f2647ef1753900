import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { parsePromQl } from './promql.ts';
import { SeriesStore } from './promql-series.ts';
import { valuesOf } from './promql-value.ts';

/**
 * The part of Prometheus's rule format that our rules use,
 * https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/
 */
const ruleSchema = z.strictObject({
  alert: z.string().regex(/^Isolayer([A-Z][a-z]+)+$/),
  expr: z.string().min(1),
  for: z.string().regex(/^[1-9]\d*m$/),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
  annotations: z.strictObject({
    summary: z.string().min(1).max(100),
    description: z.string().min(1),
    runbook: z.string(),
  }),
});
const fileSchema = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(ruleSchema).min(1) })).min(1),
});

const file = readFileSync(join(import.meta.dirname, '..', '..', 'deploy', 'prometheus', 'alerts.yml'), 'utf8');
const { groups } = fileSchema.parse(parse(file, { strict: true, uniqueKeys: true }));

/** The rules that are shipped, with their queries. */
export const rules = groups.flatMap((group) => group.rules).map((rule) => ({ ...rule, query: parsePromQl(rule.expr) }));

/** The time between two scrapes and between two evaluations, as in Prometheus's defaults. */
const STEP_MS = 60_000;

const TARGET = { job: 'isolayer', instance: 'here:8081' };

/**
 * A stand-in for Prometheus with our rules. Its clock is simulated: each scrape counts as a minute after the previous
 * one. So what a server reports within seconds is judged as if it took an hour.
 */
export class AlertStage {
  readonly #store = new SeriesStore();
  readonly #since = new Map<string, number>();
  readonly #fired = new Set<string>();
  #now = 1_700_000_000_000;

  /**
   * Lets one minute pass. `text` is the target's answer: null if the target does not answer, undefined if there is no
   * target.
   */
  minute(text: string | null | undefined): void {
    this.#now += STEP_MS;
    if (text === undefined) this.#store.drop(this.#now, TARGET);
    else this.#store.scrape(this.#now, TARGET, text);
    for (const { alert, query } of rules) {
      const found = new Map(valuesOf(query, this.#store, this.#now).map(({ labels }) => [keyOf(alert, labels), alert]));
      for (const key of this.#since.keys()) if (key.startsWith(`${alert} `) && !found.has(key)) this.#since.delete(key);
      for (const key of found.keys()) if (!this.#since.has(key)) this.#since.set(key, this.#now);
    }
    for (const alert of this.firing) this.#fired.add(alert);
  }

  /** The alerts that have fired at any time. */
  get fired(): ReadonlySet<string> {
    return this.#fired;
  }

  /** The alerts that fire, each once, in the order of the file. */
  get firing(): string[] {
    return rules
      .filter(({ alert, for: pending }) => {
        const until = this.#now - Number.parseInt(pending, 10) * 60_000;
        return [...this.#since].some(([key, since]) => key.startsWith(`${alert} `) && since <= until);
      })
      .map(({ alert }) => alert);
  }

  /** The alerts whose condition holds, also before they fire. */
  get pending(): string[] {
    return rules
      .map(({ alert }) => alert)
      .filter((alert) => [...this.#since.keys()].some((key) => key.startsWith(`${alert} `)));
  }
}

function keyOf(alert: string, labels: Readonly<Record<string, string>>): string {
  return `${alert} ${JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))}`;
}
