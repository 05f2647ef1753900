import { type Operations, ROUTES } from './api.ts';

/** An answer with an error status. */
export class ApiError extends Error {
  readonly status: number;
  /** The error code; empty when something other than the service answered. */
  readonly code: string;
  readonly retryable: boolean;
  /** The whole body; empty when it is not JSON. */
  readonly body: object;

  constructor(status: number, body: { error?: string; code?: string; retryable?: boolean }) {
    const { error, code, retryable } = body;
    super(error ?? `The server answered with status ${status}`);
    this.name = 'ApiError';
    this.status = status;
    this.code = code ?? '';
    this.retryable = retryable ?? false;
    this.body = body;
  }
}

/**
 * The longest silence on a stream, which normally sends something every 15 s. A connection that was lost while the
 * machine slept reports no error, so only the silence shows it.
 */
const SILENCE_MS = 40_000;

interface ClientOptions {
  /** The URL of the service, without a path; empty for the page's own server. */
  url: string;
  /** The API key. */
  key: string;
  fetch?: typeof fetch;
  /** The longest silence on a stream, in milliseconds. */
  silenceMs?: number;
}

/** The events to follow, and the place to start from. */
interface FollowInput {
  query?: Record<string, string>;
  lastId?: string;
  /** Called for all received data, also when it is no event. */
  heard?: () => void;
}

/** The fields of all operations' inputs. */
interface AnyInput {
  path?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  idempotencyKey?: string;
}

/** A client of the API, typed by the API description. It depends on `fetch` only. */
export class ApiClient {
  readonly #options: ClientOptions;
  readonly #fetch: typeof fetch;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#fetch = options.fetch ?? ((...request) => fetch(...request));
  }

  /** @throws ApiError, or the error of `fetch` when the service cannot be reached */
  async call<Id extends keyof Operations>(
    id: Id,
    input: Operations[Id]['input'],
    signal?: AbortSignal,
  ): Promise<Operations[Id]['answer']> {
    const [method, route] = ROUTES[id];
    const { path = {}, query = {}, body, idempotencyKey } = input as AnyInput;
    const filled = route.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
    const asked = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]));
    const search = asked.length === 0 ? '' : `?${new URLSearchParams(asked).toString()}`;
    const answer = await this.#fetch(`${this.#options.url}${filled}${search}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#options.key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body !== undefined && { body: writeBody(body) }),
      ...(signal !== undefined && { signal }),
    });
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
    const text = await answer.text();
    const value: unknown = isJson ? JSON.parse(text, keepDigits) : text;
    if (!answer.ok) throw new ApiError(answer.status, isJson ? (value as object) : {});
    return value as Operations[Id]['answer'];
  }

  /**
   * Yields events until the stream ends. With `lastId`, it starts after that event.
   * @throws ApiError, the error of `fetch`, or Error when nothing was received for too long
   */
  async *follow(
    { query = {}, lastId = '', heard }: FollowInput,
    signal: AbortSignal,
  ): AsyncGenerator<ServerSentEvent, void> {
    const { url, key, silenceMs = SILENCE_MS } = this.#options;
    const search = Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query).toString()}`;
    const silence = new AbortController();
    const giveUp = () => silence.abort(new Error(`The server sent nothing for ${silenceMs / 1_000} s`));
    let timer = setTimeout(giveUp, silenceMs);
    // A caller that aborts may never ask for the next event, so `finally` may not run.
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    try {
      const answer = await this.#fetch(`${url}/api/v1/events${search}`, {
        headers: { authorization: `Bearer ${key}`, ...(lastId !== '' && { 'last-event-id': lastId }) },
        signal: AbortSignal.any([signal, silence.signal]),
      });
      if (!answer.ok || answer.body === null) {
        throw new ApiError(answer.status, (await answer.json().catch(() => ({}))) as object);
      }
      const parser = new EventParser(lastId);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(timer);
        timer = setTimeout(giveUp, silenceMs);
        heard?.();
        yield* parser.push(value);
      }
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  }
}

/** Keeps all digits of integers beyond 2^53, if the engine passes the source text of numbers. */
function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/** Writes integers beyond 2^53 as decimal strings, which the service accepts. */
function writeBody(body: unknown): string {
  return JSON.stringify(body, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}

/** One server-sent event. */
export interface ServerSentEvent {
  /** The id to resume from after this event. */
  id: string;
  event: string;
  data: string;
}

/** Parses server-sent events from pieces of text (HTML standard, section 9.2.6). */
export class EventParser {
  /** The last id received, with an event or alone. The stream resumes from it. */
  lastId: string;
  #rest = '';
  #event = '';
  #data: string[] = [];

  constructor(lastId = '') {
    this.lastId = lastId;
  }

  /** Returns the events that are complete after this piece. */
  push(piece: string): ServerSentEvent[] {
    const lines = (this.#rest + piece).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): ServerSentEvent[] {
    if (line === '') return this.#end();
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'id') this.lastId = value;
    if (name === 'event') this.#event = value;
    if (name === 'data') this.#data.push(value);
    return [];
  }

  #end(): ServerSentEvent[] {
    const [event, data] = [this.#event, this.#data];
    this.#event = '';
    this.#data = [];
    return data.length === 0 ? [] : [{ id: this.lastId, event: event || 'message', data: data.join('\n') }];
  }
}
