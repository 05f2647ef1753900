import { type Operations, ROUTES } from './api.ts';
import { EventParser, type ServerSentEvent } from './event-text.ts';

/** An answer that is none of success. */
export class ApiError extends Error {
  readonly status: number;
  /** The kind of failure; empty where it is not the service that answered. */
  readonly code: string;
  readonly retryable: boolean;

  constructor(status: number, { error, code, retryable }: { error?: string; code?: string; retryable?: boolean }) {
    super(error ?? `The server answered with status ${status}`);
    this.name = 'ApiError';
    this.status = status;
    this.code = code ?? '';
    this.retryable = retryable ?? false;
  }
}

export interface ClientOptions {
  /** Of the service, without the path; empty for a page's own. */
  url: string;
  /** The API key. */
  key: string;
  fetch?: typeof fetch;
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

  /** What happens, as it happens, until the stream ends; after the event with the given id when there is one. */
  async *follow(
    { query = {}, lastId = '' }: { query?: Record<string, string>; lastId?: string },
    signal: AbortSignal,
  ): AsyncGenerator<ServerSentEvent, void> {
    const search = Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query).toString()}`;
    const answer = await this.#fetch(`${this.#options.url}/api/v1/events${search}`, {
      headers: { authorization: `Bearer ${this.#options.key}`, ...(lastId !== '' && { 'last-event-id': lastId }) },
      signal,
    });
    if (!answer.ok || answer.body === null) {
      throw new ApiError(answer.status, (await answer.json().catch(() => ({}))) as object);
    }
    const parser = new EventParser(lastId);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(value);
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
