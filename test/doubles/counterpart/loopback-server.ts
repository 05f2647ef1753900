import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BrokenAnswer } from './faults.ts';

export interface Asked {
  readonly method: string;
  /** Path and query. */
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/**
 * Longer than clients on a busy machine are silent. A request sent into a connection that has just closed would be
 * lost.
 */
const IDLE_MS = 120_000;

/** One HTTP endpoint on loopback, which a test can make fail. */
export class LoopbackServer {
  readonly #answer: (asked: Asked) => Promise<Answer>;
  readonly #server = createServer(
    { keepAliveTimeout: IDLE_MS },
    (request, response) => void this.#serve(request, response),
  );

  constructor(answer: (asked: Asked) => Promise<Answer>) {
    this.#answer = answer;
  }

  /** Resolves with its address. */
  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { status, type, body } = await this.#answer({
        method: request.method ?? 'GET',
        url: new URL(request.url ?? '/', 'http://localhost'),
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      });
      response.writeHead(status, { 'content-type': type }).end(body);
    } catch (error) {
      breakOff(response, error);
    }
  }
}

function breakOff(response: ServerResponse, error: unknown): void {
  if (!(error instanceof BrokenAnswer)) {
    response.writeHead(500, { 'content-type': 'text/plain' }).end(String(error));
    return;
  }
  const { broken } = error;
  if (broken.kind === 'hang') return;
  if (broken.kind === 'http') response.writeHead(broken.status, broken.headers).end(broken.body ?? '');
  else response.destroy();
}
