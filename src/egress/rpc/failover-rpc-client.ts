import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../domain/clock.ts';
import type { EndpointNews, EndpointStatus, UnansweredMethod } from '../../domain/endpoint-news.ts';
import type { Json } from '../../domain/json/json.ts';
import { printable } from '../../domain/printable.ts';
import type { RpcUrl } from '../../features/relayers/records/relayer.ts';
import type { HttpClient } from '../http-client.ts';
import { createEndpoint, type Endpoint } from './endpoint.ts';
import { createEndpointLine, type EndpointLine, type EndpointLineLimits } from './endpoint-line.ts';
import { createEndpointPool, type EndpointContact, type EndpointPoolSettings } from './endpoint-pool.ts';
import {
  type EndpointCheck,
  EndpointUnfit,
  type ParseAnswer,
  type ReadFromEndpoint,
  type RpcClient,
  RpcError,
  type RpcOfferOptions,
  type RpcOfferOutcome,
  type RpcReadOptions,
} from './rpc-client.ts';
import {
  countsAgainstEndpoint,
  isRateLimitError,
  judgeRpcFailure,
  NO_DIALECT,
  type RpcDialect,
  type RpcVerdict,
} from './rpc-verdict.ts';

/** How long and how often endpoints are tried. Times in milliseconds. */
export interface RpcSettings extends EndpointPoolSettings, EndpointLineLimits {
  /** Tries that one endpoint gets within one call; 0 counts as 1. */
  tries: number;
  /** Endpoints beyond the first that one call may turn to. */
  failovers: number;
  /** Pause before the second round; doubles with each, up to the longest. */
  baseDelayMs: number;
  maxDelayMs: number;
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
  limitMs: 200,
  limitCapMs: 5_000,
  maxAnswerBytes: 16 * 1_048_576,
  maxCalls: 256,
};

/** One finished call, for metrics. */
export interface RpcCallReport {
  /** Scheme, host and port. */
  endpoint: string;
  method: string;
  /** What the failure means, if it failed. */
  outcome: 'ok' | RpcVerdict['meaning'];
  /** From the call to its answer, its share in a batch included. */
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
  /** The dialect of the family whose nodes are asked. */
  dialect?: RpcDialect | undefined;
  onCall?: ((report: RpcCallReport) => void) | undefined;
  /** Called when an endpoint is left alone, and when it serves again; not for each call. */
  onEndpoint?: ((news: EndpointNews) => void) | undefined;
  /** Called when the last result of every endpoint was trouble, and when one of them serves again. */
  onContact?: ((isLost: boolean) => void) | undefined;
}

/** A client whose endpoints can be inspected. */
export interface InspectableRpcClient extends RpcClient {
  endpoints(): EndpointStatus[];
  /** The same object for as long as the client lasts. It always shows the present state. */
  readonly contact: Readonly<EndpointContact>;
}

/** The longest `Retry-After` that a call waits for. A longer one ends the call. */
const MAX_HOLD_MS = 10_000;

/** How many characters are kept of why an endpoint does not answer a method. */
const MAX_REASON = 200;

