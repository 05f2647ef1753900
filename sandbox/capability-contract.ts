/** The capabilities: requests that a plugin may send to the service. The other half of the protocol. Types only. */
import type { Json } from './contract.ts';

/** Every capability: its method, what the guest sends and what it gets back. All of it is plain JSON. */
export interface CapabilityContract {
  'relayer.sendTransaction': { params: { relayerId: string; request: Json }; result: Json };
  'relayer.getTransaction': { params: { relayerId: string; transactionId: string }; result: Json };
  /**
   * Resolves with the transaction once it is mined, confirmed, canceled, expired or failed.
   * @remarks `interval` and `timeout` in milliseconds; defaults 5000 and 60000.
   */
  'relayer.waitTransaction': {
    params: { relayerId: string; transactionId: string; interval?: number; timeout?: number };
    result: Json;
  };
  'relayer.getRelayer': { params: { relayerId: string }; result: Json };
  'relayer.getRelayerStatus': { params: { relayerId: string }; result: Json };
  'relayer.signTransaction': { params: { relayerId: string; request: Json }; result: Json };
  'relayer.rpc': { params: { relayerId: string; request: Json }; result: Json };
  /** Resolves with the value's JSON text, or with null when there is none. */
  'kv.get': { params: { key: string }; result: string | null };
  /**
   * `value` is JSON text, see {@link RequestMessage}. `ttlSec` in seconds, fractions allowed; absent or not positive
   * means no expiry.
   */
  'kv.set': { params: { key: string; value: string; ttlSec?: number }; result: boolean };
  'kv.del': { params: { key: string }; result: boolean };
  'kv.exists': { params: { key: string }; result: boolean };
  /** A page (`kv_page`) of the keys that begin with `prefix` and come after `after`, in order. */
  'kv.listKeys': { params: { prefix: string; after?: string }; result: string[] };
  /** Resolves with the number of values that were deleted. */
  'kv.clear': { params: Record<never, never>; result: number };
  /**
   * Resolves with the lock's fence, or with null when another call holds the lock. Until `kv.unlock`, the call's writes
   * fail if it has lost the lock.
   */
  'kv.lock': { params: { key: string; ttlSec: number }; result: number | null };
  /** Resolves with false when the call no longer held the lock. */
  'kv.unlock': { params: { key: string; fence: number }; result: boolean };
  /** Fetches from a host that the plugin was granted. A refusal or a failed exchange is an error. */
  fetch: { params: FetchParams; result: FetchReply };
  /** The next piece of a body whose last reply said `more`. */
  'fetch.read': { params: { key: number }; result: Pick<FetchReply, 'body' | 'more'> };
  /** Gives a fetch up; false when there is nothing to give up. */
  'fetch.abort': { params: { key: number }; result: boolean };
}

/** One `fetch` of a plugin. */
export interface FetchParams {
  /** Names the fetch within its plugin call. */
  key: number;
  url: string;
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  headers: [name: string, value: string][];
  body?: FetchBody;
  redirect: 'follow' | 'error' | 'manual';
}

/** Bytes in transit: as text when they are UTF-8, else as base64. */
export type FetchBody = { text: string } | { base64: string };

export interface FetchReply {
  /** The URL that answered, without a fragment. */
  url: string;
  redirected: boolean;
  status: number;
  statusText: string;
  /** Lower-case names, one pair for each header line. */
  headers: [name: string, value: string][];
  body: FetchBody;
  /** Whether `fetch.read` has more of the body. */
  more: boolean;
}

export type CapabilityMethod = keyof CapabilityContract;
