import type { buildConnector as Connectors, Dispatcher } from 'undici';
import { messageOf } from '../domain/errors.ts';
import { type AddressGuard, BlockedAddressError } from './address-guard.ts';
import { type ContentDecoder, createContentDecoder, parseContentCodings } from './content-decoder.ts';
import { HttpFailure } from './http-failure.ts';
import { Agent, buildConnector, ConnectTimeoutError } from './undici.ts';

export interface HttpGet {
  headers: Record<string, string>;
  /** From the call to the last byte of the answer, in milliseconds. */
  timeoutMs: number;
  /** Longest answer that is read, as it came and decompressed. */
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
  /** For messages: where a redirect leads, which is not followed. Empty for every other answer. */
  redirect: string;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/**
 * Sends requests over pooled connections to guarded addresses. Never follows a redirect, never retries. Asks for bodies
 * that are not compressed, and reads those that are all the same (RFC 9110, section 12.5.3 allows a server that).
 */
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
const MAX_BYTES_AT_ONCE = 128 * 1_048_576;

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
      const exchange = new Exchange({ url, request, reading }, resolve, reject);
      try {
        guard.checkUrl(url);
        agent.dispatch(
          {
            origin: url.origin,
            path: `${url.pathname}${url.search}`,
            method,
            headers: { 'accept-encoding': 'identity', ...credentialsOf(url), ...request.headers },
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
  readonly #url: URL;
  readonly #request: HttpGet;
  readonly #reading: Reading;
  readonly #resolve: (answer: HttpAnswer) => void;
  readonly #reject: (failure: HttpFailure) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  /** Bytes as they came, and those of the body that are held. */
  #received = 0;
  #held = 0;
  #head: Omit<HttpAnswer, 'body'> = { status: 0, redirect: '', headers: {} };
  #codings: string[] = [];
  #decoder: ContentDecoder | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #failure: HttpFailure | undefined;

  constructor(
    { url, request, reading }: { url: URL; request: HttpGet; reading: Reading },
    resolve: (answer: HttpAnswer) => void,
    reject: (failure: HttpFailure) => void,
  ) {
    this.#url = url;
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
    // A status below 200 only announces the answer (RFC 9110, section 15.2).
    if (status < 200) return;
    this.#head = { status, headers, redirect: redirectIn(status, headers['location'], this.#url) };
    if (this.#request.reads === 'status') {
      this.#resolve({ ...this.#head, body: Buffer.alloc(0) });
      return;
    }
    try {
      this.#codings = parseContentCodings(String(headers['content-encoding'] ?? ''));
    } catch (error) {
      this.fail(new HttpFailure('transport', messageOf(error), error));
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#received += chunk.length;
    if (this.#received > this.#request.maxBytes) this.fail(this.#tooLarge());
    else if (this.#request.reads === 'status' || this.#failure !== undefined) return;
    else if (this.#codings.length === 0) this.#keep(chunk);
    else this.#decode(controller, chunk);
  }

  #decode(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#decoder === undefined) {
      this.#decoder = createContentDecoder(this.#codings, chunk[0] ?? 0);
      const { input, output } = this.#decoder;
      const broken = (error: Error) =>
        this.fail(new HttpFailure('transport', 'its body cannot be decompressed', error));
      input.on('error', broken);
      output.on('error', broken);
      output.on('data', (part: Buffer) => this.#keep(part));
      output.on('end', () => this.#finish());
    }
    const { input } = this.#decoder;
    if (input.write(chunk)) return;
    controller.pause();
    input.once('drain', () => controller.resume());
  }

  /** Bytes are counted decompressed, so that a small body cannot grow beyond the limit. */
  #keep(chunk: Buffer): void {
    if (this.#failure !== undefined) return;
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    this.#reading.bytes += chunk.length;
    if (this.#held > this.#request.maxBytes) this.fail(this.#tooLarge());
    else if (this.#held > SMALL_BYTES && this.#reading.bytes > MAX_BYTES_AT_ONCE) {
      this.fail(new HttpFailure('transport', 'too much is being read at once'));
    }
  }

  #letGo(): void {
    clearTimeout(this.#timer);
    this.#decoder?.destroy();
    this.#reading.bytes -= this.#held;
    this.#held = 0;
  }

  onResponseEnd(): void {
    if (this.#decoder === undefined) this.#finish();
    else this.#decoder.input.end();
  }

  #finish(): void {
    if (this.#failure !== undefined) return;
    this.#letGo();
    const body = this.#chunks.length === 1 ? this.#chunks[0] : undefined;
    this.#resolve({ ...this.#head, body: body ?? Buffer.concat(this.#chunks) });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  /** Ends the exchange and, when it still has one, its connection. */
  fail(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#letGo();
    this.#chunks.length = 0;
    this.#failure = asFailure(error);
    this.#controller?.abort(this.#failure);
    this.#reject(this.#failure);
  }

  #tooLarge(): HttpFailure {
    return new HttpFailure('too-large', `the answer is larger than ${this.#request.maxBytes} bytes`);
  }

  #expired(): HttpFailure {
    return new HttpFailure('timeout', `no answer within ${this.#request.timeoutMs} ms`);
  }
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Names scheme and host of a redirect's target at most: path and query often hold a key. */
function redirectIn(status: number, location: string | string[] | undefined, from: URL): string {
  if (!REDIRECTS.has(status) || location === undefined) return '';
  const to = URL.parse(String(location), from);
  const isSame = to?.origin === from.origin;
  const where = to === null ? 'what is not a URL' : `${to.protocol}//${to.host}${isSame ? ', another path' : ''}`;
  return ` (a redirect to ${where}: redirects are not followed, so enter the address itself)`;
}

/** The header that a URL's user and password stand for. */
function credentialsOf(url: URL): Record<string, string> {
  const credentials = basicCredentials(url);
  return credentials === undefined ? {} : { authorization: `Basic ${credentials}` };
}

function asFailure(error: unknown): HttpFailure {
  if (error instanceof HttpFailure) return error;
  if (error instanceof BlockedAddressError) return new HttpFailure('blocked', error.message, error);
  if (error instanceof ConnectTimeoutError) return new HttpFailure('timeout', 'no connection in time', error);
  const code = (error as { code?: unknown } | null)?.code;
  return new HttpFailure('transport', `connection failed${typeof code === 'string' ? ` (${code})` : ''}`, error);
}

/**
 * Decodes the escapes in a piece of a URL. Returns the piece as it is if they are invalid, as in a password with a bare
 * `%`.
 */
export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A URL's user-info in the form that is sent (RFC 7617); undefined if it has none. */
export function basicCredentials({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return Buffer.from(`${unescaped(username)}:${unescaped(password)}`, 'utf8').toString('base64');
}

/**
 * Opens connections to the addresses that the guard lets through. A literal address never reaches the lookup, so the
 * host of every connection is checked first.
 */
export function guardedConnector(guard: AddressGuard, options: Connectors.BuildOptions): Connectors.connector {
  const connect = buildConnector({ ...options, lookup: guard.lookup });
  return (target, callback) => {
    try {
      guard.checkHost(target.hostname);
    } catch (error) {
      callback(error as Error, null);
      return;
    }
    connect(target, callback);
  };
}
