import type { LogEntry, LogLevel } from '../../sandbox/protocol.ts';
import type { Log } from '../observability/log.ts';

const LEVELS: Record<LogLevel, 'debug' | 'info' | 'warn' | 'error'> = {
  debug: 'debug',
  log: 'info',
  info: 'info',
  warn: 'warn',
  error: 'error',
};

/** Copies a call's captured console lines to the service's log, where no control character may act on a terminal. */
export function forwardLogs(log: Log, entries: readonly LogEntry[], call: { pluginId: string; requestId: string }) {
  for (const { level, message } of entries) log[LEVELS[level]]({ ...call, line: printable(message) }, 'plugin');
}

/** The text with control, bidirectional and line-breaking characters written as `\u…`. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    character === '\n' || character === '\t'
      ? JSON.stringify(character).slice(1, -1)
      : `\\u${character.codePointAt(0)?.toString(16).padStart(4, '0') ?? ''}`,
  );
}
