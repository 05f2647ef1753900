import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../../domain/json/json.ts';
import type { Endpoint } from './endpoint.ts';
import type { EndpointPool } from './endpoint-pool.ts';
import { isBatchError, type JsonRpcBatchResult } from './json-rpc-answer.ts';
import { isNodeError, RpcError, type RpcOfferOptions, type RpcReadOptions } from './rpc-client.ts';
import { createRpcRequest, type RpcCallText, type RpcRequestLimits, type RpcRequestParts } from './rpc-request.ts';
import { countsAgainstEndpoint, isRateLimitError, type RpcDialect } from './rpc-verdict.ts';

/** Limits of one endpoint's line. */
export interface EndpointLineLimits extends RpcRequestLimits {
  /** The most calls at once to one endpoint. More would wait in its queue while their time runs. */
  maxCalls: number;
}

/** What a line is made of. */
export interface EndpointLineParts extends RpcRequestParts {
  /** Hears what counts against the endpoint, once for each request. */
  pool: Pick<
    EndpointPool,
    'failed' | 'hold' | 'limited' | 'requestSent' | 'requestAnswered' | 'waitMs' | 'isWorthWaiting'
  >;
  settings: EndpointLineLimits;
}

/** Sends calls to one endpoint: so many at once, and the calls of one turn of the event loop together. */
export interface EndpointLine {
  readonly endpoint: Endpoint;
  /**
   * Makes a call without effect. It may share its request with other calls. If sharing was the trouble, it is sent
   * again alone.
   * @throws RpcError
   */
  read(method: string, params: Json, options?: RpcReadOptions): Promise<Json>;
  /** Calls that may have an effect, in order, each at most once; one entry for each. */
  offer(
    method: string,
    params: readonly Json[],
    options?: Pick<RpcOfferOptions, 'isForeign'>,
  ): Promise<PromiseSettledResult<Json>[]>;
  /** Ends the waiting. Requests that were sent are not called back. */
  close(): void;
}

type Refusal = Extract<JsonRpcBatchResult, { kind: 'refused' }>;

interface WaitingRead extends RpcCallText {
  /** Of a call whose answer the same call shares until it is sent. */
  key: string | undefined;
  isAlone: boolean;
  isBestEffort: boolean;
  isForeign: boolean;
  expiresAt: number;
  resolve: (answer: Json) => void;
  reject: (reason: unknown) => void;
}

/** The largest request. Hosts commonly let 1 MB and more pass (nginx `client_max_body_size`); geth takes 5 MB. */
const MAX_BYTES = 1_000_000;
/**
 * The most requests at once: as many as the HTTP client opens connections to one host. A further request would wait
 * there while its time runs.
 */
const MAX_REQUESTS = 64;

/** More calls in one request would keep the first answer waiting for the last. */
const MAX_BATCH = 100;
/** After this time a refused batch size is tried again, because plans and gateways change. */
const BATCH_MEMORY_MS = 10 * 60_000;

