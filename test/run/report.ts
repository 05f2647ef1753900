import { inspect } from 'node:util';
import type { SuiteResult } from './run-suite.ts';
import type { Failure } from './tally.ts';

/** How much of a failed suite's other output is worth reading. */
const OUTPUT_LIMIT = 20_000;

/** What tap says about its own way of running a file, or what repeats the assertion's place. */
const NOISE = new Set(['stdio', 'cwd', 'externalID', 'command', 'args', 'jobId', 'isToplevel', 'compare', 'source']);

/** One line for a suite that passed; all that is known for one that did not. */
export function describeSuite(name: string, result: SuiteResult, files: number, seconds: number): string {
  const { passed, failures, output, coverage } = result;
  const measured = coverage === undefined ? '' : `, coverage ${coverage} %`;
  const figures = `${files} files, ${passed} passed, ${failures.length} failed${measured}, ${seconds.toFixed(1)} s`;
  if (failures.length === 0) return `ok     ${name} (${figures})`;
  const tail = output.trim().slice(-OUTPUT_LIMIT);
  return [
    `FAILED ${name} (${figures})`,
    ...failures.map(describeFailure),
    ...(tail === '' ? [] : [indent(`What the suite printed besides:\n${tail}`)]),
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
  if (typeof value !== 'string') return inspect(value, { depth: 4 });
  return value.includes('\n') ? `\n${indent(value.trimEnd(), '  ')}` : value;
}

function indent(text: string, by = '      '): string {
  return text
    .split('\n')
    .map((line) => `${by}${line}`)
    .join('\n');
}
