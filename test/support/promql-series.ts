import { parseExposition } from './exposition.ts';
import type { Matcher } from './promql.ts';

export type Labels = Readonly<Record<string, string>>;

/** One series, oldest point first. NaN means that a scrape no longer had the series. Times in milliseconds. */
export interface Series {
  metric: string;
  labels: Labels;
  points: { at: number; value: number }[];
}

/** Stores scraped values as Prometheus does: with `up`, the target's labels, and marks for series that are gone. */
export class SeriesStore {
  readonly #series = new Map<string, Series>();
  readonly #byMetric = new Map<string, Series[]>();
  readonly #present = new Map<string, Set<string>>();

  /**
   * Adds a scrape.
   * @param text null when the target did not answer
   */
  scrape(at: number, target: { job: string; instance: string }, text: string | null): void {
    const name = JSON.stringify(target);
    const seen = new Set<string>();
    const add = (metric: string, labels: Labels, value: number) => {
      const key = JSON.stringify([metric, Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
      const series = this.#series.get(key) ?? this.#begin(key, { metric, labels, points: [] });
      series.points.push({ at, value });
      seen.add(key);
    };
    for (const { samples } of text === null ? [] : parseExposition(text).values()) {
      for (const { name: metric, labels, value } of samples) add(metric, { ...labels, ...target }, value);
    }
    add('up', target, text === null ? 0 : 1);
    for (const key of this.#present.get(name) ?? []) {
      if (!seen.has(key)) this.#series.get(key)?.points.push({ at, value: Number.NaN });
    }
    this.#present.set(name, seen);
  }

  /** Removes the target. Marks all its series as gone. */
  drop(at: number, target: { job: string; instance: string }): void {
    const name = JSON.stringify(target);
    for (const key of this.#present.get(name) ?? []) this.#series.get(key)?.points.push({ at, value: Number.NaN });
    this.#present.delete(name);
  }

  select(metric: string, matchers: readonly Matcher[]): Series[] {
    return (this.#byMetric.get(metric) ?? []).filter(({ labels }) => matchers.every((one) => fits(one, labels)));
  }

  #begin(key: string, series: Series): Series {
    this.#series.set(key, series);
    const others = this.#byMetric.get(series.metric);
    if (others === undefined) this.#byMetric.set(series.metric, [series]);
    else others.push(series);
    return series;
  }
}

function fits({ label, operator, value }: Matcher, labels: Labels): boolean {
  const has = labels[label] ?? '';
  const isEqual = operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(has) : has === value;
  return operator.startsWith('!') ? !isEqual : isEqual;
}
