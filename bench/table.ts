import type { Round } from './load.ts';

/** One line of the result. */
export interface Row {
  name: string;
  /** 32 connections kept busy. */
  busy: Round;
  /** A steady, low rate. */
  quiet: Round;
}

/** Prints the rows, and each as a ratio to the first (an empty route) and to the second (workerd). */
export function printTable(rows: readonly Row[], run: { seconds: number; rounds: number; steadyRate: number }): void {
  const [empty, workerd] = rows;
  if (empty === undefined || workerd === undefined) throw new Error('nothing to compare with');
  const line = (cells: readonly string[]): void => {
    const [name = '', ...figures] = cells;
    process.stdout.write(`${name.padEnd(26)}${figures.map((cell) => cell.padStart(15)).join('')}\n`);
  };
  process.stdout.write(
    `\nMedians of ${run.rounds} rounds of ${run.seconds} s, taken in turns; the load generator shares the cores.\n\n`,
  );
  line(['', 'calls/s', 'to empty', 'to workerd', 'p99 ms', `p50 at ${run.steadyRate}/s`, 'to workerd']);
  for (const { name, busy, quiet } of rows) {
    line([
      name,
      busy.rate.toFixed(0),
      `${(busy.rate / empty.busy.rate).toFixed(2)}×`,
      `${(busy.rate / workerd.busy.rate).toFixed(2)}×`,
      busy.p99.toFixed(0),
      `${quiet.p50.toFixed(2)} ms`,
      `${(quiet.p50 / workerd.quiet.p50).toFixed(2)}×`,
    ]);
  }
}
