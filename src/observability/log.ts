import { inspect } from 'node:util';
import { type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import type { EndpointNews } from '../domain/endpoint-news.ts';
import { AppError } from '../domain/errors.ts';

const TEXTS = {
  paused: 'endpoint paused',
  limited: 'endpoint asks for a pause',
  unfit: 'endpoint set aside',
  behind: 'endpoint is behind',
} as const;

/**
 * Logs one line for each change of an endpoint: the endpoint, the reason and the end time. `now` is in milliseconds
 * since the epoch.
 */
export function logEndpoint(log: Log, network: string, news: EndpointNews, now: number): void {
  const { endpoint } = news;
  if (news.kind === 'back') {
    log.info({ network, endpoint }, 'endpoint serves again');
    return;
  }
  const until = 'forMs' in news ? { until: new Date(now + news.forMs).toISOString() } : {};
  log.warn({ network, endpoint, reason: news.reason, ...until }, TEXTS[news.kind]);
}

/** SGR codes: https://man7.org/linux/man-pages/man4/console_codes.4.html */
const COLOURS: Readonly<Record<string, number>> = { fatal: 31, error: 31, warn: 33, info: 32, debug: 90, trace: 90 };

interface Entry {
  level: string;
  time: string;
  msg?: string;
  err?: { message?: string; stack?: string };
}

/** Formats a log entry, one line of JSON, for people: time, level, text, then the fields. */
export function humanLine(json: string, isColoured: boolean): string {
  const { level, time, msg = '', err, ...fields } = JSON.parse(json) as Entry;
  const name = level.toUpperCase().padEnd(5);
  const pairs = Object.entries(fields).map(([field, value]) => `${field}=${shown(value)}`);
  if (err !== undefined) pairs.push(`error=${shown(err.message)}`);
  const first = [time, isColoured ? `\u001b[${COLOURS[level] ?? 0}m${name}\u001b[0m` : name, msg].join(' ');
  const line = [first, ...pairs].join('  ');
  // Only errors show their stack, because an operator has to look into them.
  const stack = level === 'error' || level === 'fatal' ? stackOf(err) : [];
  return `${[line, ...stack].join('\n')}\n`;
}

function stackOf(err: Entry['err']): string[] {
  const lines = err?.stack?.split('\n') ?? [];
  return lines.filter((line) => /^\s+at |^caused by/.test(line)).map((line) => `    ${printable(line.trim())}`);
}

/** Shows plain text unchanged, and anything else as JSON. */
function shown(value: unknown): string {
  if (typeof value === 'string' && /^[\w.:/@+-]+$/.test(value)) return value;
  return printable(JSON.stringify(value) ?? inspect(value));
}

/** Escapes control characters, so that a value can neither start a new line nor control the terminal. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}

/** Structured log: an object, then a short constant text. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

export type LogLevelName = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** `json` for programs, one object a line; `human` for a terminal. */
export type LogFormat = 'human' | 'json';

/** The output of a log, and its format. */
export interface LogTarget {
  /** Absent: standard output. */
  write?(line: string): void;
  /** Absent: `json`. */
  format?: LogFormat;
  /** Whether a human line has colours. */
  isColoured?: boolean;
}

/** Field names whose values are not logged, at the first {@link SECRET_LEVELS} levels of an entry. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'authorization',
  'passphrase',
  'privateKey',
  'private_key',
  'secret',
  'signing_key',
  'signingKey',
  'apiKey',
  'token',
]);

const SECRET_LEVELS = 3;

/** Creates the service's log. Each entry is a line with the level's name and an ISO time. Secrets are replaced. */
export function createLog(level: LogLevelName, target: LogTarget = {}): Logger {
  const { format = 'json', isColoured = false } = target;
  const write = target.write?.bind(target);
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: {
      level: (label: string) => ({ level: label }),
      // pino's own redaction evaluates its paths again for each line.
      log: (entry: Record<string, unknown>) => withoutSecrets(entry, SECRET_LEVELS),
    },
    serializers: { err: (error: unknown) => withoutSecrets(errorFields(error), SECRET_LEVELS - 1) },
  };
  if (format === 'json') return write === undefined ? pino(options) : pino(options, { write });
  const print = write ?? ((line: string) => void process.stdout.write(line));
  return pino(options, { write: (line) => print(humanLine(line, isColoured)) });
}

/**
 * Returns the loggable fields of an error. `UNAVAILABLE` has no stack: it is no fault of the code, it can occur for
 * many requests at once, and its message is enough.
 */
function errorFields(error: unknown) {
  if (!(error instanceof Error)) return error;
  const fields = stdSerializers.err(error);
  if (!(error instanceof AppError) || error.code !== 'UNAVAILABLE') return fields;
  return { type: fields.type, message: fields.message, code: error.code };
}

/** Replaces secrets in a value. Returns the same value if it has none. */
function withoutSecrets<T>(value: T, levels: number): T {
  if (levels === 0 || value === null || typeof value !== 'object' || value instanceof Error) return value;
  if (Array.isArray(value)) return value.map((held) => withoutSecrets(held, levels - 1)) as T;
  let shown: Record<string, unknown> | undefined;
  for (const [name, held] of Object.entries(value)) {
    const safe = SECRET_FIELDS.has(name) ? '[redacted]' : withoutSecrets(held, levels - 1);
    if (safe === held) continue;
    shown = { ...(shown ?? value), [name]: safe };
  }
  return (shown ?? value) as T;
}
