/**
 * What the author of a plugin sees. The method and field names are those that existing plugins were written against;
 * shapes that depend on the network are open records.
 */

/** Any value that survives JSON. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** Request headers: lower-case names, one array entry per header line. `authorization` is never among them. */
export type PluginHeaders = Record<string, string[]>;

/** States of a transaction; `mined`, `confirmed`, `canceled`, `expired` and `failed` end a wait. */
export type TransactionState =
  | 'canceled'
  | 'pending'
  | 'sent'
  | 'submitted'
  | 'mined'
  | 'confirmed'
  | 'failed'
  | 'expired';

/** A transaction as its network describes it; absent values are null on EVM. */
export interface TransactionResponse {
  /** By it `getTransaction` finds the transaction again. */
  id: string;
  /** Where it stands. */
  status: TransactionState;
  /** On the chain; null before there is one. On Solana `signature` is. */
  hash?: string | null;
  /** Why it waits or has failed. */
  status_reason?: string | null;
  /** When it was accepted, in ISO 8601 as the other times. */
  created_at: string;
  /** When it was sent. */
  sent_at?: string | null;
  /** When it was confirmed. */
  confirmed_at?: string | null;
  /** The relayer that sends it; not on Solana. */
  relayer_id?: string;
  /** What else its network tells: `nonce`, `gas_limit`, `value` and so on. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the other fields depend on the network
  [field: string]: any;
}

/** How a `wait` is done. */
export interface WaitOptions {
  /** Milliseconds from look to look; 5000 unless given. */
  interval?: number;
  /** Milliseconds until it rejects with a PluginError of status 504; 60000 unless given. */
  timeout?: number;
}

/** What `sendTransaction` resolves with. */
export interface SentTransaction extends TransactionResponse {
  /**
   * Resolves when the transaction is in a block or has ended, whatever its end: look at `status`. `mined` is in a block
   * with its effect, `failed` also in a block that shows a revert; both can still change by a reorganisation until the
   * transaction is final.
   */
  wait(options?: WaitOptions): Promise<TransactionResponse>;
}

/** A relayer as the service knows it. */
export interface RelayerInfo {
  /** What `useRelayer` takes. */
  id: string;
  /** For people. */
  name: string;
  /** The name of its network: `sepolia`. */
  network: string;
  /** The family of its network. */
  network_type: 'evm' | 'solana' | 'stellar';
  /** Whether somebody has paused it. */
  paused: boolean;
  /** Which signer signs for it. */
  signer_id: string;
  /** Its account. */
  address: string;
  /** Whether the service itself has taken it out of use. */
  system_disabled: boolean;
  /** What else is set for it, its `policies` for instance. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the policies depend on the network
  [field: string]: any;
}

/** Balance and pending work of a relayer; `nonce` on EVM, `sequence_number` on Stellar. Null is what nobody tells now. */
export interface RelayerStatus {
  /** The family of its network. */
  network_type: 'evm' | 'solana' | 'stellar';
  /** In the smallest unit. */
  balance: string | null;
  /** Transactions that are under way. */
  pending_transactions_count: number;
  /** When the last one was confirmed. */
  last_confirmed_transaction_timestamp?: string | null;
  /** Whether the service itself has taken it out of use. */
  system_disabled: boolean;
  /** Whether somebody has paused it. */
  paused: boolean;
  /** What else its network tells: `nonce` or `sequence_number`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the other fields depend on the network
  [field: string]: any;
}

/** What is asked of a node. */
export interface JsonRpcRequest {
  /** `eth_call` for instance; which ones a grant or limits allow. */
  method: string;
  /** A list or an object, as the method has it. */
  params?: unknown;
  /** Comes back with the answer. */
  id?: string | number | null;
  /** `2.0`, or left out. */
  jsonrpc?: string;
}

/** What the node answered. */
export interface JsonRpcResponse {
  /** `2.0`. */
  jsonrpc: string;
  /** That of the request. */
  id?: string | number | null;
  /** Of a call that went well. */
  // oxlint-disable-next-line typescript/no-explicit-any -- depends on the method that was called
  result?: any;
  /** Of one that did not. */
  // oxlint-disable-next-line typescript/no-explicit-any -- depends on the method that was called
  error?: { code: number; message: string; description?: string; data?: any };
}

/** One relayer; every method may be taken off the object. */
export interface Relayer {
  /** Has a transaction sent, with the fields of `POST /relayers/{id}/transactions`; resolves once it is accepted. */
  sendTransaction(request: object): Promise<SentTransaction>;
  /** The transaction as it stands now. */
  getTransaction(query: { transactionId: string }): Promise<TransactionResponse>;
  /** How the relayer is set up. */
  getRelayer(): Promise<RelayerInfo>;
  /** How it stands. */
  getRelayerStatus(): Promise<RelayerStatus>;
  /** Signs and sends nothing. Stellar: `{ signedXdr, signature }`; Solana: `{ transaction, signature }`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- depends on the network
  signTransaction(request: unknown): Promise<any>;
  /** Resolves with the JSON-RPC answer, also when it carries an error. */
  rpc(request: JsonRpcRequest): Promise<JsonRpcResponse>;
}

/** The way to the relayers of the service. */
export interface PluginAPI {
  /** A handle on the relayer; asks nobody, so an unknown id is found out by its first use. */
  useRelayer(relayerId: string): Relayer;
  /** As `wait` of what `sendTransaction` resolves with. */
  transactionWait(
    transaction: { id: string; relayer_id?: string | null },
    options?: WaitOptions,
  ): Promise<TransactionResponse>;
}

/** The plugin's own key-value store. Keys are 1 to 512 characters of `A-Z a-z 0-9 : _ -`. */
export interface PluginKVStore {
  /** The stored value, or null. */
  get<T = Json>(key: string): Promise<T | null>;
  /** `ttlSec` in seconds, fractions allowed; without it, or when it is not positive, the value stays. */
  set(key: string, value: unknown, options?: { ttlSec?: number }): Promise<boolean>;
  /** True when there was something to delete. */
  del(key: string): Promise<boolean>;
  /** Whether there is a value. */
  exists(key: string): Promise<boolean>;
  /**
   * The keys that match a pattern: `*` for any characters, `?` for one, `[a-z]` or `[^a-z]` for one of a set, `\` before
   * one that is meant as it is. Without a pattern all; `batch` is there for older plugins and changes nothing.
   */
  listKeys(pattern?: string, batch?: number): Promise<string[]>;
  /** Deletes all values; resolves with their number. Locks stay. */
  clear(): Promise<number>;
  /**
   * Runs `fn` while no other call of this plugin holds the lock `key`, and resolves with its result. A lock that is held
   * is not waited for: `onBusy: 'throw'` rejects with `lock busy`, `'skip'` resolves with null. After `ttlSec` seconds
   * (30) another call may take the lock; `set`, `del` and `clear` of this one are refused from then on until `fn` ends.
   */
  withLock<T>(
    key: string,
    fn: () => Promise<T>,
    options?: { ttlSec?: number; onBusy?: 'throw' | 'skip' },
  ): Promise<T | null>;
}

/** The one argument of `handler(context)`. */
export interface PluginContext {
  /** The relayers. */
  api: PluginAPI;
  /** What the caller sent: the key `params` of the body, else the whole body; `{}` without one. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the caller decides what it sends
  params: any;
  /** The values that the plugin keeps. */
  kv: PluginKVStore;
  /** Lower-case names to lists of values, without `authorization`. */
  headers: PluginHeaders;
  /** What follows `/call` in the path, with its leading slash, or the query parameter `route`; `""` without either. */
  route: string;
  /** `config` of the plugin's entry; undefined when it has none. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the operator decides what it holds
  config?: Record<string, any> | undefined;
  /** `POST`, or `GET` where the entry has `allow_get_invocation`. */
  method: string;
  /** Names to lists of values. */
  query: Record<string, string[]>;
  /** Who called: the id of the API key, never the key. */
  caller: { keyId: string };
}

/** What the options of `pluginError` and the properties of a PluginError are. */
export interface PluginErrorShape {
  /** Read by the caller in `data.code`; without it `PLUGIN_ERROR`. */
  code?: string | undefined;
  /** HTTP status of the answer, 200 to 599; without it 500. */
  status?: number | undefined;
  /** Anything that survives JSON; read by the caller in `data.details`. */
  details?: unknown;
}
