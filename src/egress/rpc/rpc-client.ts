import type { Json, WireValue } from '../../domain/json/json.ts';

/**
 * JSON-RPC over several endpoints. Chooses endpoints by weight, limits time and size, and keeps the health of each
 * endpoint. Retries and fails over only where a retry does no harm. Created by `createRpcClient` in `failover-rpc-client.ts`.
 */
export interface RpcClient {
  /** How many endpoints there are whose weight is not 0. */
  readonly endpointCount: number;
  /**
   * Calls a method that has no effect. Tries other endpoints on transport trouble. If `parse` throws on an answer, the
   * answer is malformed and the endpoint loses its turn. With `params` null the request has none. Calls that are made
   * in one turn of the event loop may share a request.
   * @throws RpcError
   */
  read(method: string, params: Json): Promise<Json>;
  read<T>(method: string, params: Json, parse: ParseAnswer<T>, options?: RpcReadOptions): Promise<T>;
  /**
   * Runs several reads on one endpoint, so that they see one node's view. Starts over on another endpoint on transport
   * trouble, and when `use` or a `parse` throws {@link EndpointUnfit}. Therefore `use` must have no effect.
   * @throws RpcError
   */
  onOne<T>(use: (read: ReadFromEndpoint) => Promise<T>, options?: RpcReadOptions): Promise<T>;
  /**
   * Runs the same reads once on each ready endpoint other than that of `read`. Returns one promise for each. The caller
   * decides which of them matter.
   */
  onOthers<T>(read: ReadFromEndpoint, use: (other: ReadFromEndpoint) => Promise<T>): Promise<T>[];
  /**
   * Runs the same reads once on each endpoint whose weight is not 0, ready or not. Returns one promise for each, in
   * their order. So an endpoint that hangs does not hold back the answers of the others.
   */
  onAll<T>(use: (read: ReadFromEndpoint) => Promise<T>): Promise<T>[];
  /** Reports that the endpoint of `read` is as high as the others. Nothing else ends that it counts as behind. */
  caughtUp(read: ReadFromEndpoint): void;
  /**
   * Sends one endpoint a call that may have an effect, exactly once. The caller decides what an error means.
   * @throws RpcError
   */
  offer(method: string, params: Json, options?: RpcOfferOptions): Promise<Json>;
  /**
   * Sends one endpoint several calls that may have an effect, in order, each at most once. Chooses the endpoint that
   * last took an offer while it is ready, else one by weight. Returns one entry for each call, in the same order. A
   * call without a clear answer is rejected with an RpcError, which says so if the call was not even sent. Never
   * throws.
   */
  offerAll(method: string, params: readonly Json[], options?: RpcOfferOptions): Promise<RpcOfferOutcome[]>;
  /**
   * Sends the same calls, which may have an effect, to each endpoint whose weight is not 0, ready or not. Each endpoint
   * gets each call once, in order. An endpoint that fails the check gets none. Returns one row for each endpoint, in
   * their order, with one entry for each call. Never throws for what an endpoint does.
   */
  offerEach(method: string, params: readonly Json[], check?: EndpointCheck): Promise<RpcOfferOutcome[][]>;
  /** Sends the next offers to the endpoint of that place in the rows of `offerEach`. */
  prefer(place: number): void;
  /**
   * Calls a method once on each endpoint whose weight is not 0, for checks that all must pass. Returns the answers in
   * the order of the endpoints. An odd or cut answer is asked for once more. The answer of an endpoint that fails the
   * check counts as none.
   */
  each(method: string, params: Json, check?: EndpointCheck): Promise<PromiseSettledResult<Json>[]>;
  close(): Promise<void>;
}

/** The outcome of one offer, and the name of the endpoint that it went to: scheme, host and port. */
export type RpcOfferOutcome = PromiseSettledResult<Json> & { readonly endpoint?: string };

/** How a read is made, and how its failure counts. */
export interface RpcReadOptions {
  /** For a call that may well fail, such as tracing. Its failure does not count against an endpoint. */
  bestEffort?: boolean;
  /**
   * For a figure that is only advice: what is lost without it, as a sentence. Such a call is best effort. While the
   * endpoint does not tell the figure, {@link import('../../domain/endpoint-news.ts').EndpointStatus} says so.
   */
  advice?: string;
  /**
   * A client's own call. A node's error does not count against the endpoint, unless it says that the endpoint is asked
   * too much.
   */
  isForeign?: boolean;
  /** The answer may be long, so the call gets a request of its own. */
  isLong?: boolean;
  /** The answer to the same call to the same endpoint will do, if one waits to be sent, or if one is under way. */
  shares?: 'unsent' | 'under way';
}

/** How something is offered. */
export interface RpcOfferOptions {
  /**
   * Prefers another endpoint than the one that last took an offer, from now on. What became of the earlier offers
   * speaks against that one.
   */
  elsewhere?: boolean;
  /** As in {@link RpcReadOptions}. */
  isForeign?: boolean;
}

/** Throws {@link EndpointUnfit} if an endpoint has no say. A node's error during the check does not fail the check. */
export type EndpointCheck = (read: ReadFromEndpoint) => Promise<unknown>;

/** Parses a node's answer. Throws on an answer that no honest node gives. */
export type ParseAnswer<T> = (answer: Json) => T;

/** One read on the endpoint that {@link RpcClient.onOne} chose. */
export type ReadFromEndpoint = <T>(
  method: string,
  params: Json,
  parse: ParseAnswer<T>,
  options?: RpcReadOptions,
) => Promise<T>;

/**
 * Thrown by a chain adapter out of `parse` or out of `use`: the endpoint answered well, but it cannot serve this call.
 * Another endpoint is asked at once. A `pauseMs` above 0 sets the endpoint aside for so long, unless no other is left.
 * With 0 the endpoint is not blamed: it counts as a little behind, until {@link RpcClient.caughtUp} says otherwise. If
 * no other endpoint serves, the caller gets an RpcError `malformed` with the reason.
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
   * `malformed`: there was no usable answer, and the call may or may not have had its effect. `blocked`: the address
   * guard refused the connection, and nothing was sent. `limited`: the endpoint asked to be left alone, and nothing was
   * sent.
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

/** Whether a node answered with an error: the method is not supported, the call reverts, and the like. */
export function isNodeError(error: unknown): error is RpcError {
  return error instanceof RpcError && error.kind === 'node';
}

/** A passed-through call's answer, in the body form of the relayer `rpc` endpoint. */
export interface RpcOutcome {
  jsonrpc: '2.0';
  result?: WireValue;
  error?: { code: number; message: string; description: string; data?: Json };
  id?: string | number;
}
