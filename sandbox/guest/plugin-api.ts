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
  id: string;
  status: TransactionState;
  hash?: string | null;
  status_reason?: string | null;
  created_at: string;
  sent_at?: string | null;
  confirmed_at?: string | null;
  relayer_id?: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- the other fields depend on the network
  [field: string]: any;
}

/** `interval` (default 5000) and `timeout` (default 60000) in milliseconds. */
export interface WaitOptions {
  interval?: number;
  timeout?: number;
}

/** What `sendTransaction` resolves with. */
export interface SentTransaction extends TransactionResponse {
  /**
   * Resolves when the transaction is in a block or has ended, whatever its end: look at `status`. `mined` is in a block
   * with its effect, `failed` also in a block that shows a revert; both can still change by a reorganisation until the
   * transaction is final. Rejects with a PluginError when it takes too long.
   */
  wait(options?: WaitOptions): Promise<TransactionResponse>;
}

/** A relayer as the service knows it. */
export interface RelayerInfo {
  id: string;
  name: string;
  network: string;
  network_type: 'evm' | 'solana' | 'stellar';
  paused: boolean;
  signer_id: string;
  address: string;
  system_disabled: boolean;
  // oxlint-disable-next-line typescript/no-explicit-any -- the policies depend on the network
  [field: string]: any;
}

/** Balance and pending work of a relayer; `nonce` on EVM, `sequence_number` on Stellar. Null is what nobody tells now. */
export interface RelayerStatus {
  network_type: 'evm' | 'solana' | 'stellar';
  balance: string | null;
  pending_transactions_count: number;
  last_confirmed_transaction_timestamp?: string | null;
  system_disabled: boolean;
  paused: boolean;
  // oxlint-disable-next-line typescript/no-explicit-any -- the other fields depend on the network
  [field: string]: any;
}

export interface JsonRpcRequest {
  method: string;
  params?: unknown;
  id?: string | number | null;
  jsonrpc?: string;
}

export interface JsonRpcResponse {
  jsonrpc: string;
  id?: string | number | null;
  // oxlint-disable-next-line typescript/no-explicit-any -- depends on the method that was called
  result?: any;
  // oxlint-disable-next-line typescript/no-explicit-any -- depends on the method that was called
  error?: { code: number; message: string; description?: string; data?: any };
}

/** One relayer; every method may be taken off the object. */
export interface Relayer {
  sendTransaction(request: object): Promise<SentTransaction>;
  getTransaction(query: { transactionId: string }): Promise<TransactionResponse>;
  getRelayer(): Promise<RelayerInfo>;
  getRelayerStatus(): Promise<RelayerStatus>;
  /** Stellar: `{ signedXdr, signature }`; Solana: `{ transaction, signature }`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- depends on the network
  signTransaction(request: unknown): Promise<any>;
  /** Resolves with the JSON-RPC answer, also when it carries an error. */
  rpc(request: JsonRpcRequest): Promise<JsonRpcResponse>;
}

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
  api: PluginAPI;
  // oxlint-disable-next-line typescript/no-explicit-any -- the caller decides what it sends
  params: any;
  kv: PluginKVStore;
  headers: PluginHeaders;
  /** What follows `/call` in the path, with its leading slash; `""` when nothing does. */
  route: string;
  /** `config` of the plugin's entry; undefined when it has none. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the operator decides what it holds
  config?: Record<string, any> | undefined;
  method: string;
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
