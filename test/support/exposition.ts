/**
 * Parses the text format of Prometheus strictly (https://prometheus.io/docs/instrumenting/exposition_formats/). Also
 * reports what `promtool check metrics` would report (client_golang, prometheus/testutil/promlint/validations).
 */

import type { Exposition } from '../../src/observability/metrics.ts';

/** The text of all families, or of one; empty when there is none with the name. */
export async function textOf(metrics: Exposition, name?: string): Promise<string> {
  return (await Array.fromAsync(metrics.pieces(name))).join('');
}

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Family {
  name: string;
  type: string;
  help: string;
  samples: Sample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const PAIR = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/y;
const TYPES = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];
const PARTS: Record<string, RegExp> = { histogram: /_(bucket|sum|count)$/, summary: /_(sum|count)$/ };

/** The families of a text, by name. @throws on the first line that the format does not allow */
export function parseExposition(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  let current: Family | undefined;
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  for (const [index, line] of text.split('\n').slice(0, -1).entries()) {
    const fail = (reason: string): never => {
      throw new Error(`line ${index + 1}: ${reason}: ${line}`);
    };
    if (line === '') continue;
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      if (!NAME.test(name)) fail('no name of a metric');
      if (families.has(name)) fail('the family is not in one place, or there twice');
      current = { name, type: '', help: rest, samples: [] };
      families.set(name, current);
    } else if (keyword === 'TYPE') {
      if (current?.name !== name || current.samples.length > 0) fail('TYPE without its HELP before it');
      if (!TYPES.includes(rest)) fail('no type');
      if (current !== undefined) current.type = rest;
    } else if (line.startsWith('#')) {
      fail('a comment that says nothing');
    } else {
      const sample = parseSample(line) ?? fail('no sample');
      const family = sample.name.replace(PARTS[current?.type ?? ''] ?? /$^/, '');
      if (current === undefined || (sample.name !== current.name && family !== current.name))
        fail('outside its family');
      current?.samples.push(sample);
    }
  }
  for (const family of families.values()) checkFamily(family);
  return families;
}

function parseSample(line: string): Sample | undefined {
  const [, name, pairs = '', value = ''] = SAMPLE.exec(line) ?? [];
  if (name === undefined) return undefined;
  const labels: Record<string, string> = {};
  for (PAIR.lastIndex = 0; PAIR.lastIndex < pairs.length; ) {
    const [, label, text] = PAIR.exec(pairs) ?? [];
    if (label === undefined || text === undefined || label in labels || !LABEL.test(label)) return undefined;
    labels[label] = text;
  }
  const number = numberOf(value);
  return number === undefined ? undefined : { name, labels, value: number };
}

/** Parses a number as Go's ParseFloat does: `Inf` and `NaN` in any case. */
function numberOf(text: string): number | undefined {
  if (/^nan$/i.test(text)) return Number.NaN;
  if (/^[+-]?inf$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  const number = Number(text);
  return Number.isNaN(number) ? undefined : number;
}

function checkFamily({ name, type, samples }: Family): void {
  if (type === '') throw new Error(`${name} has no type`);
  const series = samples.map((sample) => seriesOf(sample));
  const [twice] = series.filter((one, index) => series.indexOf(one) !== index);
  if (twice !== undefined) throw new Error(`twice: ${twice}`);
  if (type === 'counter' && samples.some(({ value }) => !(value >= 0))) throw new Error(`${name} is below 0`);
  if (type === 'histogram') checkHistogram(name, samples);
}

/** Checks that the buckets rise up to `+Inf`, whose value is the count. */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  const groups = Map.groupBy(samples, ({ labels: { le: _, ...labels } }) => labelsOf(labels));
  for (const [labels, group] of groups) {
    const buckets = group
      .filter((sample) => sample.name === `${name}_bucket`)
      .map(({ labels: { le }, value }) => ({ le: le === '+Inf' ? Infinity : Number(le), value }))
      .sort((a, b) => a.le - b.le);
    const only = (suffix: string) => group.find((sample) => sample.name === name + suffix)?.value;
    const isRising = buckets.every(({ value }, index) => value >= (buckets[index - 1]?.value ?? 0));
    const isWhole = buckets.at(-1)?.le === Infinity && buckets.at(-1)?.value === only('_count');
    if (!isRising || !isWhole || only('_sum') === undefined) throw new Error(`${name} ${labels} is no histogram`);
  }
}

/** Labels in one text, whatever their order. */
function labelsOf(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A series by name and labels, in any order. */
function seriesOf({ name, labels }: Sample): string {
  return `${name} ${labelsOf(labels)}`;
}

const ABBREVIATIONS = ['s', 'ms', 'us', 'ns', 'sec', 'b', 'kb', 'mb', 'gb', 'tb', 'pb', 'm', 'h', 'd'];
const OTHER_UNITS: Record<string, string> = {
  minutes: 'seconds',
  hours: 'seconds',
  days: 'seconds',
  weeks: 'seconds',
  milliseconds: 'seconds',
  microseconds: 'seconds',
  nanoseconds: 'seconds',
  kilobytes: 'bytes',
  megabytes: 'bytes',
  gigabytes: 'bytes',
  bits: 'bytes',
};

/** The complaints of promtool's linter. */
export function lint(families: ReadonlyMap<string, Family>): string[] {
  return [...families.values()].flatMap(({ name, type, help, samples }) => {
    const words = name.split('_');
    const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
    const isDistribution = type === 'histogram' || type === 'summary';
    const complaints: [boolean, string][] = [
      [help === '', 'no help text'],
      [type === 'counter' && !name.endsWith('_total'), 'counter metrics should have "_total" suffix'],
      [type !== 'counter' && name.endsWith('_total'), 'non-counter metrics should not have "_total" suffix'],
      [!isDistribution && /_(bucket|count|sum)$/.test(name), 'non-histogram metrics should not have such a suffix'],
      [type !== 'histogram' && labels.has('le'), 'non-histogram metrics should not have "le" label'],
      [type !== 'summary' && labels.has('quantile'), 'non-summary metrics should not have "quantile" label'],
      [name.includes(':'), 'metric names should not contain ":"'],
      [/[a-z][A-Z]/.test(name), 'metric names should be written in snake_case'],
      [[...labels].some((label) => /[a-z][A-Z]/.test(label)), 'label names should be written in snake_case'],
      [words.includes(type), `metric name should not include type "${type}"`],
      [
        words.slice(1).some((word) => ABBREVIATIONS.includes(word)),
        'metric names should not contain abbreviated units',
      ],
      ...words.map((word): [boolean, string] => [word in OTHER_UNITS, `use base unit "${OTHER_UNITS[word]}"`]),
    ];
    return complaints.filter(([holds]) => holds).map(([, text]) => `${name}: ${text}`);
  });
}
