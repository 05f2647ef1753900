/** The modules for tests of plugins, which `npx isolayer plugin test` runs. */

declare module 'isolayer/testing' {
  import type { Json } from 'isolayer';
  import type { FakeRelayer } from 'isolayer/testing/relayer';

  export interface SandboxOptions {
    /** The folder of the plugins. */
    folder: string;
    /** Entries as in config.json. Plugins in the folder need none. Logs are always collected. */
    entries?: { id: string; [key: string]: unknown }[];
    /** The environment variables. A plugin sees those that its entry grants. */
    env?: Record<string, string>;
    relayers?: Record<string, FakeRelayer>;
    /** Answers the plugin's fetches from granted hosts. Without it, fetches are not answered. */
    fetch?: (request: Request) => Response | Promise<Response>;
  }

  export interface CallOptions {
    params?: Json;
    /** The route, with its leading slash. */
    route?: string;
    method?: 'GET' | 'POST';
    headers?: Record<string, string[]>;
    query?: Record<string, string[]>;
    /** The trigger that makes the call. The `event` of a webhook is `{ headers, body }`. */
    trigger?: { name: string; at?: string; event?: Json };
  }

  export interface Sandbox {
    /** The status, and the parsed body: an envelope, or the result itself with `raw_response`. */
    // oxlint-disable-next-line typescript/no-explicit-any -- a test knows what its plugin answers
    call(id: string, options?: CallOptions): Promise<{ status: number; body: any }>;
    /** The requests sent through relayers, in order. */
    readonly sent: readonly { relayerId: string; request: Json }[];
    /** The plugins' stored values, by key. */
    readonly values: Map<string, Json>;
    /** Returns the service's log, a JSON text a line. */
    log(): string;
    close(): Promise<void>;
  }

  /** Opens plugins in the service's sandbox, with the same compiler, grants and limits. A test has to close it. */
  export function openSandbox(options: SandboxOptions): Promise<Sandbox>;
}

declare module 'isolayer/testing/relayer' {
  import type { Json, Relayer } from 'isolayer';

  type JsonObject = { [key: string]: Json };
  type Maybe<T> = T | Promise<T>;
  /** What `FakeRelayer` has no shorter form of. */
  type Others = Omit<
    Relayer,
    'sendTransaction' | 'getTransaction' | 'getRelayer' | 'getRelayerStatus' | 'signTransaction' | 'rpc'
  >;

  /** A fake relayer. What a relayer can beside these is a function of its own name. If one of its functions throws, the plugin's promise rejects with the error's text. */
  export interface FakeRelayer extends Partial<Others> {
    /** The answer of `getRelayer`: the fields that differ from an EVM relayer that is not paused. */
    info?: JsonObject;
    /** The answer of `getRelayerStatus`. */
    status?: JsonObject;
    /** Returns the answer of `sendTransaction`. An `id` is added to it. */
    send?(request: Json): Maybe<JsonObject>;
    /** Returns the answer of `getTransaction` and `wait`. */
    transaction?(id: string): Maybe<JsonObject>;
    sign?(request: Json): Maybe<JsonObject>;
    /** Returns the result of a JSON-RPC call. */
    rpc?(method: string, params: Json): Maybe<Json>;
  }

  /** Connects to a relayer of a running service over HTTP. Its network may be anvil, a test network or any other. */
  export function relayerOfService(id: string, service: { url: string; key: string }): FakeRelayer;
}
