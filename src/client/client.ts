import { type Operations, ROUTES } from './api.ts';
import { EventParser, type ServerSentEvent } from './event-text.ts';

/** An answer that is none of success. */
export class ApiError extends Error {
  readonly status: number;
  /** The kind of failure; empty where it is not the service that answered. */
  readonly code: string;
  readonly retryable: boolean;
  /** All of the answer; empty where it is no JSON. */
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

/** A stream says something every 15 s. A connection that was lost while the machine slept never says that it was. */
const SILENCE_MS = 40_000;

export interface ClientOptions {
  /** Of the service, without the path; empty for a page's own. */
  url: string;
  /** The API key. */
  key: string;
  fetch?: typeof fetch;
  /** How long a stream may say nothing. */
  silenceMs?: number;
}

/** What is followed, and from where. */
export interface FollowInput {
  query?: Record<string, string>;
  lastId?: string;
  /** Called with whatever comes, also where it is no event. */
  heard?: () => void;
}

/** What any input may have. */
interface AnyInput {
  path?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  idempotencyKey?: string;
}

/** A client of the API, with the types of its description. It needs nothing but `fetch`. */
export class ApiClient {
  readonly #options: ClientOptions;
  readonly #fetch: typeof fetch;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#fetch = options.fetch ?? ((...request) => fetch(...request));
  }

  /** @throws ApiError, or what `fetch` throws when the service is not reached */
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
   * What happens, as it happens, until the stream ends; after the event with the given id when there is one.
   * @throws ApiError, what `fetch` throws, or Error when nothing was heard for too long
   */
  async *follow(
    { query = {}, lastId = '', heard }: FollowInput,
    signal: AbortSignal,
  ): AsyncGenerator<ServerSentEvent, void> {
    const { url, key, silenceMs = SILENCE_MS } = this.#options;
    const search = Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query).toString()}`;
    const silence = new AbortController();
    const giveUp = () => silence.abort(new Error(`The server said nothing for ${silenceMs / 1_000} s`));
    let timer = setTimeout(giveUp, silenceMs);
    // Who leaves may never ask for the next event.
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

/** Integers beyond 2^53 keep their digits, where the engine tells what a number was written as. */
function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/** The service takes decimal strings for such integers. */
function writeBody(body: unknown): string {
  return JSON.stringify(body, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}
