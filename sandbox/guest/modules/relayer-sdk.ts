/**
 * The exports of `'@openzeppelin/relayer-sdk'` and of `'isolayer'` for plugins: the error helper, the enums as objects,
 * the names of the REST clients, and the types for authors. Only the documented names and values were used to write it.
 */

import type { PluginErrorShape } from '../plugin-api.ts';
import { PluginError as OwnPluginError, PLUGIN_ERROR_CLASS } from '../plugin-error.ts';
import { frozen } from '../sdk/frozen.ts';
import type { JsonRpcRequest, JsonRpcResponse } from '../sdk/network-models.ts';

export type * from '../plugin-api.ts';
export type { PluginKVStore, Relayer } from '../sdk/capabilities.ts';
export * from '../sdk/names.ts';
export type * from '../sdk/network-models.ts';
export { Configuration, type ConfigurationParameters } from '../sdk/rest-clients.ts';

export type JsonRpcRequestNetworkRpcRequest = JsonRpcRequest;
export type JsonRpcResponseNetworkRpcResult = JsonRpcResponse;
export type JsonRpcResponseNetworkRpcResultResult = JsonRpcResponse['result'];
export type JsonRpcId = string | number;
export type JsonRpcError = NonNullable<JsonRpcResponse['error']>;
export type EvmRpcResult = JsonRpcResponse['result'];
export type SolanaRpcResult = JsonRpcResponse['result'];
export type StellarRpcResult = JsonRpcResponse['result'];
export type NetworkRpcResult = JsonRpcResponse['result'];

const registered = (globalThis as { [PLUGIN_ERROR_CLASS]?: typeof OwnPluginError })[PLUGIN_ERROR_CLASS];

/**
 * The class of errors made by `pluginError`. In the sandbox it is the runtime's own class, so the runtime's errors are
 * instances of it, too. Elsewhere it is this module's class.
 */
export const PluginError = registered ?? OwnPluginError;
export type PluginError = OwnPluginError;

/** Makes an error to throw from a plugin. Its message, code, HTTP status and details go to the caller. */
export function pluginError(message: string, options: Partial<PluginErrorShape> = {}): PluginError {
  return new PluginError(message, options);
}
frozen(pluginError);
