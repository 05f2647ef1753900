import type { LogEntry, LogLevel } from '../../../../sandbox/contract.ts';
import type { Log } from '../../../observability/log.ts';

/** The call that wrote the lines. */
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
 * Copies a call's lines to the service's log: uncaught errors always, `console` lines only where that is wanted.
 * Escapes control characters, so that none acts on a terminal.
 */
export function forwardLogs(log: Log, entries: readonly LogEntry[], call: ForwardedCall, isConsoleWanted: boolean) {
  for (const { level, message } of entries) {
    if (level === 'uncaught') log.error({ ...call, err: uncaughtError(message) }, 'a plugin did not catch an error');
    else if (level !== 'ungranted' && isConsoleWanted)
      log[LEVELS[level]]({ ...call, line: printableLogText(message) }, 'plugin');
  }
}

/** An uncaught error in the form that the log takes: a stack and its causes, line by line. */
export function uncaughtError(report: string): Error {
  const lines = report.split('\n').map(printableLogText);
  const error = new Error(lines[0]);
  error.stack = lines.join('\n');
  return error;
}

/** The text with control, bidirectional and line-breaking characters written as `\u…`. */
export function printableLogText(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    character === '\n' || character === '\t'
      ? JSON.stringify(character).slice(1, -1)
      : `\\u${character.codePointAt(0)?.toString(16).padStart(4, '0') ?? ''}`,
  );
}
