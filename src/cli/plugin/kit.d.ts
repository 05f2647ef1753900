/** What tests of plugins import; `npx isolayer plugin test` runs them. */

declare module 'isolayer/testing' {
  import type { Json } from 'isolayer';
  import type { FakeRelayer } from 'isolayer/testing/relayer';

  export interface SandboxOptions {
    /** Where the plugins lie. */
    folder: string;
    /** Entries as in config.json; what lies in the folder needs none. Logs are collected either way. */
    entries?: { id: string; [key: string]: unknown }[];
    /** The environment, of which a plugin sees what its entry grants. */
    env?: Record<string, string>;
    relayers?: Record<string, FakeRelayer>;
    /** Who answers what the plugin fetches from granted hosts; without it nobody does. */
    fetch?: (request: Request) => Response | Promise<Response>;
  }

  export interface CallOptions {
    params?: Json;
    /** With its leading slash. */
    route?: string;
    method?: 'GET' | 'POST';
    headers?: Record<string, string[]>;
    query?: Record<string, string[]>;
  }

  export interface Sandbox {
    /** The status, and the parsed body: an envelope, or the result itself with `raw_response`. */
    // oxlint-disable-next-line typescript/no-explicit-any -- a test knows what its plugin answers
    call(id: string, options?: CallOptions): Promise<{ status: number; body: any }>;
    /** What was sent through relayers, in order. */
    readonly sent: readonly { relayerId: string; request: Json }[];
    /** What the plugins keep, by key. */
    readonly values: Map<string, Json>;
    /** What the service would have in its log, a JSON text a line. */
    log(): string;
    close(): Promise<void>;
  }

  /** Plugins in the sandbox of the service, with the same compiler, grants and limits. What a test opens it closes. */
  export function openSandbox(options: SandboxOptions): Promise<Sandbox>;
}

declare module 'isolayer/testing/relayer' {
  import type { Json } from 'isolayer';

  type JsonObject = { [key: string]: Json };
  type Maybe<T> = T | Promise<T>;

  /** A relayer as a test wants it. Whatever a function throws, the plugin's promise rejects with the text of. */
  export interface FakeRelayer {
    /** Of `getRelayer`: what differs from an EVM relayer that is not paused. */
    info?: JsonObject;
    /** Of `getRelayerStatus`. */
    status?: JsonObject;
    /** What `sendTransaction` resolves with, beside an `id` of its own. */
    send?(request: Json): Maybe<JsonObject>;
    /** What `getTransaction` and `wait` resolve with. */
    transaction?(id: string): Maybe<JsonObject>;
    sign?(request: Json): Maybe<JsonObject>;
    /** The result of a JSON-RPC call. */
    rpc?(method: string, params: Json): Maybe<Json>;
  }

  /** A relayer of a running service, over HTTP: anvil behind it, a test network, or what else it has. */
  export function relayerOfService(id: string, service: { url: string; key: string }): FakeRelayer;
}
