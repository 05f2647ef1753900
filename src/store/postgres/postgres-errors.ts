import { AppError } from '../../domain/errors.ts';

/** PostgreSQL 18, appendix A: the transaction lost against another one and may be run again as a whole. */
const COLLISIONS: ReadonlySet<string> = new Set(['40001', '40P01']);

/** The server is gone, going, or no longer takes writes (after a failover to a standby, 25006). */
const TROUBLE_STATES = /^(08...|57P0[1-5]|53[13]00|25006|25P03)$/;

const TROUBLE_OF_SOCKETS: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);

/** node-postgres gives these no code: https://github.com/brianc/node-postgres `client.js`, `pg-pool/index.js`. */
const TROUBLE_TEXTS =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/;

/** True when a transaction collided with another one: nothing of it was stored, and it may run again. */
export function isSerializationFailure(error: unknown): boolean {
  return COLLISIONS.has(codeOf(error));
}

/** True when the database could not be reached, or not to its end; whether a commit under way was kept is not known. */
export function isConnectionTrouble(error: unknown): boolean {
  const code = codeOf(error);
  return (
    TROUBLE_STATES.test(code) ||
    TROUBLE_OF_SOCKETS.has(code) ||
    (error instanceof Error && TROUBLE_TEXTS.test(error.message))
  );
}

/** What a caller is told: that the database is away, else the error as it is. */
export function toldToCaller(error: unknown): unknown {
  if (!isConnectionTrouble(error)) return error;
  return new AppError('UNAVAILABLE', { reason: 'The database does not answer' }, { cause: error });
}

/** Why, in one line: a host with several addresses has an error of each, and none of its own. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(reasonOf))].join('; ');
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
