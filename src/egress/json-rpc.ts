import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../domain/clock.ts';
import type { Json } from '../domain/json.ts';
import type { RpcUrl } from '../domain/relayer.ts';
import { createEndpoint, type Endpoint } from './endpoint.ts';
import { createEndpointPool, type PoolSettings } from './endpoint-pool.ts';
import type { HttpClient } from './http-client.ts';
import { HttpFailure } from './http-client.ts';
import { type JsonRpcCall, readAnswer, retryAfterMs } from './json-rpc-answer.ts';
import { type ParseAnswer, type RpcClient, RpcError } from './rpc-client.ts';
import { judgeFailure } from './rpc-verdict.ts';

/** How long and how often endpoints are tried. Times in milliseconds. */
export interface RpcSettings extends PoolSettings {
  /** Of one request, from the call to the last byte of its answer. */
  timeoutMs: number;
  /** Tries that one endpoint gets within one call. */
  tries: number;
  /** Endpoints beyond the first that one call may turn to. */
  failovers: number;
  /** Pause before the second round; doubles with each, up to the longest. */
  baseDelayMs: number;
  maxDelayMs: number;
  maxAnswerBytes: number;
}

const DEFAULT_RPC_SETTINGS: RpcSettings = {
  timeoutMs: 10_000,
  tries: 3,
  failovers: 3,
  baseDelayMs: 100,
  maxDelayMs: 2_000,
  failureThreshold: 3,
  failureMemoryMs: 60_000,
  pauseMs: 60_000,
  maxAnswerBytes: 16 * 1_048_576,
};

/** One finished request, for metrics. */
export interface RpcCallReport {
  /** Scheme, host and port. */
  endpoint: string;
  method: string;
  outcome: 'ok' | RpcError['kind'];
  ms: number;
}

export interface RpcClientParts {
  endpoints: readonly RpcUrl[];
  /** Shared by all clients under one address policy; stays open when the client closes. */
  http: HttpClient;
  clock: Clock;
  /** 0 inclusive to 1 exclusive. */
  random: () => number;
  settings?: Partial<RpcSettings> | undefined;
  onCall?: ((report: RpcCallReport) => void) | undefined;
}

/** The longest `Retry-After` that a call sits out; a longer one ends it. */
const LONGEST_HOLD_MS = 10_000;

/** JSON-RPC 2.0 over HTTP to the given endpoints. */
export function createRpcClient(parts: RpcClientParts): RpcClient {
  const { http, clock, random } = parts;
  const settings: RpcSettings = { ...DEFAULT_RPC_SETTINGS, ...parts.settings };
  const pool = createEndpointPool(parts.endpoints.map(createEndpoint), settings, clock, random);
  const closing = new AbortController();
  let lastId = 0;

  /** One request to one endpoint; what goes wrong is held against that endpoint and no other. */
  async function request<T>(endpoint: Endpoint, method: string, params: Json, parse: ParseAnswer<T>): Promise<T> {
    lastId += 1;
    const call: JsonRpcCall = { endpoint, id: lastId, method };
    const startedAt = clock.elapsed();
    let outcome: RpcCallReport['outcome'] = 'ok';
    try {
      const answer = await post(call, params);
      return parseAnswer(call, answer, parse);
    } catch (error) {
      const failure = asRpcError(endpoint, error);
      outcome = failure.kind;
      if (judgeFailure(failure).countsAgainst) pool.failed(endpoint);
      throw failure;
    } finally {
      parts.onCall?.({ endpoint: endpoint.name, method, outcome, ms: clock.elapsed() - startedAt });
    }
  }

  async function post(call: JsonRpcCall, params: Json): Promise<Json> {
    const body = { jsonrpc: '2.0', id: call.id, method: call.method, ...(params === null ? {} : { params }) };
    const response = await http.post(call.endpoint.url, {
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      timeoutMs: settings.timeoutMs,
      maxBytes: settings.maxAnswerBytes,
    });
    if (response.status === 429) {
      const wait = retryAfterMs(response.headers['retry-after'], clock.now());
      if (wait !== undefined) pool.hold(call.endpoint, Math.min(wait, settings.pauseMs));
    }
    return readAnswer(call, response);
  }

  /** Round after round over the endpoints that may still serve, with a pause between rounds, none within. */
  async function failOver<T>(use: (endpoint: Endpoint) => Promise<T>): Promise<T> {
    const dropped = new Set<Endpoint>();
    let failure = noEndpoint();
    for (let round = 0; round < Math.max(1, settings.tries); round += 1) {
      if (round > 0) await pauseBefore(round, failure);
      const order = pool.order().filter((endpoint) => !dropped.has(endpoint));
      for (const endpoint of order.slice(0, 1 + settings.failovers)) {
        try {
          return await use(endpoint);
        } catch (error) {
          failure = asRpcError(endpoint, error);
          const { retry } = judgeFailure(failure);
          if (retry === 'final' || closing.signal.aborted) throw failure;
          if (retry === 'elsewhere') dropped.add(endpoint);
        }
      }
      if (dropped.size >= pool.endpoints.length) break;
    }
    throw failure;
  }

  async function pauseBefore(round: number, failure: RpcError): Promise<void> {
    const backOff = Math.min(settings.baseDelayMs * 2 ** (round - 1), settings.maxDelayMs) * (0.8 + 0.4 * random());
    const hold = pool.heldForMs();
    if (hold > LONGEST_HOLD_MS) throw failure;
    await sleep(Math.max(backOff, hold), undefined, { signal: closing.signal }).catch(() => {
      throw failure;
    });
  }

  return {
    read: <T>(method: string, params: Json, parse: ParseAnswer<T> = asIs) =>
      failOver((endpoint) => request(endpoint, method, params, parse)),
    onOne: (use) => failOver((endpoint) => use((method, params, parse) => request(endpoint, method, params, parse))),
    async offer(method, params) {
      const [endpoint] = pool.order();
      if (endpoint === undefined) throw noEndpoint();
      return request(endpoint, method, params, (answer) => answer);
    },
    each: (method, params) =>
      Promise.allSettled(pool.endpoints.map((endpoint) => request(endpoint, method, params, (answer) => answer))),
    async close() {
      closing.abort();
    },
  };
}

/** Without a parser an answer is plain JSON, as the overload of `read` says. */
function asIs<T>(answer: Json): T {
  return answer as T;
}

function parseAnswer<T>({ endpoint, method }: JsonRpcCall, answer: Json, parse: ParseAnswer<T>): T {
  try {
    return parse(answer);
  } catch (error) {
    const reason = error instanceof Error ? endpoint.scrub(error.message) : 'not what was asked for';
    throw new RpcError('malformed', `${endpoint.name} answered ${method} with nonsense: ${reason}`, { cause: error });
  }
}

/** @throws what is not of this layer, such as a fault in a caller's own code inside `onOne` */
function asRpcError(endpoint: Endpoint, error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (error instanceof HttpFailure) {
    const kind = error.kind === 'too-large' ? 'malformed' : error.kind;
    return new RpcError(kind, `${endpoint.name}: ${error.message}`, { cause: error });
  }
  throw error;
}

function noEndpoint(): RpcError {
  return new RpcError('transport', 'no RPC endpoint is switched on');
}
