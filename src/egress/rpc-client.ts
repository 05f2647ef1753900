import type { Json } from '../domain/json.ts';

/**
 * JSON-RPC over several endpoints: choice by weight, time and size limits, retries and failover for what a retry
 * cannot spoil, health per endpoint. Created by `createRpcClient` in `json-rpc.ts`.
 */
export interface RpcClient {
  /**
   * Calls a method that has no effect; tries other endpoints on transport trouble.
   * @throws RpcError
   */
  read(method: string, params: Json): Promise<Json>;
  /**
   * Offers something that may have an effect to one endpoint, exactly once; the caller decides what an error means.
   * @throws RpcError
   */
  offer(method: string, params: Json): Promise<Json>;
  /** Calls a method on each endpoint once, for checks that all of them must pass. */
  each(method: string, params: Json): Promise<PromiseSettledResult<Json>[]>;
  close(): Promise<void>;
}

/** What went wrong with a JSON-RPC call. The message never holds an endpoint's path, query or credentials. */
export class RpcError extends Error {
  /**
   * `node`: the node answered with a JSON-RPC error (`code`, `data`). `timeout`, `transport`, `http` (`status`),
   * `malformed`: there was no usable answer, and the call may or may not have had its effect. `blocked`: the
   * address guard refused the connection, nothing left.
   */
  readonly kind: 'node' | 'timeout' | 'transport' | 'http' | 'malformed' | 'blocked';
  readonly code: number | undefined;
  readonly data: Json | undefined;
  readonly status: number | undefined;

  constructor(
    kind: RpcError['kind'],
    message: string,
    detail: { code?: number; data?: Json; status?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: detail.cause });
    this.name = 'RpcError';
    this.kind = kind;
    this.code = detail.code;
    this.data = detail.data;
    this.status = detail.status;
  }
}

/** A passed-through call's answer, in the body form of the relayer `rpc` endpoint. */
export interface RpcOutcome {
  jsonrpc: '2.0';
  result?: Json;
  error?: { code: number; message: string; description: string };
  id?: string | number;
}
