import type { LogEntry, LogLevel } from '../../sandbox/protocol.ts';
import type { Log } from '../observability/log.ts';

/** Whose lines they are. */
export interface ForwardedCall {
  pluginId: string;
  requestId: string;
  /** The API key that called. */
  keyId: string;
}

const LEVELS: Record<LogLevel, 'debug' | 'info' | 'warn' | 'error'> = {
  debug: 'debug',
  log: 'info',
  info: 'info',
  warn: 'warn',
  error: 'error',
};

/**
 * Copies a call's lines to the service's log: what nobody caught always, what it wrote with `console` where that is
 * wanted. No control character may act on a terminal.
 */
export function forwardLogs(log: Log, entries: readonly LogEntry[], call: ForwardedCall, isConsoleWanted: boolean) {
  for (const { level, message } of entries) {
    if (level === 'uncaught') log.error({ ...call, err: uncaughtError(message) }, 'a plugin did not catch an error');
    else if (level !== 'ungranted' && isConsoleWanted)
      log[LEVELS[level]]({ ...call, line: printable(message) }, 'plugin');
  }
}

/** What nobody caught, as the log takes errors: a stack and its causes, line by line. */
export function uncaughtError(report: string): Error {
  const lines = report.split('\n').map(printable);
  const error = new Error(lines[0]);
  error.stack = lines.join('\n');
  return error;
}

/** The text with control, bidirectional and line-breaking characters written as `\u…`. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    character === '\n' || character === '\t'
      ? JSON.stringify(character).slice(1, -1)
      : `\\u${character.codePointAt(0)?.toString(16).padStart(4, '0') ?? ''}`,
  );
}
