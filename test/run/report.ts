import { inspect } from 'node:util';
import type { FileOutcome, Outcome } from './outcome.ts';
import type { Failure } from './tally.ts';

/** The most characters of a failed suite's other output. */
const OUTPUT_LIMIT = 20_000;

/** The most characters of one value. More of a long diff says nothing new. */
const VALUE_LIMIT = 3_000;

/** Details about how tap runs files, or that repeat the assertion's place. */
const NOISE = new Set(['stdio', 'cwd', 'externalID', 'command', 'args', 'jobId', 'isToplevel', 'compare', 'source']);

/** One line for a suite that passed, and all details for one that failed. */
export function describeSuite(name: string, outcome: Outcome, files: number, seconds: number): string {
  const { passed, failures, output } = outcome;
  const figures = `${files} files, ${passed} passed, ${failures.length} failed, ${seconds.toFixed(1)} s`;
  if (failures.length === 0) return `ok     ${name} (${figures})`;
  const tail = output.trim().slice(-OUTPUT_LIMIT);
  return [
    `FAILED ${name} (${figures})`,
    ...failures.map(describeFailure),
    ...(tail === '' ? [] : [indent(`What was printed besides:\n${tail}`)]),
  ].join('\n');
}

/** The number of files in the list of slow files. */
const SLOWEST = 30;

/** Lists the slowest files by processor time, which does not depend on other load, and by real time. */
export function describeTimes(files: readonly FileOutcome[]): string {
  const seconds = ({ began, ended }: FileOutcome) => (ended - began) / 1000;
  const weight = (one: FileOutcome) => one.spent ?? seconds(one);
  const sum = (of: (one: FileOutcome) => number) => files.reduce((total, one) => total + of(one), 0);
  const line = (spent: number | undefined, real: number, name: string) =>
    `${(spent?.toFixed(1) ?? '?').padStart(8)} ${real.toFixed(1).padStart(8)}  ${name}`;
  return [
    'cpu secs     secs  file',
    ...files
      .toSorted((a, b) => weight(b) - weight(a))
      .slice(0, SLOWEST)
      .map((one) => line(one.spent, seconds(one), one.file)),
    line(
      sum(({ spent }) => spent ?? 0),
      sum(seconds),
      `all ${files.length}`,
    ),
  ].join('\n');
}

function describeFailure({ path, details }: Failure): string {
  const lines = Object.entries(details)
    .filter(([key, value]) => !NOISE.has(key) && value !== null && value !== '')
    .map(([key, value]) => `${key}: ${describeValue(key, value)}`);
  return `  ✗ ${path.join(' › ')}\n${lines.map((line) => indent(line)).join('\n')}`;
}

function describeValue(key: string, value: unknown): string {
  if (key === 'at' && typeof value === 'object' && value !== null && 'fileName' in value) {
    const { fileName, lineNumber } = value as { fileName: string; lineNumber?: number };
    return `${fileName}:${lineNumber ?? '?'}`;
  }
  const text = typeof value === 'string' ? value.trimEnd() : inspect(value, { depth: 4 });
  const start = text.length > VALUE_LIMIT ? `${text.slice(0, VALUE_LIMIT)} …` : text;
  return start.includes('\n') ? `\n${indent(start, '  ')}` : start;
}

function indent(text: string, by = '      '): string {
  return text.replaceAll(/^/gm, by);
}
