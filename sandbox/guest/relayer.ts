import type { Json } from '../protocol.ts';
import type { BoundCalls } from './capability-calls.ts';
import { NativeTypeError, SafeWeakMap } from './intrinsics/primordials.ts';
import type {
  JsonRpcResponse,
  PluginAPI,
  Relayer,
  RelayerInfo,
  RelayerStatus,
  SentTransaction,
  TransactionResponse,
} from './plugin-api.ts';
import { waitForTransaction } from './wait.ts';

/** `context.api`: closures over the running call, so that every function works when taken off its object. */
export function createApi(calls: BoundCalls): PluginAPI {
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
  };
}

function createRelayer(
  calls: BoundCalls,
  id: string,
  remember: <T extends object>(response: T, relayerId: string) => T,
): Relayer {
  const target = () => ({ relayerId: text('relayerId', id) });
  const withRequest = (request: unknown) => () => ({ ...target(), request: given('request', request) });

  const sent = (value: Json): SentTransaction => {
    const response = value as unknown as TransactionResponse;
    const wait: SentTransaction['wait'] = (options) =>
      waitForTransaction(calls, () => ({ ...target(), transactionId: response.id }), options);
    return remember({ ...response, wait }, id);
  };

  return {
    sendTransaction: (request) =>
      calls.call<SentTransaction, 'relayer.sendTransaction'>('relayer.sendTransaction', withRequest(request), {
        accept: sent,
      }),
    getTransaction: (query) =>
      calls.call<TransactionResponse, 'relayer.getTransaction'>(
        'relayer.getTransaction',
        () => ({ ...target(), transactionId: text('transactionId', query?.transactionId) }),
        { accept: (value) => remember(value as unknown as TransactionResponse, id) },
      ),
    getRelayer: () => calls.call<RelayerInfo, 'relayer.getRelayer'>('relayer.getRelayer', target),
    getRelayerStatus: () => calls.call<RelayerStatus, 'relayer.getRelayerStatus'>('relayer.getRelayerStatus', target),
    signTransaction: (request) => calls.call('relayer.signTransaction', withRequest(request)),
    rpc: (request) => calls.call<JsonRpcResponse, 'relayer.rpc'>('relayer.rpc', withRequest(request)),
  };
}

function text(name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new NativeTypeError(`${name} is not a non-empty string`);
  return value;
}

function given(name: string, value: unknown): unknown {
  if (value === undefined) throw new NativeTypeError(`${name} is missing`);
  return value;
}
