import type { Json } from '../contract.ts';
import { type CapabilityCaller, capabilityErrorOf, type Failed, given } from './capability-calls.ts';
import { relayerObject } from './capability-stubs.ts';
import { min, NativeTypeError, SafeWeakMap } from './intrinsics/primordials.ts';
import type { PluginAPI } from './plugin-api.ts';
import { PluginError } from './plugin-error.ts';
import type { Relayer } from './sdk/capabilities.ts';
import type { SentTransaction, TransactionResponse, WaitOptions } from './sdk/network-models.ts';

/** `context.api`: closures over the running call, so that every function works when taken off its object. */
export function createApi(calls: CapabilityCaller): PluginAPI {
  // Remembers which relayer answered with which object, because Solana's responses carry no relayer_id.
  const origins = new SafeWeakMap<object, string>();
  const remember = <T extends object>(response: T, relayerId: string): T => {
    origins.set(response, relayerId);
    return response;
  };

  return {
    useRelayer: (relayerId) => createRelayer(calls, relayerId, remember),
    transactionWait: (transaction, options) =>
      waitForTransaction(
        calls,
        () => ({
          relayerId: text('transaction.relayer_id', transaction?.relayer_id ?? origins.get(transaction)),
          transactionId: text('transaction.id', transaction?.id),
        }),
        options,
      ),
    sleep: (ms) =>
      calls.call('call.sleep', () => ({ ms: milliseconds('ms', ms) ?? 0 }), {
        accept: () => undefined,
        refuse: refused,
      }),
    waitFor: (name, options) =>
      calls.call(
        'call.waitFor',
        () => ({ name: text('name', name), timeout: milliseconds('timeout', options?.timeout) }),
        { refuse: refused },
      ),
  };
}

function createRelayer(
  calls: CapabilityCaller,
  id: string,
  remember: <T extends object>(response: T, relayerId: string) => T,
): Relayer {
  const target = () => ({ relayerId: text('relayerId', id) });

  const sent = (value: Json): SentTransaction => {
    const response = value as unknown as TransactionResponse;
    const wait: SentTransaction['wait'] = (options) =>
      waitForTransaction(calls, () => ({ ...target(), transactionId: response.id }), options);
    return remember({ ...response, wait }, id);
  };

  const own: Parameters<typeof relayerObject>[1] = {
    sendTransaction: (request) =>
      calls.call('relayer.sendTransaction', () => ({ ...target(), request: given('request', request) }), {
        accept: sent,
      }),
    getTransaction: (query) =>
      calls.call(
        'relayer.getTransaction',
        () => ({ ...target(), transactionId: text('transactionId', query?.transactionId) }),
        { accept: (value) => remember(value as unknown as TransactionResponse, id) },
      ),
  };
  return relayerObject(calls, own, target, given);
}

function text(name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new NativeTypeError(`${name} is not a non-empty string`);
  return value;
}

/** Longer than any call lasts. */
const MAX_MS = 2 ** 43;

/** The status with which the host refuses a wait that took too long. */
const TIMED_OUT = 504;

/**
 * Waits on the host's side until a transaction is in a block or has ended. `failed`, `canceled` and `expired` resolve
 * as well. Rejects with a PluginError of status 504 when the wait takes longer than `timeout`. `target` throws when the
 * plugin did not say which transaction it means.
 */
export function waitForTransaction(
  calls: CapabilityCaller,
  target: () => { relayerId: string; transactionId: string },
  options: WaitOptions | null | undefined,
): Promise<TransactionResponse> {
  return calls.call(
    'relayer.waitTransaction',
    () => ({
      ...target(),
      interval: milliseconds('interval', options?.interval),
      timeout: milliseconds('timeout', options?.timeout),
      until: options?.until ?? undefined,
    }),
    { refuse: refused },
  );
}

function refused(error: Failed): Error {
  return error.status === TIMED_OUT ? new PluginError(error.message, { status: TIMED_OUT }) : capabilityErrorOf(error);
}

function milliseconds(name: string, given: unknown): number | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given !== 'number' || !(given >= 0)) {
    throw new NativeTypeError(`${name} is not a number of milliseconds`);
  }
  return min(given, MAX_MS);
}