/** Opens nothing before the first call. */
export function createEndpointLine(parts: EndpointLineParts): EndpointLine {
  const { endpoint, clock, pool, settings, dialect } = parts;
  const request = createRpcRequest(parts);
  const slots = new CallSlots(settings.maxCalls);
  /** Calls that may share a request: the most that we ever send, until the endpoint refuses so many. */
  let batchSize = MAX_BATCH;
  let batchShrunkAt = 0;
  /** Whether the endpoint has answered a batch as it should. */
  let isBatchProven = false;
  let waiting: WaitingRead[] = [];
  let isCollecting = false;
  let isDraining = false;
  const closing = new AbortController();
  const isClosed = () => closing.signal.aborted;

  /** Calls whose answer the same call may share, by their text. */
  const shared = new Map<string, Promise<Json>>();

  function read(method: string, params: Json, options: RpcReadOptions): Promise<Json> {
    if (options.shares === undefined) return enqueue(method, params, options);
    const call = JSON.stringify([method, params]);
    const same = shared.get(call);
    if (same !== undefined) return same;
    const reading = enqueue(method, params, options, options.shares === 'unsent' ? call : undefined);
    shared.set(call, reading);
    const forget = () => {
      if (shared.get(call) === reading) shared.delete(call);
    };
    void reading.then(forget, forget);
    return reading;
  }

  function enqueue(
    method: string,
    params: Json,
    { bestEffort = false, isLong = false, isForeign = false }: RpcReadOptions,
    key?: string,
  ): Promise<Json> {
    return new Promise((resolve, reject) => {
      if (isClosed()) throw closed();
      const expiresAt = clock.elapsed() + settings.timeoutMs;
      const text = request.textOf(method, params);
      // A call that may well fail must not take others with it.
      const kind = { isAlone: bestEffort || isLong, isBestEffort: bestEffort, isForeign };
      waiting.push({ ...text, ...kind, key, expiresAt, resolve, reject });
      collect();
    });
  }

  /** The same calls from now on get an answer of their own. */
  function taken(reads: readonly WaitingRead[]): WaitingRead[] {
    for (const { key } of reads) if (key !== undefined) shared.delete(key);
    return [...reads];
  }

  /**
   * Sends the waiting reads at the end of the loop's turn. `setImmediate` runs after all continuations of that turn,
   * however deep, so it collects their calls. A microtask would miss those behind one more `await`. An idle loop runs
   * it at once.
   */
  function collect(): void {
    if (isCollecting || isDraining) return;
    isCollecting = true;
    setImmediate(() => {
      isCollecting = false;
      void drain();
    });
  }

  function currentBatchSize(): number {
    if (batchSize < MAX_BATCH && clock.elapsed() - batchShrunkAt >= BATCH_MEMORY_MS) batchSize = MAX_BATCH;
    return batchSize;
  }

  async function drain(): Promise<void> {
    isDraining = true;
    for (let head = waiting[0]; head !== undefined; head = waiting[0]) {
      const reason = await turn(head.expiresAt);
      if (reason !== undefined) {
        for (const read of taken(waiting.splice(0))) read.reject(reason);
        break;
      }
      let batch: WaitingRead[] = [];
      const take = (free: number) => {
        // Repeated reads may have come to the front in the meantime.
        const count = waiting[0]?.isAlone === true ? 1 : fitting(waiting, Math.min(free, currentBatchSize()));
        batch = taken(waiting.splice(0, count));
        return batch.length;
      };
      const slot = await slots.enter(take, head.expiresAt - clock.elapsed());
      if (slot === undefined) expire();
      else if (pool.waitMs(endpoint) === 0) void carry(batch, slot);
      else {
        slot.leave();
        waiting = [...batch, ...waiting];
      }
    }
    isDraining = false;
  }

  /** Waits until a request may be sent. Resolves at once with the reason if waiting is of no use. */
  async function turn(expiresAt: number): Promise<RpcError | undefined> {
    for (let ms = pool.waitMs(endpoint); ms > 0 && !isClosed(); ms = pool.waitMs(endpoint)) {
      if (!pool.isWorthWaiting(endpoint) || clock.elapsed() + ms > expiresAt) {
        const text = `not sent, it is asked too much and left alone for ${Math.ceil(ms / 1000)} s`;
        return new RpcError('limited', `${endpoint.name}: ${text}`);
      }
      await sleep(Math.ceil(ms), undefined, { signal: closing.signal }).catch(() => {});
    }
    return isClosed() ? closed() : undefined;
  }

  /** Rejects the first read and those whose time is over. Their time ends in the order in which they came. */
  function expire(): void {
    const now = clock.elapsed();
    const alive = waiting.findIndex(({ expiresAt }, place) => place > 0 && expiresAt > now);
    // All at once: taking them one by one would move the rest of a long line each time.
    for (const read of taken(waiting.splice(0, alive === -1 ? waiting.length : alive))) read.reject(noRoom());
  }

  async function carry(batch: WaitingRead[], slot: Slot): Promise<void> {
    const isBestEffort = batch.some((read) => read.isBestEffort);
    const reading = await ask(batch);
    const isRepeatable = reading.kind === 'refused' && isWorthRepeating(reading);
    const answers = answersOf(batch, reading);
    slot.leave();
    if (isRepeatable) {
      learn(batch.length, reading);
      repeat(batch, reading.reason !== 'size');
      return;
    }
    if (!isBestEffort) note(answers, (place) => batch[place]?.isForeign === true);
    for (const [index, read] of batch.entries()) {
      const answer = answers[index];
      if (answer?.status === 'fulfilled') read.resolve(answer.value);
      else if (batch.length > 1 && isBatchError(answer?.reason)) repeat([read], true);
      else read.reject(answer?.reason);
    }
  }

  /**
   * Whether to send a refused batch again. If the endpoint is known to answer batches, an uncertain refusal counts as a
   * failure.
   */
  function isWorthRepeating({ reason, isCertain }: Refusal): boolean {
    return isCertain || reason !== 'batch' || !isBatchProven;
  }

  function learn(calls: number, { reason, isCertain }: Refusal): void {
    if (reason === 'size') batchSize = Math.max(1, Math.min(batchSize, Math.floor(calls / 2)));
    else if (reason === 'batch' || !(isCertain || isBatchProven)) batchSize = 1;
    else return;
    batchShrunkAt = clock.elapsed();
  }

  function repeat(reads: WaitingRead[], isAlone: boolean): void {
    if (isClosed()) {
      for (const read of reads) read.reject(closed());
      return;
    }
    for (const read of reads) read.isAlone ||= isAlone;
    waiting = [...reads, ...waiting];
    collect();
  }

  async function ask(texts: readonly RpcCallText[]): Promise<JsonRpcBatchResult> {
    pool.requestSent(endpoint);
    const reading = await request.send(texts);
    const isAnswered = reading.kind === 'answers' && reading.answers.some(({ status }) => status === 'fulfilled');
    if (texts.length > 1 && isAnswered) isBatchProven = true;
    return reading;
  }

  function note(answers: readonly PromiseSettledResult<Json>[], isForeign: (place: number) => boolean): void {
    const blame = answers.find(
      (answer, place) => countsAgainstEndpoint(answer, dialect) && !(isForeign(place) && isAboutCall(answer)),
    );
    if (blame?.status === 'rejected') pool.failed(endpoint, (blame.reason as RpcError).message);
    const limit = answers.find((answer) => answer.status === 'rejected' && isRateLimitError(answer.reason, dialect));
    if (limit?.status === 'rejected') pool.limited(endpoint, (limit.reason as RpcError).message);
    else if (answers.some(({ status }) => status === 'fulfilled')) pool.requestAnswered(endpoint);
  }

  /** Whether the failure can be the call's own fault, whatever the node says. */
  function isAboutCall(answer: PromiseSettledResult<Json>): boolean {
    return answer.status === 'rejected' && isNodeError(answer.reason) && !isRateLimitError(answer.reason, dialect);
  }

  function noRoom(): RpcError {
    return new RpcError('timeout', `${endpoint.name}: not sent, no room for it within ${settings.timeoutMs} ms`);
  }

  function closed(): RpcError {
    return new RpcError('transport', `${endpoint.name}: not sent, the connection is closing`);
  }

  function notSent(): RpcError {
    return new RpcError('transport', `${endpoint.name}: not sent, as the one before it had no clear answer`);
  }

  return {
    endpoint,
    read: (method, params, options = {}) => read(method, params, options),

    async offer(method, params, { isForeign = false } = {}) {
      const answers: PromiseSettledResult<Json>[] = [];
      const rest = params.map((each) => request.textOf(method, each));
      const giveUp = (reason: RpcError) => [
        ...answers,
        ...rest.map((): PromiseSettledResult<Json> => ({ status: 'rejected', reason })),
      ];
      let most = Number.POSITIVE_INFINITY;
      while (rest.length > 0) {
        const count = (free: number) => fitting(rest, Math.min(free, currentBatchSize(), most));
        const expiresAt = clock.elapsed() + settings.timeoutMs;
        const reason = await turn(expiresAt);
        if (reason !== undefined) return giveUp(reason);
        const slot = await slots.enter(count, expiresAt - clock.elapsed());
        if (slot === undefined) return giveUp(isClosed() ? closed() : noRoom());
        if (isClosed() || pool.waitMs(endpoint) > 0) {
          slot.leave();
          continue;
        }
        const batch = rest.slice(0, slot.places);
        const reading = await ask(batch);
        if (reading.kind === 'refused' && reading.isCertain) {
          slot.leave();
          if (reading.reason === 'mixture') most = 1;
          learn(batch.length, reading);
          continue;
        }
        const settled = answersOf(batch, reading);
        slot.leave();
        note(settled, () => isForeign);
        answers.push(...settled);
        rest.splice(0, batch.length);
        if (settled.some((answer) => endsTheRow(answer, dialect))) return giveUp(notSent());
      }
      return answers;
    },

    close() {
      closing.abort();
      for (const read of taken(waiting.splice(0))) read.reject(closed());
    },
  };
}

