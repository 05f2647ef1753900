import type { Dispatcher } from 'undici';
import { BlockedAddressError } from '../address-guard.ts';
import { type ContentDecoder, createContentDecoder, parseContentCodings } from '../content-decoder.ts';
import { ConnectTimeoutError, HeadersOverflowError } from '../undici.ts';
import { answerHeaders } from './headers.ts';
import { FetchFailure, type FetchRequest } from './plugin-fetch.ts';

/** Statuses whose answers have no body (Fetch Standard 2.2.3). */
const WITHOUT_BODY = new Set([204, 205, 304]);
const MAX_STATUS_TEXT = 256;

/** One answer of one host. */
export interface HopResponse {
  status: number;
  statusText: string;
  headers: [string, string][];
  location: string | undefined;
  /** Empty where `wantsBody` said no. */
  body: Buffer;
}

/** How one hop is made. */
export interface HopRequest {
  request: FetchRequest;
  /** Longest body of the answer, inflated, in bytes. */
  maxBytes: number;
  signal: AbortSignal;
  /** Counts bytes of the answer as held by the plugin; false when the plugin may hold no more. */
  hold(bytes: number): boolean;
  /** Called with status and location. If it returns false, the connection is closed without reading on. */
  wantsBody(status: number, location: string | undefined): boolean;
}

/**
 * Sends one request and reads its answer.
 * @throws FetchFailure
 */
export function sendHop(dispatcher: Dispatcher, hop: HopRequest): Promise<HopResponse> {
  return new Promise((resolve, reject) => {
    const handler = new Exchange(hop, resolve, reject);
    const { url, method, headers, body } = hop.request;
    try {
      dispatcher.dispatch(
        {
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method,
          headers: headers.flat(),
          body: body ?? null,
        },
        handler,
      );
    } catch (error) {
      handler.fail(error);
    }
  });
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #hop: HopRequest;
  readonly #resolve: (answer: HopResponse) => void;
  readonly #reject: (failure: FetchFailure) => void;
  readonly #onAbort = () => this.fail(this.#hop.signal.reason);
  readonly #chunks: Buffer[] = [];
  #codings: string[] = [];
  #decoder: ContentDecoder | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #head: Omit<HopResponse, 'body'> | undefined;
  /** Bytes as they came; `#size` counts them inflated. */
  #received = 0;
  #size = 0;
  #sent = false;
  #settled = false;

  constructor(hop: HopRequest, resolve: (answer: HopResponse) => void, reject: (failure: FetchFailure) => void) {
    this.#hop = hop;
    this.#resolve = resolve;
    this.#reject = reject;
    if (hop.signal.aborted) this.#onAbort();
    else hop.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // A request that ended before its turn came must not be sent any more.
    if (this.#settled) controller.abort(new Error('over'));
    else this.#sent = true;
  }

  onRequestUpgrade(
    _controller: Dispatcher.DispatchController,
    _status: number,
    _headers: unknown,
    socket: { destroy(): void },
  ): void {
    socket.destroy();
    this.fail(new FetchFailure('transport', `${this.#host} speaks another protocol`));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    raw: Record<string, string | string[] | undefined>,
    statusText = '',
  ): void {
    // A status below 200 only announces the answer (RFC 9110, section 15.2).
    if (this.#settled || status < 200) return;
    const headers = answerHeaders(raw);
    const location = headers.find(([name]) => name === 'location')?.[1];
    this.#head = { status, statusText: statusText.slice(0, MAX_STATUS_TEXT), headers, location };
    if (!this.#hop.wantsBody(status, location)) {
      this.#finish(Buffer.alloc(0));
      this.#controller?.abort(new Error('the body is not wanted'));
      return;
    }
    if (this.#hop.request.method === 'HEAD' || WITHOUT_BODY.has(status)) return;
    try {
      const encodings = headers.filter(([name]) => name === 'content-encoding').map(([, value]) => value);
      this.#codings = parseContentCodings(encodings.join(','));
    } catch (error) {
      this.fail(
        new FetchFailure('transport', `${this.#host}: ${error instanceof Error ? error.message : 'unreadable'}`),
      );
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    this.#received += chunk.length;
    if (this.#received > this.#hop.maxBytes) return this.fail(this.#tooLarge());
    if (this.#codings.length === 0) return this.#take(chunk);
    this.#decoder ??= this.#decode(chunk[0] ?? 0);
    const { input } = this.#decoder;
    if (input.write(chunk)) return;
    this.#controller?.pause();
    input.once('drain', () => this.#controller?.resume());
  }

  onResponseEnd(): void {
    if (this.#settled) return;
    if (this.#decoder === undefined) this.#finish(Buffer.concat(this.#chunks));
    else this.#decoder.input.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  /** Ends the exchange and, when it still has one, its connection. */
  fail(error: unknown): void {
    if (this.#settled) return;
    this.#close();
    const failure = asFailure(error, this.#host, !this.#sent);
    this.#controller?.abort(failure);
    this.#reject(failure);
  }

  #decode(firstByte: number): ContentDecoder {
    const decoder = createContentDecoder(this.#codings, firstByte);
    decoder.output.on('data', (chunk: Buffer) => this.#take(chunk));
    decoder.output.on('end', () => this.#finish(Buffer.concat(this.#chunks)));
    const broken = () => this.fail(new FetchFailure('transport', `the body of ${this.#host} cannot be inflated`));
    decoder.input.on('error', broken);
    decoder.output.on('error', broken);
    return decoder;
  }

  /** Bytes are counted after inflating, so that a small compressed bomb cannot exceed the limit. */
  #take(chunk: Buffer): void {
    if (this.#settled) return;
    this.#size += chunk.length;
    if (this.#size > this.#hop.maxBytes) this.fail(this.#tooLarge());
    else if (!this.#hop.hold(chunk.length)) {
      this.fail(new FetchFailure('too-large', 'the answers that this plugin has not read yet take too much memory'));
    } else this.#chunks.push(chunk);
  }

  #finish(body: Buffer): void {
    if (this.#settled || this.#head === undefined) return;
    this.#close();
    this.#resolve({ ...this.#head, body });
  }

  #close(): void {
    this.#settled = true;
    this.#hop.signal.removeEventListener('abort', this.#onAbort);
    this.#decoder?.destroy();
  }

  #tooLarge(): FetchFailure {
    return new FetchFailure(
      'too-large',
      `the answer of ${this.#host} is larger than ${this.#hop.maxBytes} bytes (max_bytes)`,
    );
  }

  get #host(): string {
    return this.#hop.request.url.host;
  }
}

function asFailure(error: unknown, host: string, unsent: boolean): FetchFailure {
  if (error instanceof FetchFailure) {
    return error.unsent === unsent
      ? error
      : new FetchFailure(error.kind, error.message, { unsent, cause: error.cause });
  }
  if (error instanceof BlockedAddressError)
    return new FetchFailure('refused', error.message, { unsent: true, cause: error });
  if (error instanceof ConnectTimeoutError) {
    return new FetchFailure('timeout', `no connection to ${host} in time`, { unsent: true, cause: error });
  }
  if (error instanceof HeadersOverflowError) {
    return new FetchFailure('too-large', `the headers of ${host}'s answer are too large`, { cause: error });
  }
  const code = (error as { code?: unknown } | null)?.code;
  const shown = typeof code === 'string' ? ` (${code})` : '';
  return new FetchFailure('transport', `the connection to ${host} failed${shown}`, { unsent, cause: error });
}
