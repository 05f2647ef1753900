import type { CapabilityReply } from '../../../../../sandbox/contract.ts';
import type { AppError } from '../../../../domain/errors.ts';

/** The texts by which existing plugins recognise a refused payload: of a send, of another call, of an RPC request. */
export type PayloadPrefix = 'Relayer error: Bad Request: ' | 'Invalid payload: ' | 'Invalid payload: Bad Request: ';

/** The text that a plugin reads after a fault inside the service. */
export const INTERNAL_FAILURE = 'Relayer error: Internal Server Error';

/**
 * The text of a failed relayer call. Plugins of the reference compare it word for word. The reasons of faults inside
 * the service appear only in its log.
 */
export function relayerFailure(error: AppError, payloadPrefix: PayloadPrefix): string {
  switch (error.code) {
    case 'INVALID_REQUEST':
      return payloadPrefix + error.message;
    case 'RELAYER_NOT_FOUND':
    case 'TRANSACTION_NOT_FOUND':
      return `Relayer error: Not Found: ${error.message}`;
    case 'RELAYER_PAUSED':
      return 'Relayer error: Relayer is paused';
    case 'RELAYER_DISABLED':
      return 'Relayer error: Relayer is disabled';
    case 'NOT_SUPPORTED': {
      const { what, networkType } = error.details;
      return `Relayer error: Not supported: ${what} not supported for ${networkType.toUpperCase()}`;
    }
    default:
      return `Relayer error: ${error.publicMessage}`;
  }
}

/**
 * The fields, beside the text, that a plugin can read when its own limits forbid a transaction: the code of the error
 * table, the status of the plugin's answer when it does not catch the error, and the figures. Undefined for every other
 * error.
 */
export function spendingFailure(
  error: AppError,
): Omit<Extract<CapabilityReply, { ok: false }>['error'], 'message'> | undefined {
  const { code, status } = error;
  if (code === 'GRANT_EXCEEDED') {
    const { rule, asked, limit } = (error as AppError<'GRANT_EXCEEDED'>).details;
    return { code, status, details: { rule, asked, limit } };
  }
  if (code !== 'BUDGET_SPENT') return undefined;
  const { rule, asked, limit, remaining, free_from } = (error as AppError<'BUDGET_SPENT'>).details;
  return { code, status, details: { rule, asked, limit, remaining, free_from } };
}

/** Thrown when the time of a wait is over. The guest turns it into a `PluginError`. */
export class WaitTimeout extends Error {
  /** HTTP status of the answer when the plugin does not catch the error. */
  readonly status = 504;

  constructor(message: string) {
    super(message);
    this.name = 'WaitTimeout';
  }
}
