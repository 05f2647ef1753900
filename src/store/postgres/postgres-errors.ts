import { StoreUnavailable } from '../../domain/errors.ts';

/** PostgreSQL 18, appendix A: the transaction lost against another one, and may be run again as a whole. */
const COLLISIONS: ReadonlySet<string> = new Set(['40001', '40P01']);

/** The server is gone, going, or no longer takes writes (after a failover to a standby, 25006). */
const TROUBLE_STATES = /^(08...|57P0[1-5]|53[13]00|25006|25P03)$/;

/** The server ended a statement, as when an instance that has stopped holds what it waits for. Nothing was stored. */
const TOO_LATE = '57014';

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

/**
 * Texts of errors to which node-postgres gives no code: https://github.com/brianc/node-postgres `client.js`,
 * `pg-pool/index.js`.
 */
const TROUBLE_TEXTS =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/;

/** True when a transaction collided with another one. Nothing of it was stored, and it may run again. */
export function isSerializationFailure(error: unknown): boolean {
  return COLLISIONS.has(codeOf(error));
}

/**
 * True when the database could not be reached, or the connection broke. A commit under way may or may not have been
 * kept.
 */
export function isConnectionTrouble(error: unknown): boolean {
  const code = codeOf(error);
  return (
    TROUBLE_STATES.test(code) ||
    TROUBLE_OF_SOCKETS.has(code) ||
    (error instanceof Error && TROUBLE_TEXTS.test(error.message))
  );
}

/** The error for a caller: `UNAVAILABLE` when the database does not answer in time, else the error itself. */
export function callerErrorOf(error: unknown): unknown {
  if (!isConnectionTrouble(error) && codeOf(error) !== TOO_LATE) return error;
  return new StoreUnavailable('The database does not answer', error);
}

/**
 * The reason for an error, in one line. For a host with several addresses, the error has no message of its own but one
 * error per address.
 */
export function databaseErrorReason(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(databaseErrorReason))].join('; ');
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
