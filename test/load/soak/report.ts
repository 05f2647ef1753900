import type { Verdict } from './payments/verdict.ts';

/** One line of the table. */
export type Line = readonly [name: string, figure: string | number];

/** How many cases of one kind are shown. */
const SHOWN_CASES = 8;

/** The figures of a run, and the first cases of each kind of broken promise. */
export function describeRun(lines: readonly Line[], verdict: Verdict): string {
  const { accepted, confirmed, ...cases } = verdict;
  const table: Line[] = [
    ...lines,
    ['accepted', accepted],
    ['confirmed', confirmed],
    ...Object.entries(cases).map(([kind, list]): Line => [kind, list.length]),
  ];
  const details = Object.entries(cases).flatMap(([kind, list]) => [
    ...list.slice(0, SHOWN_CASES).map((text) => `${kind}: ${text}`),
    ...(list.length > SHOWN_CASES ? [`${kind}: and ${list.length - SHOWN_CASES} more`] : []),
  ]);
  return [describeLines(table), ...details].join('\n');
}

/** The figures in one column. */
export function describeLines(table: readonly Line[]): string {
  const width = Math.max(...table.map(([name]) => name.length)) + 2;
  return table.map(([name, figure]) => `${name.padEnd(width)}${figure}`).join('\n');
}

/** Counts by name, the most frequent first. */
export function describeCounts(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.length === 0 ? 'none' : sorted.map(([name, count]) => `${name} ${count}`).join(', ');
}
