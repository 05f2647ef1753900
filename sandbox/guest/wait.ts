import { type BoundCalls, toError } from './capability-calls.ts';
import { min, NativeTypeError } from './intrinsics/primordials.ts';
import type { TransactionResponse, WaitOptions } from './plugin-api.ts';
import { PluginError } from './plugin-error.ts';

const DEFAULT_INTERVAL_MS = 5000;
const DEFAULT_TIMEOUT_MS = 60_000;
/** Beyond this a timer's delay no longer fits 32 bits. */
const MAX_MS = 2 ** 31 - 1;
/** The status with which the host refuses a wait that took too long. */
const TIMED_OUT = 504;

/**
 * Waits on the host's side until a transaction is in a block or has ended. `failed`, `canceled` and `expired` resolve
 * as well. Rejects with a PluginError of status 504 when the wait takes longer than `timeout`. `target` throws when the
 * plugin did not say which transaction it means.
 */
export function waitForTransaction(
  calls: BoundCalls,
  target: () => { relayerId: string; transactionId: string },
  options: WaitOptions | null | undefined,
): Promise<TransactionResponse> {
  let waited = { transactionId: '', timeout: DEFAULT_TIMEOUT_MS };
  return calls.call<TransactionResponse, 'relayer.waitTransaction'>(
    'relayer.waitTransaction',
    () => {
      const { relayerId, transactionId } = target();
      const interval = milliseconds('interval', options?.interval, DEFAULT_INTERVAL_MS);
      const timeout = milliseconds('timeout', options?.timeout, DEFAULT_TIMEOUT_MS);
      waited = { transactionId, timeout };
      return { relayerId, transactionId, interval, timeout };
    },
    {
      refuse: (error) =>
        error.status === TIMED_OUT
          ? new PluginError(`Transaction ${waited.transactionId} timed out after ${waited.timeout}ms`, {
              status: TIMED_OUT,
            })
          : toError(error),
    },
  );
}

function milliseconds(name: string, given: unknown, otherwise: number): number {
  if (given === undefined || given === null) return otherwise;
  if (typeof given !== 'number' || !(given >= 0)) {
    throw new NativeTypeError(`${name} is not a number of milliseconds`);
  }
  return min(given, MAX_MS);
}
