// Made by `npm run client` from the capabilities of the plugin host; a test holds it to that.
import type { Json, JsonRpcRequest, JsonRpcResponse, RelayerInfo, RelayerStatus, SentTransaction, TransactionResponse } from './network-models.ts';

/** What the guest sends for each capability, and what it gets back. */
export interface CapabilityContract {
  'relayer.sendTransaction': { params: { relayerId: string; request: object }; result: TransactionResponse };
  'relayer.getTransaction': { params: { relayerId: string; transactionId: string }; result: TransactionResponse };
  'relayer.waitTransaction': { params: { relayerId: string; transactionId: string; interval?: number; timeout?: number; until?: "mined" | "confirmed" }; result: TransactionResponse };
  'relayer.getRelayer': { params: { relayerId: string }; result: RelayerInfo };
  'relayer.getRelayerStatus': { params: { relayerId: string }; result: RelayerStatus };
  'relayer.signTransaction': { params: { relayerId: string; request: unknown }; result: any };
  'relayer.rpc': { params: { relayerId: string; request: JsonRpcRequest }; result: JsonRpcResponse };
  'kv.get': { params: { key: string }; result: string | null };
  'kv.set': { params: { key: string; value: string; ttlSec?: number }; result: boolean };
  'kv.del': { params: { key: string }; result: boolean };
  'kv.exists': { params: { key: string }; result: boolean };
  'kv.listKeys': { params: { prefix: string; after?: string }; result: (string)[] };
  'kv.clear': { params: {}; result: number };
  'kv.lock': { params: { key: string; ttlSec: number }; result: number | null };
  'kv.unlock': { params: { key: string; fence: number }; result: boolean };
  'fetch': { params: { key: number; url: string; method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS"; headers: ([string, string])[]; body?: { text: string } | { base64: string }; redirect: "follow" | "error" | "manual" }; result: { url: string; redirected: boolean; status: number; statusText: string; headers: ([string, string])[]; body: { text: string } | { base64: string }; more: boolean } };
  'fetch.read': { params: { key: number }; result: { body: { text: string } | { base64: string }; more: boolean } };
  'fetch.abort': { params: { key: number }; result: boolean };
  'timer': { params: { ms: number }; result: null };
  'call.sleep': { params: { ms: number }; result: null };
  'call.waitFor': { params: { name: string; timeout?: number }; result: any };
}

/** One relayer. Its methods also work when they are taken off the object (`const { rpc } = relayer`). */
export interface Relayer {
  /** Sends a transaction. `request` has the fields of `POST /relayers/{id}/transactions`. Resolves when the service has accepted the transaction, before it is on the chain. Rejects if the request is invalid or refused. */
  sendTransaction(request: object): Promise<SentTransaction>;
  /** Returns the transaction in its current state. Rejects if the relayer has no such transaction. */
  getTransaction(query: { transactionId: string }): Promise<TransactionResponse>;
  /** Returns the relayer's settings. */
  getRelayer(): Promise<RelayerInfo>;
  /** Returns the relayer's balance and pending transactions. */
  getRelayerStatus(): Promise<RelayerStatus>;
  /** Signs a transaction without sending it. Resolves with `{ signedXdr, signature }` on Stellar, and with `{ transaction, signature }` on Solana. */
  signTransaction(request: unknown): Promise<any>;
  /** Sends a JSON-RPC request to a node. Also resolves when the node's answer is an error; check `error`. */
  rpc(request: JsonRpcRequest): Promise<JsonRpcResponse>;
}

/** The plugin's own key-value store. A key has 1 to 512 characters of `A-Z a-z 0-9 : _ -`; other keys are rejected. */
export interface PluginKVStore {
  /** Returns the stored value, or null if there is none. */
  get<T = Json>(key: string): Promise<T | null>;
  /** Stores a value as JSON. The value expires after `ttlSec` seconds, which may be a fraction. It does not expire if `ttlSec` is missing or not positive. */
  set(key: string, value: unknown, options?: { ttlSec?: number }): Promise<boolean>;
  /** Deletes a value. Resolves with true if there was one. */
  del(key: string): Promise<boolean>;
  /** Resolves with true if the key has a value. */
  exists(key: string): Promise<boolean>;
  /** Returns the keys that match a pattern, or all keys without a pattern. `*` matches any characters, `?` one character, `[a-z]` one character of a set and `[^a-z]` one outside it. `\` makes the next character literal. `batch` has no effect; it exists for older plugins. */
  listKeys(pattern?: string, batch?: number): Promise<string[]>;
  /** Deletes all of the plugin's values. Resolves with their number. Does not release locks. */
  clear(): Promise<number>;
  /** Runs `fn` while no other call of this plugin holds the lock `key`. Resolves with the result of `fn`. It does not wait for a lock that another call holds: it rejects with `lock busy`, or resolves with null if `onBusy` is `'skip'`. After `ttlSec` seconds (default 30) another call may take the lock. From then until `fn` ends, this call's `set`, `del` and `clear` are refused. */
  withLock<T>(key: string, fn: () => Promise<T>, options?: { ttlSec?: number; onBusy?: 'throw' | 'skip' }): Promise<T | null>;
}
