import { Agent, type Dispatcher, errors } from 'undici';
import { type AddressGuard, BlockedAddressError } from './address-guard.ts';
import { basicCredentials } from './credentials.ts';
import { guardedConnector } from './guarded-connector.ts';
import { HttpFailure } from './http-failure.ts';

export interface HttpGet {
  headers: Record<string, string>;
  /** From the call to the last byte of the answer, in milliseconds. */
  timeoutMs: number;
  /** Longest answer that is read. */
  maxBytes: number;
  /**
   * `status`: the answer comes as soon as its status is there, and has no body. The rest is read and dropped within the
   * limits above, so that the connection can serve again. Beyond the limits, the connection is closed.
   */
  reads?: 'all' | 'status';
}

export interface HttpPost extends HttpGet {
  body: string;
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** Sends requests over pooled connections to guarded addresses. Never follows a redirect, never retries. */
export interface HttpClient {
  /** @throws HttpFailure */
  post(url: URL, request: HttpPost): Promise<HttpAnswer>;
  /** @throws HttpFailure */
  get(url: URL, request: HttpGet): Promise<HttpAnswer>;
  close(): Promise<void>;
}

/**
 * Limits memory. An answer that is longer than the first size fails while all answers that are being read hold more
 * than the second.
 */
const SMALL_BYTES = 1_048_576;
const MOST_BYTES_AT_ONCE = 128 * 1_048_576;

/** Opens the one pool that all calls under one policy share. */
export function createHttpClient(guard: AddressGuard, connectTimeoutMs = 2_000): HttpClient {
  const reading: Reading = { bytes: 0 };
  const agent = new Agent({
    connect: guardedConnector(guard, { timeout: connectTimeoutMs }),
    connections: 64,
    keepAliveTimeout: 30_000,
    // The whole exchange has its own limit, which these would only duplicate.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  const ask = (method: 'GET' | 'POST', url: URL, request: HttpGet, body: string | null): Promise<HttpAnswer> =>
    new Promise((resolve, reject) => {
      const exchange = new Exchange(request, reading, resolve, reject);
      try {
        guard.checkUrl(url);
        agent.dispatch(
          {
            origin: url.origin,
            path: `${url.pathname}${url.search}`,
            method,
            headers: { ...credentialsOf(url), ...request.headers },
            body,
          },
          exchange,
        );
      } catch (error) {
        exchange.fail(error);
      }
    });

  return {
    post: (url, request) => ask('POST', url, request, request.body),
    get: (url, request) => ask('GET', url, request, null),
    async close() {
      await agent.destroy();
    },
  };
}

/** The bytes held by all answers that are being read. */
interface Reading {
  bytes: number;
}

/** One request under way; settles once, whatever arrives later. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: HttpGet;
  readonly #reading: Reading;
  readonly #resolve: (answer: HttpAnswer) => void;
  readonly #reject: (failure: HttpFailure) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #held = 0;
  #status = 0;
  #headers: HttpAnswer['headers'] = {};
  #controller: Dispatcher.DispatchController | undefined;
  #failure: HttpFailure | undefined;

  constructor(
    request: HttpGet,
    reading: Reading,
    resolve: (answer: HttpAnswer) => void,
    reject: (failure: HttpFailure) => void,
  ) {
    this.#request = request;
    this.#reading = reading;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(() => this.fail(this.#expired()), request.timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // A request that ended before its turn came must not be sent any more.
    if (this.#failure !== undefined) controller.abort(this.#failure);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: HttpAnswer['headers']): void {
    this.#status = status;
    this.#headers = headers;
    // A status below 200 only announces the answer (RFC 9110, section 15.2).
    if (this.#request.reads === 'status' && status >= 200) this.#resolve({ status, headers, body: Buffer.alloc(0) });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    const { maxBytes } = this.#request;
    if (this.#size > maxBytes) this.fail(new HttpFailure('too-large', `the answer is larger than ${maxBytes} bytes`));
    else if (this.#request.reads !== 'status') this.#keep(chunk);
  }

  #keep(chunk: Buffer): void {
    if (this.#failure !== undefined) return;
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    this.#reading.bytes += chunk.length;
    if (this.#held > SMALL_BYTES && this.#reading.bytes > MOST_BYTES_AT_ONCE) {
      this.fail(new HttpFailure('transport', 'too much is being read at once'));
    }
  }

  #letGo(): void {
    this.#reading.bytes -= this.#held;
    this.#held = 0;
  }

  onResponseEnd(): void {
    clearTimeout(this.#timer);
    this.#letGo();
    const body = this.#chunks.length === 1 ? this.#chunks[0] : undefined;
    this.#resolve({ status: this.#status, headers: this.#headers, body: body ?? Buffer.concat(this.#chunks) });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  /** Ends the exchange and, when it still has one, its connection. */
  fail(error: unknown): void {
    if (this.#failure !== undefined) return;
    clearTimeout(this.#timer);
    this.#letGo();
    this.#chunks.length = 0;
    this.#failure = asFailure(error);
    this.#controller?.abort(this.#failure);
    this.#reject(this.#failure);
  }

  #expired(): HttpFailure {
    return new HttpFailure('timeout', `no answer within ${this.#request.timeoutMs} ms`);
  }
}

/** The header that a URL's user and password stand for. */
function credentialsOf(url: URL): Record<string, string> {
  const credentials = basicCredentials(url);
  return credentials === undefined ? {} : { authorization: `Basic ${credentials}` };
}

function asFailure(error: unknown): HttpFailure {
  if (error instanceof HttpFailure) return error;
  if (error instanceof BlockedAddressError) return new HttpFailure('blocked', error.message, error);
  if (error instanceof errors.ConnectTimeoutError) return new HttpFailure('timeout', 'no connection in time', error);
  const code = (error as { code?: unknown } | null)?.code;
  return new HttpFailure('transport', `connection failed${typeof code === 'string' ? ` (${code})` : ''}`, error);
}
