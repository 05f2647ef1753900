import type { LogLevel } from '../../contract.ts';
import type { HostLink } from '../host-link.ts';
import {
  captureStack,
  floor,
  isFiniteNumber,
  min,
  SafeMap,
  stringSlice,
  toNumber,
  toText,
} from '../intrinsics/primordials.ts';
import { formatValue, logLine } from '../log-line.ts';

/** Deeper groups are not indented further. */
const DEEPEST_GROUP = 16;

export interface GuestConsole {
  /** The object that the plugin sees. */
  readonly console: object;
  /** Forgets groups, counters and timers, so that a call begins with none. */
  reset(): void;
}

/** Makes the console. Each line goes to the host at once, as level and text. `trace` counts as `debug`. */
export function createConsole(link: Pick<HostLink, 'log'>, now: () => number): GuestConsole {
  const counts = new SafeMap<string, number>();
  const starts = new SafeMap<string, number>();
  let depth = 0;

  const write = (level: LogLevel, values: readonly unknown[]): void => {
    let indent = '';
    for (let step = min(depth, DEEPEST_GROUP); step > 0; step--) indent += '  ';
    link.log(level, indent + logLine(fillConsolePlaceholders(values)));
  };
  const at =
    (level: LogLevel) =>
    (...values: unknown[]): void =>
      write(level, values);
  const open = (...values: unknown[]): void => {
    if (values.length > 0) write('log', values);
    depth++;
  };
  const elapsed = (label: string): string | null => {
    const start = starts.get(label);
    return start === undefined ? null : `${label}: ${toText(now() - start)}ms`;
  };
  const trace = (...values: unknown[]): void => {
    const message = logLine(fillConsolePlaceholders(values));
    const holder: { stack?: unknown } = {};
    captureStack(holder, trace);
    const stack = typeof holder.stack === 'string' ? framesOf(holder.stack) : '';
    write('debug', [`Trace${message === '' ? '' : `: ${message}`}${stack}`]);
  };
  const nothing = (): void => {};

  const console = {
    log: at('log'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    debug: at('debug'),
    trace,
    dir: (value: unknown): void => write('log', [value]),
    dirxml: at('log'),
    table: (value: unknown): void => write('log', [value]),
    group: open,
    groupCollapsed: open,
    groupEnd: (): void => {
      if (depth > 0) depth--;
    },
    assert: (condition: unknown, ...values: unknown[]): void => {
      if (!condition)
        write('error', values.length === 0 ? ['Assertion failed'] : ['Assertion failed:', logLine(values)]);
    },
    count: (given: unknown = 'default'): void => {
      const label = labelOf(given);
      const count = (counts.get(label) ?? 0) + 1;
      counts.set(label, count);
      write('log', [`${label}: ${count}`]);
    },
    countReset: (given: unknown = 'default'): void => {
      counts.delete(labelOf(given));
    },
    time: (given: unknown = 'default'): void => {
      const label = labelOf(given);
      if (!starts.has(label)) starts.set(label, now());
    },
    timeLog: (given: unknown = 'default', ...values: unknown[]): void => {
      const line = elapsed(labelOf(given));
      if (line !== null) write('log', values.length === 0 ? [line] : [line, logLine(values)]);
    },
    timeEnd: (given: unknown = 'default'): void => {
      const label = labelOf(given);
      const line = elapsed(label);
      if (line !== null) write('log', [line]);
      starts.delete(label);
    },
    clear: nothing,
    timeStamp: nothing,
    profile: nothing,
    profileEnd: nothing,
  };

  return {
    console,
    reset() {
      counts.clear();
      starts.clear();
      depth = 0;
    },
  };
}

/** The part of a stack after its first line. */
function framesOf(stack: string): string {
  for (let at = 0; at < stack.length; at++) if (stack[at] === '\n') return stringSlice(stack, at);
  return '';
}

function labelOf(given: unknown): string {
  return logLine([given]);
}

const LONGEST = 8192;

/**
 * Fills in the placeholders of the first console argument, as the Console Standard 2.2.1 and Node do: `%s`, `%d`, `%i`,
 * `%f`, `%j`, `%o`, `%O`, `%c` and `%%`. The arguments without a placeholder follow.
 */
export function fillConsolePlaceholders(values: readonly unknown[]): readonly unknown[] {
  const first = values[0];
  if (values.length < 2 || typeof first !== 'string') return values;
  let text = '';
  let from = 0;
  let used = 1;
  for (let at = 0; at < first.length - 1 && used <= values.length; at++) {
    if (first[at] !== '%') continue;
    const place = first[at + 1] as string;
    const filled = place === '%' ? '%' : used < values.length ? fill(place, values[used]) : undefined;
    if (filled === undefined) continue;
    if (place !== '%') used++;
    text += stringSlice(first, from, at) + filled;
    from = at + 2;
    at++;
  }
  if (from === 0) return values;
  const rest: unknown[] = [text + stringSlice(first, from)];
  for (let index = used; index < values.length; index++) rest[index - used + 1] = values[index];
  return rest;
}

/** The text for a placeholder; undefined when the letter is not a placeholder. */
function fill(place: string, value: unknown): string | undefined {
  switch (place) {
    case 's':
      if (typeof value === 'bigint') return `${toText(value)}n`;
      return typeof value === 'object' || typeof value === 'function' ? formatValue(value, LONGEST) : toText(value);
    case 'd':
      return typeof value === 'bigint' ? `${toText(value)}n` : toText(numberOf(value));
    case 'i':
      return typeof value === 'bigint' ? `${toText(value)}n` : toText(whole(numberOf(value)));
    case 'f':
      return typeof value === 'symbol' ? 'NaN' : toText(numberOf(value));
    case 'j':
    case 'o':
    case 'O':
      return formatValue(value, LONGEST);
    case 'c':
      return '';
    default:
      return undefined;
  }
}

/** A value as a number. Objects, symbols and functions are not converted and become NaN. */
function numberOf(value: unknown): number {
  return typeof value === 'object' || typeof value === 'symbol' || typeof value === 'function'
    ? Number.NaN
    : toNumber(value);
}

function whole(number: number): number {
  if (!isFiniteNumber(number)) return Number.NaN;
  return number < 0 ? -floor(-number) : floor(number);
}