/** JSON-RPC 2.0 over HTTP to the given endpoints. */
export function createRpcClient(parts: RpcClientParts): InspectableRpcClient {
  const { http, clock, random, dialect = NO_DIALECT } = parts;
  const settings: RpcSettings = { ...DEFAULT_RPC_SETTINGS, ...parts.settings };
  const pool = createEndpointPool(parts.endpoints.map(createEndpoint), settings, clock, random, {
    onNews: parts.onEndpoint,
    onContact: parts.onContact,
  });
  const lines = new Map(pool.endpoints.map((endpoint) => [endpoint, lineTo(endpoint)]));
  const closing = new AbortController();
  let lastId = 0;
  /** The endpoint that last took an offer: it knows the account's earlier transactions. */
  let favourite: Endpoint | undefined;
  const readers = new WeakMap<ReadFromEndpoint, Endpoint>();
  /** The methods that only advise and that each endpoint answered when it was asked last. */
  const answered = new Map(pool.endpoints.map((endpoint) => [endpoint, new Set<string>()]));
  const unanswered = new Map(pool.endpoints.map((endpoint) => [endpoint, new Map<string, UnansweredMethod>()]));

  function lineTo(endpoint: Endpoint): EndpointLine {
    const nextId = () => {
      lastId += 1;
      return lastId;
    };
    return createEndpointLine({ endpoint, http, clock, pool, settings, dialect, nextId });
  }

  function linesOf(endpoints: readonly Endpoint[]): EndpointLine[] {
    return endpoints.flatMap((endpoint) => lines.get(endpoint) ?? []);
  }

  function report({ endpoint }: EndpointLine, method: string, startedAt: number, error?: unknown): void {
    if (error instanceof RpcError && error.kind === 'limited') return;
    const failed = () => (error instanceof RpcError ? judgeRpcFailure(error, dialect).meaning : 'endpoint');
    const outcome = error === undefined ? 'ok' : failed();
    parts.onCall?.({ endpoint: endpoint.name, method, outcome, ms: clock.elapsed() - startedAt });
  }

  /**
   * Asks once. Asks again as long as the endpoint only says that it gets too many requests, and once more where
   * {@link isWorthRepeating} says so. `isCheck`: the endpoint is asked for its own sake, so no other one can answer.
   */
  async function ask<T>(
    line: EndpointLine,
    method: string,
    params: Json,
    parse: ParseAnswer<T>,
    options?: RpcReadOptions,
    isCheck = false,
  ): Promise<T> {
    const until = clock.elapsed() + settings.timeoutMs;
    const isOptional = options?.bestEffort === true || options?.advice !== undefined;
    let isRepeated = false;
    for (;;) {
      const startedAt = clock.elapsed();
      let isAnswered = false;
      try {
        const answer = await line.read(method, params, options);
        isAnswered = true;
        const parsed = parseAnswer(line.endpoint, method, answer, parse, options);
        report(line, method, startedAt);
        if (options?.advice !== undefined) {
          answered.get(line.endpoint)?.add(method);
          unanswered.get(line.endpoint)?.delete(method);
        }
        return parsed;
      } catch (error) {
        report(line, method, startedAt, error);
        if (options?.advice !== undefined) noteUnanswered(line.endpoint, method, options.advice, error);
        if (isOptional) throw error;
        if (isSoonOver(error, line, until)) continue;
        if (isRepeated || !isWorthRepeating(error, line, isAnswered, isCheck)) throw error;
        isRepeated = true;
      }
    }
  }

  /**
   * Whether to ask again at once, as the answer was cut: in a check always, also for an odd answer; else where no other
   * endpoint is ready. Otherwise one cut answer would throw away all the answers that a caller of
   * {@link RpcClient.onOne} has read before, from the only endpoint.
   */
  function isWorthRepeating(error: unknown, line: EndpointLine, isAnswered: boolean, isCheck: boolean): boolean {
    if (!(error instanceof RpcError) || (error.kind !== 'transport' && error.kind !== 'malformed')) return false;
    if (closing.signal.aborted) return false;
    return isCheck ? !pool.isGone() : !isAnswered && pool.isWorthWaiting(line.endpoint);
  }

  /** Remembers that an endpoint does not tell a figure. Trouble that passes, or with every call, is told elsewhere. */
  function noteUnanswered(endpoint: Endpoint, method: string, cost: string, error: unknown): void {
    answered.get(endpoint)?.delete(method);
    if (!(error instanceof RpcError) || !['node', 'http', 'malformed'].includes(error.kind)) return;
    const reason = printable(error.message, MAX_REASON);
    if (!isRateLimitError(error, dialect)) unanswered.get(endpoint)?.set(method, { method, reason, cost });
  }

  /**
   * Whether to ask again: the endpoint only said that it is asked too much, and it can be asked again in time. The line
   * waits until then.
   */
  function isSoonOver(error: unknown, { endpoint }: EndpointLine, until: number): boolean {
    if (!isRateLimitError(error, dialect) || !pool.isWorthWaiting(endpoint)) return false;
    return clock.elapsed() + pool.waitMs(endpoint) < until;
  }

  function readerOf(line: EndpointLine, options?: RpcReadOptions, isCheck = false): ReadFromEndpoint {
    const read: ReadFromEndpoint = (method, params, parse, own) => {
      const all = { ...options, ...own };
      if (all.advice === undefined) return ask(line, method, params, parse, all, isCheck);
      // A method that the endpoint has answered goes together with other calls. Otherwise it could take them with it.
      const isKnown = answered.get(line.endpoint)?.has(method) === true;
      const how = isKnown ? { isForeign: true } : { bestEffort: true };
      return ask(line, method, params, parse, { ...all, ...how }, isCheck);
    };
    readers.set(read, line.endpoint);
    return read;
  }

  function parseAnswer<T>(
    endpoint: Endpoint,
    method: string,
    answer: Json,
    parse: ParseAnswer<T>,
    options?: RpcReadOptions,
  ): T {
    try {
      return parse(answer);
    } catch (error) {
      if (error instanceof EndpointUnfit) throw error;
      // The error of the parser is not kept as the cause. Its text may repeat the answer, the answer may hold the key,
      // and a log would show a cause in full.
      const reason = error instanceof Error ? endpoint.scrub(error.message) : 'not what was asked for';
      const failure = new RpcError(
        'malformed',
        `${endpoint.name} answered ${method} with an invalid response: ${reason}`,
      );
      if (options?.bestEffort !== true && options?.advice === undefined) pool.failed(endpoint, failure.message);
      throw failure;
    }
  }

  /**
   * Tries the endpoints that may still serve, round after round. It pauses between rounds, not within one. Endpoints
   * that were not asked yet come first. Otherwise, with more endpoints than one round takes, the one that answers could
   * be missed.
   */
  async function failOver<T>(use: (line: EndpointLine) => Promise<T>): Promise<T> {
    const dropped = new Set<Endpoint>();
    const alreadyAsked = new Set<Endpoint>();
    const left = () => {
      const order = pool.order().filter((endpoint) => !dropped.has(endpoint));
      return [
        ...order.filter((endpoint) => !alreadyAsked.has(endpoint)),
        ...order.filter((endpoint) => alreadyAsked.has(endpoint)),
      ];
    };
    let failure: RpcError | undefined;
    const rounds = pool.isGone() ? 1 : Math.max(1, settings.tries);
    for (let round = 0; round < rounds; round += 1) {
      if (left().length === 0) break;
      if (failure !== undefined) await pauseBefore(round, failure);
      for (const line of linesOf(left().slice(0, 1 + settings.failovers))) {
        alreadyAsked.add(line.endpoint);
        try {
          const done = await use(line);
          pool.served(line.endpoint);
          return done;
        } catch (error) {
          failure = failureOf(line.endpoint, error);
          const { retry } = judgeRpcFailure(failure, dialect);
          if (retry === 'final' || closing.signal.aborted) throw failure;
          if (retry === 'elsewhere') dropped.add(line.endpoint);
        }
      }
    }
    throw failure ?? noEndpoint();
  }

  function failureOf(endpoint: Endpoint, error: unknown): RpcError {
    return error instanceof EndpointUnfit ? unfit(endpoint, error) : ofThisLayer(error);
  }

  function unfit(endpoint: Endpoint, reason: EndpointUnfit): RpcError {
    const why = endpoint.scrub(reason.message);
    if (reason.pauseMs === 0) pool.lagged(endpoint, why);
    else if (!pool.exclude(endpoint, reason.pauseMs, why)) pool.failed(endpoint, why);
    const message = `${endpoint.name} cannot serve this: ${why}`;
    return new RpcError('malformed', message, { cause: new EndpointUnfit(why, reason) });
  }

  async function pauseBefore(round: number, failure: RpcError): Promise<void> {
    const backOff = Math.min(settings.baseDelayMs * 2 ** (round - 1), settings.maxDelayMs) * (0.8 + 0.4 * random());
    const hold = pool.waitMs();
    if (hold > MAX_HOLD_MS) throw failure;
    await sleep(Math.max(backOff, hold), undefined, { signal: closing.signal }).catch(() => {
      throw failure;
    });
  }

  async function offerTo(
    line: EndpointLine,
    method: string,
    params: readonly Json[],
    options?: RpcOfferOptions,
  ): Promise<RpcOfferOutcome[]> {
    const startedAt = clock.elapsed();
    const settled = await line.offer(method, params, options);
    for (const entry of settled) {
      report(line, method, startedAt, entry.status === 'fulfilled' ? undefined : entry.reason);
    }
    if (settled.some(({ status }) => status === 'fulfilled')) pool.served(line.endpoint);
    return settled.map((entry) => ({ ...entry, endpoint: line.endpoint.name }));
  }

  /** Why an endpoint has no say; undefined if it has one. */
  async function objection(line: EndpointLine, check: EndpointCheck | undefined): Promise<RpcError | undefined> {
    try {
      await check?.(readerOf(line, undefined, true));
      return undefined;
    } catch (error) {
      const failure = failureOf(line.endpoint, error);
      return failure.kind === 'node' ? undefined : failure;
    }
  }

  async function useOn<T>(line: EndpointLine, use: (read: ReadFromEndpoint) => Promise<T>): Promise<T> {
    try {
      return await use(readerOf(line));
    } catch (error) {
      throw failureOf(line.endpoint, error);
    }
  }

  async function offerChecked(
    line: EndpointLine,
    method: string,
    params: readonly Json[],
    check: EndpointCheck | undefined,
  ): Promise<RpcOfferOutcome[]> {
    const reason = await objection(line, check);
    if (reason === undefined) return offerTo(line, method, params);
    return params.map(() => ({ status: 'rejected', reason, endpoint: line.endpoint.name }));
  }

  async function askChecked(line: EndpointLine, method: string, params: Json, check?: EndpointCheck): Promise<Json> {
    const [answer, reason] = await Promise.allSettled([
      ask(line, method, params, (json) => json, undefined, true),
      objection(line, check),
    ]);
    if (reason.status === 'rejected') throw reason.reason;
    if (reason.value !== undefined) throw reason.value;
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  }

  function nextFor({ elsewhere = false }: RpcOfferOptions): Endpoint | undefined {
    if (!elsewhere && favourite !== undefined && pool.isReady(favourite)) return favourite;
    const order = pool.order();
    const others = order.filter((endpoint) => elsewhere && endpoint !== favourite && pool.isReady(endpoint));
    return others[0] ?? order[0];
  }

  async function offerAll(
    method: string,
    params: readonly Json[],
    options: RpcOfferOptions = {},
  ): Promise<RpcOfferOutcome[]> {
    const first = nextFor(options);
    const [line] = linesOf(first === undefined ? [] : [first]);
    if (line === undefined) return params.map(() => ({ status: 'rejected', reason: noEndpoint() }));
    const settled = await offerTo(line, method, params, options);
    const isTaken = settled.some(({ status }) => status === 'fulfilled');
    if (isTaken || options.elsewhere === true) favourite = line.endpoint;
    if (favourite === line.endpoint && settled.some((entry) => countsAgainstEndpoint(entry, dialect)))
      favourite = undefined;
    return settled;
  }

  return {
    read: <T>(method: string, params: Json, parse: ParseAnswer<T> = asIs, options?: RpcReadOptions) =>
      failOver((line) => ask(line, method, params, parse, options)),
    endpointCount: pool.endpoints.length,
    onOne: (use, options) => failOver((line) => use(readerOf(line, options))),
    onOthers(read, use) {
      const others = pool.endpoints.filter((endpoint) => endpoint !== readers.get(read) && pool.isReady(endpoint));
      return linesOf(others).map((line) => useOn(line, use));
    },
    onAll: (use) => [...lines.values()].map((line) => useOn(line, use)),
    caughtUp(read) {
      const endpoint = readers.get(read);
      if (endpoint !== undefined) pool.caughtUp(endpoint);
    },
    async offer(method, params, options) {
      const [entry] = await offerAll(method, [params], options);
      if (entry === undefined || entry.status === 'rejected') throw entry?.reason ?? noEndpoint();
      return entry.value;
    },
    offerAll,
    offerEach: (method, params, check) =>
      Promise.all([...lines.values()].map((line) => offerChecked(line, method, params, check))),
    prefer(place) {
      favourite = pool.endpoints[place];
    },
    each: (method, params, check) =>
      Promise.allSettled([...lines.values()].map((line) => askChecked(line, method, params, check))),
    endpoints: () =>
      [...lines.values()].map(({ endpoint }) => ({
        endpoint: endpoint.name,
        state: pool.stateOf(endpoint),
        unanswered: [...(unanswered.get(endpoint)?.values() ?? [])],
      })),
    contact: pool.contact,
    async close() {
      closing.abort();
      for (const line of lines.values()) line.close();
    },
  };
}

/** Without a parser an answer is plain JSON, as the overload of `read` says. */
function asIs<T>(answer: Json): T {
  return answer as T;
}

/** @throws errors that are not of this layer, such as a fault in a caller's own code inside `onOne` */
function ofThisLayer(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  throw error;
}

function noEndpoint(): RpcError {
  return new RpcError('transport', 'no RPC endpoint is switched on');
}
