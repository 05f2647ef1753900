import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One call as the double received it. */
export interface DoubleCall {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
  readonly headers: IncomingMessage['headers'];
  /** The connection's remote port. Calls with the same port shared the connection. */
  readonly remotePort: number | undefined;
  readonly path: string;
  /** The number of calls in the request. 1 also for a call outside an array. */
  readonly batchSize: number;
}

/** How the double answers a call: as a node does, or wrongly. */
export type DoubleAnswer =
  | { result: unknown }
  | { error: { code: number; message: string; data?: unknown }; status?: number }
  /** Any HTTP answer at all. */
  | { status: number; body?: string; headers?: Record<string, string> }
  /** Another body than JSON-RPC asks for, with status 200. */
  | { body: string }
  /** The connection ends without an answer. */
  | 'hang-up'
  /** No answer for as long as the double lives. */
  | 'silence';

export interface RpcDouble {
  readonly url: string;
  readonly port: number;
  /** Every call, in the order of arrival. */
  readonly calls: readonly DoubleCall[];
  /** The same calls, as they came in requests. */
  readonly requests: readonly (readonly DoubleCall[])[];
  /**
   * Replaces the handling of batches (arrays); undefined leaves a batch to the handler of calls. Without this, a batch
   * is answered as in JSON-RPC 2.0 section 6. If the answer to one call is no JSON-RPC answer, it is the answer to the
   * whole batch.
   */
  answerBatch(handler: DoubleBatchHandler | undefined): void;
  /** Replaces the behaviour; calls that are waiting keep the old one. */
  answer(handler: DoubleHandler): void;
  /** Safe to call twice. */
  stop(): Promise<void>;
}

export type DoubleHandler = (call: DoubleCall) => DoubleAnswer | Promise<DoubleAnswer>;

/** `answers` are the entries of the array, as they are. */
export type DoubleBatchHandler = (
  calls: readonly DoubleCall[],
) => DoubleBatchAnswer | undefined | Promise<DoubleBatchAnswer | undefined>;

export type DoubleBatchAnswer = DoubleAnswer | { answers: unknown[]; status?: number };

/** A JSON-RPC server over HTTP on loopback. It can lie and fail in ways that honest nodes cannot be made to. */
export async function startRpcDouble(handler: DoubleHandler): Promise<RpcDouble> {
  const behaviour: Behaviour = { one: handler, batch: undefined };
  const requests: DoubleCall[][] = [];
  const calls: DoubleCall[] = [];
  const server = createServer((request, response) => {
    void serve(request, response, behaviour, (received) => {
      requests.push(received);
      calls.push(...received);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    calls,
    requests,
    answer(next) {
      behaviour.one = next;
    },
    answerBatch(next) {
      behaviour.batch = next;
    },
    async stop() {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Answers by method: a value is the result, a function makes it from the parameters; anything else is -32601. */
export function answersByMethod(
  table: Readonly<Record<string, unknown>>,
  otherwise?: DoubleHandler,
): (call: DoubleCall) => DoubleAnswer | Promise<DoubleAnswer> {
  return (call) => {
    const entry = table[call.method];
    if (typeof entry === 'function') return { result: (entry as (...params: unknown[]) => unknown)(...call.params) };
    if (entry !== undefined) return { result: entry };
    return otherwise?.(call) ?? { error: { code: -32601, message: `the method ${call.method} does not exist` } };
  };
}

interface Behaviour {
  one: DoubleHandler;
  batch: DoubleBatchHandler | undefined;
}

type SentCall = Pick<DoubleCall, 'id' | 'method'> & { params?: readonly unknown[] };

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  behaviour: Behaviour,
  receive: (calls: DoubleCall[]) => void,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as SentCall | SentCall[];
  const sent = Array.isArray(body) ? body : [body];
  const { headers, url: path = '' } = request;
  const { remotePort } = request.socket;
  const calls = sent.map((call) => ({
    ...call,
    params: call.params ?? [],
    headers,
    path,
    remotePort,
    batchSize: sent.length,
  }));
  receive(calls);
  const answer = Array.isArray(body) ? await answerBatch(calls, behaviour) : await answerOne(calls[0], behaviour);

  if (answer === 'silence') return;
  if (answer === 'hang-up') {
    request.socket.destroy();
    return;
  }
  if ('answers' in answer || 'result' in answer || 'error' in answer) {
    response.writeHead('status' in answer ? (answer.status ?? 200) : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify('answers' in answer ? answer.answers : entryOf(calls[0]?.id, answer)));
    return;
  }
  if ('status' in answer) response.writeHead(answer.status, answer.headers);
  response.end(answer.body ?? '');
}

async function answerOne(call: DoubleCall | undefined, { one }: Behaviour): Promise<DoubleAnswer> {
  return call === undefined ? { status: 400 } : one(call);
}

async function answerBatch(calls: readonly DoubleCall[], { one, batch }: Behaviour): Promise<DoubleBatchAnswer> {
  const whole = await batch?.(calls);
  if (whole !== undefined) {
    const isError = typeof whole === 'object' && 'error' in whole;
    return isError ? { body: JSON.stringify(entryOf(null, whole)), status: whole.status ?? 200 } : whole;
  }
  const answers = await Promise.all(calls.map(async (call) => one(call)));
  const other = answers.find((answer) => typeof answer !== 'object' || !('result' in answer || 'error' in answer));
  return other ?? { answers: answers.map((answer, index) => entryOf(calls[index]?.id, answer)) };
}

function entryOf(id: unknown, answer: DoubleAnswer): unknown {
  const said = typeof answer === 'object' && 'error' in answer ? { error: answer.error } : answer;
  return { jsonrpc: '2.0', id, ...(said as object) };
}