/** How many of the first items fit into one request, at least one. */
function fitting(items: readonly (RpcCallText & { isAlone?: boolean })[], most: number): number {
  let bytes = 0;
  let count = 0;
  for (const item of items) {
    bytes += item.bytes;
    if (count > 0 && (count >= most || bytes > MAX_BYTES || item.isAlone === true)) break;
    count += 1;
  }
  return count;
}

function answersOf(items: readonly RpcCallText[], reading: JsonRpcBatchResult): PromiseSettledResult<Json>[] {
  if (reading.kind === 'answers') return reading.answers;
  return items.map(({ call }) => ({ status: 'rejected', reason: reading.failure(call) }));
}

/**
 * Whether no further calls may follow. After silence or a cut it is unknown what arrived, so they could arrive out of
 * order. A node's error is clear.
 */
function endsTheRow(answer: PromiseSettledResult<Json>, dialect: RpcDialect): boolean {
  if (answer.status === 'fulfilled' || !(answer.reason instanceof RpcError)) return false;
  const { kind } = answer.reason;
  return kind === 'blocked' || (kind !== 'node' && countsAgainstEndpoint(answer, dialect));
}

/** Places that were taken together and are given back together. */
interface Slot {
  readonly places: number;
  leave(): void;
}

interface WaitingSlot {
  take: (free: number) => number;
  admit: (slot: Slot | undefined) => void;
  timer: NodeJS.Timeout;
}

