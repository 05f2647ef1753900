import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HttpAnswer, HttpClient, HttpGet, HttpPost } from '../../../src/egress/http-client.ts';

/** A request to a service. */
export interface Asked {
  method: string;
  url: URL;
  headers: IncomingHttpHeaders;
  /** The exact bytes. */
  bytes: Buffer;
  /** The body as JSON; undefined if it is no JSON. */
  json: Record<string, unknown> | undefined;
}

/** The answer of a service. */
export interface Answered {
  status: number;
  json: unknown;
  headers?: Record<string, string>;
}

/** The time that a service has used: wall time and processor time. */
export interface Spent {
  ms: number;
  cpuMs: number;
}

/**
 * A service on loopback that speaks the real wire protocol. Doubles define its answers. This class defines its
 * failures.
 */
export class ServiceDouble {
  readonly #answer: (asked: Asked) => Answered;
  readonly asked: Asked[] = [];
  /** Replaces the double's answer, unless it returns undefined. */
  instead: (asked: Asked) => Answered | undefined = () => undefined;
  #server: Server | undefined;
  #port = 0;
  #held: PromiseWithResolvers<void> | undefined;

  constructor(answer: (asked: Asked) => Answered) {
    this.#answer = answer;
  }

  /** For instance `http://127.0.0.1:41234`; the same after each start. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The same service without a network. It answers from memory, and the time that it uses is counted. */
  inMemory(): Pick<HttpClient, 'get' | 'post'> & { spent: Spent } {
    const ask = async (method: string, url: URL, { headers }: HttpGet, body = ''): Promise<HttpAnswer> => {
      const [began, cpu] = [performance.now(), process.threadCpuUsage()];
      const names = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
      const asked = askedOf(method, url, { ...names, host: url.host }, [Buffer.from(body)]);
      const { status, json, headers: said = {} } = this.instead(asked) ?? this.#answer(asked);
      const { user, system } = process.threadCpuUsage(cpu);
      memory.spent.ms += performance.now() - began;
      memory.spent.cpuMs += (user + system) / 1000;
      return { status, redirect: '', headers: said, body: Buffer.from(JSON.stringify(json)) };
    };
    const memory = {
      spent: { ms: 0, cpuMs: 0 },
      get: (url: URL, given: HttpGet) => ask('GET', url, given),
      post: (url: URL, given: HttpPost) => ask('POST', url, given, given.body),
    };
    return memory;
  }

  async start(): Promise<this> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const url = new URL(request.url ?? '', this.url);
        void this.#answered(askedOf(request.method ?? '', url, request.headers, chunks), response);
      });
    });
    this.#server = server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    return this;
  }

  async #answered(asked: Asked, response: ServerResponse): Promise<void> {
    this.asked.push(asked);
    await this.#held?.promise;
    const { status, json, headers = {} } = this.instead(asked) ?? this.#answer(asked);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof json === 'string' ? json : JSON.stringify(json));
  }

  /** Makes its address refuse every connection until the next start. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    this.#held?.resolve();
    if (server === undefined) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }

  /** From now on, accepts requests and answers none, until the returned function is called. */
  hold(): () => void {
    const held = Promise.withResolvers<void>();
    this.#held = held;
    return () => {
      this.#held = undefined;
      held.resolve();
    };
  }
}

function askedOf(method: string, url: URL, headers: IncomingHttpHeaders, chunks: readonly Buffer[]): Asked {
  const bytes = Buffer.concat(chunks);
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString('utf8'));
  } catch {
    json = undefined;
  }
  const isRecord = typeof json === 'object' && json !== null && !Array.isArray(json);
  return { method, url, headers, bytes, json: isRecord ? (json as Record<string, unknown>) : undefined };
}
