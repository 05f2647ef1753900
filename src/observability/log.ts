import { type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import { AppError } from '../domain/errors.ts';
import { humanLine } from './human-line.ts';

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