/** Bounds the calls and the requests that are under way. The others wait in the order in which they came. */
class CallSlots {
  readonly #maxCalls: number;
  readonly #waiting: WaitingSlot[] = [];
  #calls = 0;
  #requests = 0;

  constructor(maxCalls: number) {
    this.#maxCalls = maxCalls;
  }

  /**
   * `take` gets the number of free places and returns at once how many it takes. Resolves with undefined if no place
   * comes free within `waitMs`.
   */
  enter(take: WaitingSlot['take'], waitMs: number): Promise<Slot | undefined> {
    return new Promise((resolve) => {
      if (this.#waiting.length === 0 && this.#free() > 0) {
        resolve(this.#open(take));
        return;
      }
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(entry), 1);
        resolve(undefined);
      };
      const entry: WaitingSlot = { take, admit: resolve, timer: setTimeout(leave, Math.max(0, waitMs)) };
      this.#waiting.push(entry);
    });
  }

  #free(): number {
    return this.#requests < MAX_REQUESTS ? this.#maxCalls - this.#calls : 0;
  }

  #open(take: WaitingSlot['take']): Slot {
    const places = Math.max(1, take(this.#free()));
    this.#calls += places;
    this.#requests += 1;
    return {
      places,
      leave: () => {
        this.#calls -= places;
        this.#requests -= 1;
        while (this.#free() > 0) {
          const next = this.#waiting.shift();
          if (next === undefined) return;
          clearTimeout(next.timer);
          next.admit(this.#open(next.take));
        }
      },
    };
  }
}
