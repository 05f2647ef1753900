import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, invalidRequest } from '../domain/errors.ts';
import { ANSWER_HEADERS, failure } from './envelope.ts';

/** The address a server listens on, and the variable that sets its port. */
export interface ListenAddress {
  host: string;
  /** 0: any free port. */
  port: number;
  /** The name of this variable appears in the error when the port is not available. */
  variable: string;
}

/** A server of the service. */
export interface HttpServer {
  /**
   * Starts listening; resolves with the URL.
   * @throws Error that names the variable to change when the address cannot be had
   */
  listen(where: ListenAddress): Promise<string>;
  /**
   * Answers new requests with 503 and lets running requests finish for `graceMs`. Then stops listening and closes the
   * remaining connections. The probes answer until then. Safe to call twice.
   */
  close(graceMs: number): Promise<void>;
}

/**
 * Starts listening; resolves with the URL.
 * @throws Error that names the variable to change when the address cannot be had
 */
export async function listenOn(app: FastifyInstance, { host, port, variable }: ListenAddress): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    const reason = REASONS[code] ?? code;
    throw new Error(
      `Cannot listen on ${host} port ${port}: ${reason}. ${variable} chooses the port, HOST the address`,
      {
        cause,
      },
    );
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program has it',
  EACCES: 'this user may not use it',
  EADDRNOTAVAIL: 'this machine does not have the address',
  ENOTFOUND: 'there is no such host',
};

/**
 * Answers input from which Node makes no request: a head that cannot be parsed, or a request that arrives too slowly.
 * Writes the answer straight to the socket, then closes the socket.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket, arrivalSeconds: number): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, appError } = translate(error, arrivalSeconds);
  const body = JSON.stringify(failure(appError));
  const headers = Object.entries(ANSWER_HEADERS).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `${headers.join('')}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}

function translate(error: NodeJS.ErrnoException, arrivalSeconds: number): { status: string; appError: AppError } {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return {
      status: '408 Request Timeout',
      appError: new AppError('REQUEST_TIMEOUT', { seconds: String(arrivalSeconds) }),
    };
  }
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return {
      status: '431 Request Header Fields Too Large',
      appError: invalidRequest('The header fields are too large'),
    };
  }
  return { status: '400 Bad Request', appError: invalidRequest('The request is not valid HTTP') };
}

/**
 * Closes connections whose client does not read its answers. Unread answers would stay in memory as long as the
 * connection, and pipelined requests make many of them. Node restarts a connection's timeout with each byte in either
 * direction, also within a long answer. When the timeout ends, the connection is closed only if unsent bytes wait on
 * it. A slow handler has sent nothing yet, so its connection stays.
 */
export function cutStalledReaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.raw.on('timeout', cutIfUnread);
    done();
  });
}

function cutIfUnread(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}

/** What is done at the end of a turn of the event loop, for all requests of the turn. */
export class TurnEnd {
  #answers: { send(error: null, payload: unknown): void; payload: unknown }[] = [];
  #later: (() => void)[] = [];
  #isComing = false;

  /** Runs at the end of the turn, after all answers of the turn are sent. */
  afterAnswers(todo: () => void): void {
    this.#later.push(todo);
    this.#come();
  }

  /**
   * Sends all answers of one turn together, at its end. The reader wakes once instead of once for each answer.
   */
  answerTogether(app: FastifyInstance): void {
    app.addHook('onSend', (_request, _reply, payload, send) => {
      this.#answers.push({ send, payload });
      this.#come();
    });
  }

  #come(): void {
    if (this.#isComing) return;
    this.#isComing = true;
    setImmediate(this.#end);
  }

  readonly #end = (): void => {
    const answers = this.#answers;
    const later = this.#later;
    this.#answers = [];
    this.#later = [];
    this.#isComing = false;
    for (const { send, payload } of answers) send(null, payload);
    for (const todo of later) todo();
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether `100 Continue` was sent. */
    isContinued: boolean;
  }
}

/**
 * Answers `Expect: 100-continue` only when the request is admitted and its body is not too large (RFC 9110, 10.1.1).
 * Node would answer it before the key is known. An unknown expectation is ignored; Node would answer it with an empty
 * 417.
 */
export function answerExpectations(app: FastifyInstance): void {
  const { server } = app;
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  app.decorateRequest('isContinued', false);
  app.addHook('preParsing', (request, reply, _payload, done) => {
    // Fastify refuses a larger body next.
    if (awaitsContinue(request) && !(Number(request.headers['content-length']) > request.routeOptions.bodyLimit)) {
      request.isContinued = true;
      reply.raw.writeContinue();
    }
    done();
  });
}

/** Whether the client waits for `100 Continue` before it sends its body. */
export function awaitsContinue({ raw, headers: { expect }, isContinued }: FastifyRequest): boolean {
  return expect !== undefined && !isContinued && raw.httpVersion === '1.1' && /\b100-continue\b/i.test(expect);
}
