/**
 * The types that plugin authors see. Existing plugins use the same method and field names. Where fields depend on the
 * network, a type is an open record.
 */

/** Any value that JSON can represent. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** Request headers, by lower-case name. Each header line is one array entry. `authorization` is never included. */
export type PluginHeaders = Record<string, string[]>;

/** The state of a transaction. A `wait` ends at `mined`, `confirmed`, `canceled`, `expired` or `failed`. */
export type TransactionState =
  | 'canceled'
  | 'pending'
  | 'sent'
  | 'submitted'
  | 'mined'
  | 'confirmed'
  | 'failed'
  | 'expired';

/** A transaction, with the fields of its network. On EVM, values that do not exist yet are null. */
export interface TransactionResponse {
  /** The transaction's id in this service. Pass it to `getTransaction`. */
  id: string;
  /** The transaction's state. */
  status: TransactionState;
  /** The transaction's hash on the chain; null until the transaction has one. On Solana, read `signature` instead. */
  hash?: string | null;
  /** Why the transaction waits, or why it failed. */
  status_reason?: string | null;
  /** When the service accepted the transaction. All times are ISO 8601 text. */
  created_at: string;
  /** When the service sent the transaction to the network. */
  sent_at?: string | null;
  /** When the transaction was confirmed. */
  confirmed_at?: string | null;
  /** The id of the relayer that sends the transaction. Absent on Solana. */
  relayer_id?: string;
  /** Further fields of the network: `nonce`, `gas_limit`, `value` and so on. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the other fields depend on the network
  [field: string]: any;
}

/** Options of `wait` and `transactionWait`. */
export interface WaitOptions {
  /** Milliseconds between two checks of the transaction. Default: 5000. */
  interval?: number;
  /** Milliseconds until `wait` rejects with a PluginError of status 504. Default: 60000. */
  timeout?: number;
}

/** The accepted transaction, as `sendTransaction` returns it. */
export interface SentTransaction extends TransactionResponse {
  /**
   * Resolves when the transaction is in a block or has ended. It resolves after a failure, too, so check `status`.
   * `mined`: the transaction is in a block and succeeded. `failed`: the transaction failed, which is reported as soon
   * as a block shows a revert. A chain reorganisation can still change both until the transaction is final. Rejects
   * with a PluginError of status 504 after `timeout`.
   */
  wait(options?: WaitOptions): Promise<TransactionResponse>;
}

/** The settings of a relayer. */
export interface RelayerInfo {
  /** The relayer's id. Pass it to `useRelayer`. */
  id: string;
  /** A name for people to read. */
  name: string;
  /** The name of the relayer's network, for instance `sepolia`. */
  network: string;
  /** The kind of the relayer's network. */
  network_type: 'evm' | 'solana' | 'stellar';
  /** Whether an operator has paused the relayer. */
  paused: boolean;
  /** The id of the signer that signs the relayer's transactions. */
  signer_id: string;
  /** The address of the relayer's account. */
  address: string;
  /** Whether the service has disabled the relayer, because its checks fail or its network was not reached yet. */
  system_disabled: boolean;
  /** Further settings, for instance `policies`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the policies depend on the network
  [field: string]: any;
}

/**
 * The balance and the pending transactions of a relayer. EVM adds `nonce`, Stellar adds `sequence_number`. A value that
 * is not known at the moment is null.
 */
export interface RelayerStatus {
  /** The kind of the relayer's network. */
  network_type: 'evm' | 'solana' | 'stellar';
  /** The account's balance in the network's smallest unit (wei, lamports, stroops), as decimal digits. */
  balance: string | null;
  /** The number of transactions that have not ended. */
  pending_transactions_count: number;
  /** When the relayer's last confirmed transaction was confirmed. */
  last_confirmed_transaction_timestamp?: string | null;
  /** Whether the service has disabled the relayer, because its checks fail or its network was not reached yet. */
  system_disabled: boolean;
  /** Whether an operator has paused the relayer. */
  paused: boolean;
  /** Further fields of the network: `nonce` or `sequence_number`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the other fields depend on the network
  [field: string]: any;
}

/** A JSON-RPC request to a node of the relayer's network. */
export interface JsonRpcRequest {
  /** The JSON-RPC method, for instance `eth_call`. The plugin's grants and limits decide which methods are allowed. */
  method: string;
  /** The method's parameters: a list or an object, depending on the method. */
  params?: unknown;
  /** The answer has the same id. */
  id?: string | number | null;
  /** `2.0`. May be left out. */
  jsonrpc?: string;
}

/** The node's JSON-RPC answer. It has either `result` or `error`. */
export interface JsonRpcResponse {
  /** Always `2.0`. */
  jsonrpc: string;
  /** The id of the request. */
  id?: string | number | null;
  /** The result of a successful call. */
  // oxlint-disable-next-line typescript/no-explicit-any -- depends on the method that was called
  result?: any;
  /** The error of a failed call. */
  // oxlint-disable-next-line typescript/no-explicit-any -- depends on the method that was called
  error?: { code: number; message: string; description?: string; data?: any };
}

/** One relayer. Its methods also work when they are taken off the object (`const { rpc } = relayer`). */
export interface Relayer {
  /**
   * Sends a transaction. `request` has the fields of `POST /relayers/{id}/transactions`. Resolves when the service has
   * accepted the transaction, before it is on the chain. Rejects if the request is invalid or refused.
   */
  sendTransaction(request: object): Promise<SentTransaction>;
  /** Returns the transaction in its current state. Rejects if the relayer has no such transaction. */
  getTransaction(query: { transactionId: string }): Promise<TransactionResponse>;
  /** Returns the relayer's settings. */
  getRelayer(): Promise<RelayerInfo>;
  /** Returns the relayer's balance and pending transactions. */
  getRelayerStatus(): Promise<RelayerStatus>;
  /**
   * Signs a transaction without sending it. Resolves with `{ signedXdr, signature }` on Stellar, and with
   * `{ transaction, signature }` on Solana.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- depends on the network
  signTransaction(request: unknown): Promise<any>;
  /** Sends a JSON-RPC request to a node. Also resolves when the node's answer is an error; check `error`. */
  rpc(request: JsonRpcRequest): Promise<JsonRpcResponse>;
}

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
}

/** The plugin's own key-value store. A key has 1 to 512 characters of `A-Z a-z 0-9 : _ -`; other keys are rejected. */
export interface PluginKVStore {
  /** Returns the stored value, or null if there is none. */
  get<T = Json>(key: string): Promise<T | null>;
  /**
   * Stores a value as JSON. The value expires after `ttlSec` seconds, which may be a fraction. It does not expire if
   * `ttlSec` is missing or not positive.
   */
  set(key: string, value: unknown, options?: { ttlSec?: number }): Promise<boolean>;
  /** Deletes a value. Resolves with true if there was one. */
  del(key: string): Promise<boolean>;
  /** Resolves with true if the key has a value. */
  exists(key: string): Promise<boolean>;
  /**
   * Returns the keys that match a pattern, or all keys without a pattern. `*` matches any characters, `?` one
   * character, `[a-z]` one character of a set and `[^a-z]` one outside it. `\` makes the next character literal.
   * `batch` has no effect; it exists for older plugins.
   */
  listKeys(pattern?: string, batch?: number): Promise<string[]>;
  /** Deletes all of the plugin's values. Resolves with their number. Does not release locks. */
  clear(): Promise<number>;
  /**
   * Runs `fn` while no other call of this plugin holds the lock `key`. Resolves with the result of `fn`. It does not
   * wait for a lock that another call holds: it rejects with `lock busy`, or resolves with null if `onBusy` is
   * `'skip'`. After `ttlSec` seconds (default 30) another call may take the lock. From then until `fn` ends, this
   * call's `set`, `del` and `clear` are refused.
   */
  withLock<T>(
    key: string,
    fn: () => Promise<T>,
    options?: { ttlSec?: number; onBusy?: 'throw' | 'skip' },
  ): Promise<T | null>;
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
