import { Agent, buildConnector, errors } from 'undici';
import { type AddressGuard, BlockedAddressError } from './address-guard.ts';

export interface HttpPost {
  headers: Record<string, string>;
  body: string;
  /** From the call to the last byte of the answer, in milliseconds. */
  timeoutMs: number;
  /** Longest answer that is read. */
  maxBytes: number;
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** Posts over pooled connections to guarded addresses. Never follows a redirect, never retries. */
export interface HttpClient {
  /** @throws HttpFailure */
  post(url: URL, request: HttpPost): Promise<HttpAnswer>;
  close(): Promise<void>;
}

/** There is no answer, or too much of one. The message names the reason, never the address. */
export class HttpFailure extends Error {
  /** `blocked`: the address guard refused it, nothing left. Otherwise the other side may have acted. */
  readonly kind: 'blocked' | 'timeout' | 'transport' | 'too-large';

  constructor(kind: HttpFailure['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'HttpFailure';
    this.kind = kind;
  }
}

/** Opens the one pool that all calls under one policy share. */
export function createHttpClient(guard: AddressGuard, connectTimeoutMs = 2_000): HttpClient {
  const connect = buildConnector({ timeout: connectTimeoutMs, lookup: guard.lookup });
  const agent = new Agent({
    // A literal address never reaches the lookup, so every connection is judged by its host first.
    connect: (options, callback) => {
      try {
        guard.checkHost(options.hostname);
      } catch (error) {
        callback(error as Error, null);
        return;
      }
      connect(options, callback);
    },
    connections: 64,
    keepAliveTimeout: 30_000,
    // The whole exchange has a limit of its own, which these would only duplicate.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  return {
    async post(url, request) {
      const expiry = new AbortController();
      const timer = setTimeout(() => expiry.abort(), request.timeoutMs);
      try {
        guard.checkUrl(url);
        const response = await agent.request({
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: 'POST',
          headers: { ...credentialsOf(url), ...request.headers },
          body: request.body,
          signal: expiry.signal,
        });
        const body = await readAtMost(response.body, request.maxBytes);
        return { status: response.statusCode, headers: response.headers, body };
      } catch (error) {
        throw asFailure(error, expiry.signal.aborted, request);
      } finally {
        clearTimeout(timer);
      }
    },
    async close() {
      await agent.destroy();
    },
  };
}

async function readAtMost(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    // Leaving the loop destroys the body and with it the connection.
    if (size > maxBytes) throw new HttpFailure('too-large', `the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

/** The user and password of a URL as the header that they stand for (RFC 7617). */
function credentialsOf(url: URL): Record<string, string> {
  if (url.username === '' && url.password === '') return {};
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(pair, 'utf8').toString('base64')}` };
}

function asFailure(error: unknown, expired: boolean, request: HttpPost): HttpFailure {
  if (error instanceof HttpFailure) return error;
  if (error instanceof BlockedAddressError) return new HttpFailure('blocked', error.message, error);
  if (expired) return new HttpFailure('timeout', `no answer within ${request.timeoutMs} ms`, error);
  if (error instanceof errors.ConnectTimeoutError) return new HttpFailure('timeout', 'no connection in time', error);
  const code = (error as { code?: unknown } | null)?.code;
  return new HttpFailure('transport', `connection failed${typeof code === 'string' ? ` (${code})` : ''}`, error);
}
