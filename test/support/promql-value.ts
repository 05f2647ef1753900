import type { FunctionName, Query, Selector } from './promql.ts';
import type { Labels, Series, SeriesStore } from './promql-series.ts';

/** One result of a query at a moment. */
export interface Value {
  labels: Labels;
  value: number;
}

/** How long a value stays valid if no later scrape marks it as gone. */
const LOOKBACK_MS = 300_000;

/**
 * Evaluates a query at a time by the rules of Prometheus 2
 * (https://prometheus.io/docs/prometheus/latest/querying/basics/, promql/functions.go `extrapolatedRate`).
 */
export function valuesOf(query: Query, store: SeriesStore, at: number): Value[] {
  switch (query.kind) {
    case 'number':
      throw new Error('a number by itself is no vector');
    case 'selector':
      return momentOf(query, store, at).map(({ labels, value }) => ({ labels, value }));
    case 'call':
      return called(query.name, query.of as Selector, store, at);
    case 'aggregate':
      return aggregated(query, valuesOf(query.of, store, at));
    case 'binary':
      return combined(query, store, at);
    default:
      return query satisfies never;
  }
}

function momentOf({ metric, matchers, offsetMs, rangeMs }: Selector, store: SeriesStore, now: number): Value[] {
  if (rangeMs !== null) throw new Error('a range by itself is no vector');
  const at = now - offsetMs;
  return store.select(metric, matchers).flatMap(({ labels, points }) => {
    const last = points.findLast((point) => point.at <= at);
    return last === undefined || last.at < at - LOOKBACK_MS || Number.isNaN(last.value)
      ? []
      : [{ labels, value: last.value }];
  });
}

function called(name: FunctionName, selector: Selector, store: SeriesStore, now: number): Value[] {
  if (name === 'absent') {
    const equal = selector.matchers.filter(({ operator }) => operator === '=');
    const labels = Object.fromEntries(equal.map(({ label, value }) => [label, value]));
    return momentOf(selector, store, now).length > 0 ? [] : [{ labels, value: 1 }];
  }
  const { metric, matchers, rangeMs, offsetMs } = selector;
  const end = now - offsetMs;
  const start = end - (rangeMs ?? 0);
  return store.select(metric, matchers).flatMap(({ labels, points }) => {
    const within = points.filter(({ at, value }) => at >= start && at <= end && !Number.isNaN(value));
    const value = overTime(name, within, start, end);
    return value === undefined ? [] : [{ labels, value }];
  });
}

function overTime(
  name: Exclude<FunctionName, 'absent'>,
  points: Series['points'],
  start: number,
  end: number,
): number | undefined {
  const values = points.map(({ value }) => value);
  if (values.length === 0) return undefined;
  switch (name) {
    case 'avg_over_time':
      return values.reduce((sum, value) => sum + value, 0) / values.length;
    case 'min_over_time':
      return Math.min(...values);
    case 'changes':
      return values.filter((value, index) => index > 0 && value !== values[index - 1]).length;
    case 'delta':
      return extrapolated(points, start, end, false);
    case 'increase':
      return extrapolated(points, start, end, true);
    case 'rate': {
      const increase = extrapolated(points, start, end, true);
      return increase === undefined ? undefined : increase / ((end - start) / 1000);
    }
    default:
      return name satisfies never;
  }
}

function extrapolated(points: Series['points'], start: number, end: number, isCounter: boolean): number | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2) return undefined;
  let result = last.value - first.value;
  if (isCounter) {
    for (const [index, { value }] of points.entries()) {
      const before = points[index - 1]?.value ?? value;
      if (value < before) result += before;
    }
  }
  const sampled = last.at - first.at;
  const average = sampled / (points.length - 1);
  let toStart = first.at - start;
  if (isCounter && result > 0 && first.value >= 0) toStart = Math.min(toStart, sampled * (first.value / result));
  const reach = (distance: number) => (distance < average * 1.1 ? distance : average / 2);
  return result * ((sampled + reach(toStart) + reach(end - last.at)) / sampled);
}

function aggregated({ operator, by }: Extract<Query, { kind: 'aggregate' }>, values: readonly Value[]): Value[] {
  const groups = new Map<string, Value>();
  for (const { labels, value } of values) {
    const kept = Object.fromEntries(by.flatMap((label) => (label in labels ? [[label, labels[label] ?? '']] : [])));
    const key = JSON.stringify(kept);
    const before = groups.get(key)?.value;
    const joined = {
      sum: (before ?? 0) + value,
      max: Math.max(before ?? value, value),
      min: Math.min(before ?? value, value),
    };
    groups.set(key, { labels: kept, value: joined[operator] });
  }
  return [...groups.values()];
}

type Binary = Extract<Query, { kind: 'binary' }>;

function combined({ operator, on, left, right }: Binary, store: SeriesStore, at: number): Value[] {
  const values = valuesOf(left, store, at);
  if (right.kind === 'number') {
    return values.flatMap(({ labels, value }) => {
      const result = calculated(operator, value, right.value);
      return result === undefined ? [] : [{ labels, value: result }];
    });
  }
  const others = new Map(valuesOf(right, store, at).map((other) => [keyOf(other.labels, on), other]));
  const isThere = ({ labels }: Value) => others.has(keyOf(labels, on));
  if (operator === 'and') return values.filter(isThere);
  if (operator === 'unless') return values.filter((value) => !isThere(value));
  if (operator === 'or') {
    const keys = new Set(values.map(({ labels }) => keyOf(labels, on)));
    return [...values, ...[...others].flatMap(([key, value]) => (keys.has(key) ? [] : [value]))];
  }
  return values.flatMap(({ labels, value }) => {
    const other = others.get(keyOf(labels, on));
    const result = other === undefined ? undefined : calculated(operator, value, other.value);
    return result === undefined ? [] : [{ labels, value: result }];
  });
}

/** A comparison keeps the left value where it holds. */
function calculated(operator: Binary['operator'], left: number, right: number): number | undefined {
  const keptIf = (holds: boolean) => (holds ? left : undefined);
  switch (operator) {
    case '/':
      return left / right;
    case '>':
      return keptIf(left > right);
    case '<':
      return keptIf(left < right);
    case '==':
      return keptIf(left === right);
    default:
      throw new Error(`${operator} takes no number`);
  }
}

function keyOf(labels: Labels, on: readonly string[] | null): string {
  const kept = Object.entries(labels).filter(([label]) => on === null || on.includes(label));
  return JSON.stringify(kept.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
