import type { LogLevel } from '../../protocol.ts';
import type { HostLink } from '../host-link.ts';
import { captureStack, min, SafeMap, stringSlice, toText } from '../intrinsics/primordials.ts';
import { filledIn } from '../text/format-text.ts';
import { logLine } from '../text/log-line.ts';

/** Deeper groups are not indented further. */
const DEEPEST_GROUP = 16;

export interface GuestConsole {
  /** The object that the plugin sees. */
  readonly console: object;
  /** Forgets groups, counters and timers, so that a call begins with none. */
  reset(): void;
}

/** Makes the console. Each line goes to the host at once, as level and text. `trace` counts as `debug`. */
export function createConsole(link: HostLink): GuestConsole {
  const counts = new SafeMap<string, number>();
  const starts = new SafeMap<string, number>();
  let depth = 0;

  const write = (level: LogLevel, values: readonly unknown[]): void => {
    let indent = '';
    for (let step = min(depth, DEEPEST_GROUP); step > 0; step--) indent += '  ';
    link.log(level, indent + logLine(filledIn(values)));
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
    return start === undefined ? null : `${label}: ${toText(link.now() - start)}ms`;
  };
  const trace = (...values: unknown[]): void => {
    const message = logLine(filledIn(values));
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
      if (!starts.has(label)) starts.set(label, link.now());
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
