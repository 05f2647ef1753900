import { type Logger, pino } from 'pino';

/** Structured log: an object, then a short constant text. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

export type LogLevelName = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** Field names whose values never reach a log line, at the first three levels of an entry. */
const SECRET_FIELDS = [
  'authorization',
  'passphrase',
  'privateKey',
  'private_key',
  'secret',
  'signing_key',
  'signingKey',
  'apiKey',
  'token',
];

/** The service's log: JSON lines on the given stream, secrets replaced. */
export function createLog(level: LogLevelName, stream?: { write(line: string): void }): Logger {
  const paths = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);
  const options = { level, base: null, redact: { paths, censor: '[redacted]' } };
  return stream === undefined ? pino(options) : pino(options, stream);
}
