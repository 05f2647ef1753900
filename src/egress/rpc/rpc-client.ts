import type { Json, Wire } from '../../domain/json/json.ts';

/**
 * JSON-RPC over several endpoints: choice by weight, time and size limits, retries and failover for what a retry
 * cannot spoil, health per endpoint. Created by `createRpcClient` in `json-rpc.ts`.
 */
export interface RpcClient {
  /** How many endpoints there are whose weight is not 0. */
  readonly endpointCount: number;
  /**
   * Calls a method that has no effect; tries other endpoints on transport trouble. An answer that `parse` throws on
   * is a malformed one and costs the endpoint its turn. `params` null leaves them out. Calls that are made in one turn
   * of the loop may share a request.
   * @throws RpcError
   */
  read(method: string, params: Json): Promise<Json>;
  read<T>(method: string, params: Json, parse: ParseAnswer<T>, options?: ReadOptions): Promise<T>;
  /**
   * Runs several reads on one endpoint, so that they see one node's view; starts over on another endpoint on transport
   * trouble, and when `use` or a `parse` throws {@link EndpointUnfit}; therefore `use` must have no effect.
   * @throws RpcError
   */
  onOne<T>(use: (read: ReadOne) => Promise<T>, options?: ReadOptions): Promise<T>;
  /**
   * Runs the same reads once on each other endpoint than that of `read`, as far as nothing speaks against it. One
   * promise for each; which of them matter is for the caller to say.
   */
  onOthers<T>(read: ReadOne, use: (other: ReadOne) => Promise<T>): Promise<T>[];
  /**
   * Runs the same reads once on each endpoint whose weight is not 0, whatever speaks against it. One promise for each,
   * in their order, so that one that hangs takes no other's word away.
   */
  onAll<T>(use: (read: ReadOne) => Promise<T>): Promise<T>[];
  /** Says that the endpoint of `read` is as high as the others: only this ends that it counts as behind. */
  caughtUp(read: ReadOne): void;
  /**
   * Offers something that may have an effect to one endpoint, exactly once; the caller decides what an error means.
   * @throws RpcError
   */
  offer(method: string, params: Json, options?: OfferOptions): Promise<Json>;
  /**
   * Offers several things that may have an effect to one endpoint, in order, each at most once: the one that last took
   * an offer while it is well, else one by weight. One entry for each, in the same order; what has no clear answer is
   * rejected with an RpcError that says when it was not even sent. Never throws.
   */
  offerAll(method: string, params: readonly Json[], options?: OfferOptions): Promise<OfferAnswer[]>;
  /**
   * Offers the same things, which may have an effect, in order, each once to each endpoint whose weight is not 0,
   * whatever speaks against it; but nothing to one that fails the check. One row for each endpoint, in their order,
   * with one entry for each thing. Never throws for what an endpoint does.
   */
  offerEach(method: string, params: readonly Json[], check?: EndpointCheck): Promise<OfferAnswer[][]>;
  /** Lets the next offers go to the endpoint of that place in the rows of `offerEach`. */
  prefer(place: number): void;
  /**
   * Calls a method on each endpoint whose weight is not 0 once, in their order, for checks that all must pass. The
   * answer of one that fails the check counts as none.
   */
  each(method: string, params: Json, check?: EndpointCheck): Promise<PromiseSettledResult<Json>[]>;
  close(): Promise<void>;
}

/** What came of one offer, and the name of the endpoint that it went to: scheme, host and port. */
export type OfferAnswer = PromiseSettledResult<Json> & { readonly endpoint?: string };

/** How much a read matters. */
export interface ReadOptions {
  /** For what may well fail, such as tracing: no failure is held against an endpoint. */
  bestEffort?: boolean;
  /** A client's own call: what a node says of it is not held against the endpoint, unless that it is asked too much. */
  isForeign?: boolean;
  /** Its answer may be long: it goes in a request of its own. */
  isLong?: boolean;
}

/** How something is offered. */
export interface OfferOptions {
  /** What it took earlier speaks against the endpoint that last took an offer: another is preferred from now on. */
  elsewhere?: boolean;
  /** As in {@link ReadOptions}. */
  isForeign?: boolean;
}

/** Throws {@link EndpointUnfit} where an endpoint has no say; an endpoint's own error about it is no failure. */
export type EndpointCheck = (read: ReadOne) => Promise<unknown>;

/** Takes a node's answer to what it says; throws on what no honest node answers. */
export type ParseAnswer<T> = (answer: Json) => T;

/** One read on the endpoint that {@link RpcClient.onOne} chose. */
export type ReadOne = <T>(method: string, params: Json, parse: ParseAnswer<T>, options?: ReadOptions) => Promise<T>;

/**
 * Thrown by a chain adapter out of `parse` or out of `use`: the endpoint that answered cannot serve this call, though
 * it answered well. Another is asked at once. `pauseMs` above 0 sets it aside for as long, unless no other is left; 0
 * is no blame, but for a node that is a little behind, until {@link RpcClient.caughtUp} says otherwise. When nobody else serves, the caller gets an RpcError
 * `malformed` with the reason.
 */
export class EndpointUnfit extends Error {
  readonly pauseMs: number;

  constructor(reason: string, { pauseMs }: { pauseMs: number }) {
    super(reason);
    this.name = 'EndpointUnfit';
    this.pauseMs = pauseMs;
  }
}

/** What went wrong with a JSON-RPC call. The message never holds an endpoint's path, query or credentials. */
export class RpcError extends Error {
  /**
   * `node`: the node answered with a JSON-RPC error (`code`, `data`). `timeout`, `transport`, `http` (`status`),
   * `malformed`: there was no usable answer, and the call may or may not have had its effect. `blocked`: the
   * address guard refused the connection, nothing left. `limited`: the endpoint asked to be left alone, nothing left.
   */
  readonly kind: 'node' | 'timeout' | 'transport' | 'http' | 'malformed' | 'blocked' | 'limited';
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

/** Whether a node was there and said no: the method is not supported, the call reverts, and the like. */
export function isNodeError(error: unknown): error is RpcError {
  return error instanceof RpcError && error.kind === 'node';
}

/** A passed-through call's answer, in the body form of the relayer `rpc` endpoint. */
export interface RpcOutcome {
  jsonrpc: '2.0';
  result?: Wire;
  error?: { code: number; message: string; description: string; data?: Json };
  id?: string | number;
}
