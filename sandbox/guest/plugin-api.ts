/**
 * What a plugin is given. Existing plugins use the same method and field names. Where fields depend on the network, a
 * type is an open record.
 */

import type { PluginKVStore, Relayer } from './sdk/capabilities.ts';
import type { TransactionResponse, WaitOptions } from './sdk/network-models.ts';

/** Request headers, by lower-case name. Each header line is one array entry. `authorization` is never included. */
export type PluginHeaders = Record<string, string[]>;

/** Access to the relayers of the service. */
export interface PluginAPI {
  /**
   * Returns an object for the relayer with this id. It sends no request: for an unknown id, the first method called
   * rejects.
   */
  useRelayer(relayerId: string): Relayer;
  /** Waits for a transaction, like `wait` of a transaction that `sendTransaction` returned. */
  transactionWait(
    transaction: { id: string; relayer_id?: string | null },
    options?: WaitOptions,
  ): Promise<TransactionResponse>;
  /** Resolves after so many milliseconds. A durable call that sleeps for long holds no memory meanwhile. */
  sleep(ms: number): Promise<void>;
  /**
   * Resolves with the next value that a durable call is sent under this name (`POST /plugins/{id}/calls/{call}/events/{name}`).
   * Rejects with a PluginError of status 504 after `timeout` milliseconds; without it the wait ends with the call.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- the sender decides what it sends
  waitFor(name: string, options?: { timeout?: number }): Promise<any>;
}

/** The argument of `handler(context)`. */
export interface PluginContext {
  /** Access to the service's relayers. */
  api: PluginAPI;
  /** The caller's parameters: the key `params` of the request body, or else the whole body. `{}` without a body. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the caller decides what it sends
  params: any;
  /** The plugin's key-value store. Its values last from call to call. */
  kv: PluginKVStore;
  /** The request's headers, by lower-case name. `authorization` is not included. */
  headers: PluginHeaders;
  /**
   * The part of the path after `/call`, with its leading slash, or else the query parameter `route`. `""` if neither is
   * given.
   */
  route: string;
  /** `config` of the plugin's entry in the service's configuration; undefined if it has none. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the operator decides what it holds
  config?: Record<string, any> | undefined;
  /** `POST`, or `GET` if the plugin's entry has `allow_get_invocation`. */
  method: string;
  /** The query parameters. Each name has the list of its values. */
  query: Record<string, string[]>;
  /** The id of the caller's API key. The key itself is never included. */
  caller: { keyId: string };
  /**
   * The trigger that made the call: its name, the moment of its schedule or the time of its event, and the event.
   * Undefined for a call of a client.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- the event has the form of its kind of trigger
  trigger?: { name: string; at: string; event?: any } | undefined;
}

/** The options of `pluginError`, and the properties of a PluginError. */
export interface PluginErrorShape {
  /** A code for the caller, who reads it in `data.code`. Default: `PLUGIN_ERROR`. */
  code?: string | undefined;
  /** The HTTP status of the answer, 200 to 599. Default: 500. */
  status?: number | undefined;
  /** Any JSON value for the caller, who reads it in `data.details`. */
  details?: unknown;
}
