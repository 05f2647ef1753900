import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One call as the double received it. */
export interface DoubleCall {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
  readonly headers: IncomingMessage['headers'];
  /** Of the connection: calls with the same one shared it. */
  readonly remotePort: number | undefined;
  readonly path: string;
}

/** How the double answers a call: as a node, or as something that is none. */
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
  /** Replaces the behaviour; calls that are waiting keep the old one. */
  answer(handler: DoubleHandler): void;
  /** Safe to call twice. */
  stop(): Promise<void>;
}

export type DoubleHandler = (call: DoubleCall) => DoubleAnswer | Promise<DoubleAnswer>;

/** A JSON-RPC server over HTTP on loopback, for the lies and faults that no honest node can be made to show. */
export async function startRpcDouble(handler: DoubleHandler): Promise<RpcDouble> {
  let current = handler;
  const calls: DoubleCall[] = [];
  const server = createServer((request, response) => {
    void serve(request, response, calls, (call) => current(call));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    calls,
    answer(next) {
      current = next;
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

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  calls: DoubleCall[],
  handler: DoubleHandler,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Omit<
    DoubleCall,
    'headers' | 'path' | 'remotePort'
  >;
  const { remotePort } = request.socket;
  const call = { ...body, params: body.params ?? [], headers: request.headers, path: request.url ?? '', remotePort };
  calls.push(call);

  const answer = await handler(call);
  if (answer === 'silence') return;
  if (answer === 'hang-up') {
    request.socket.destroy();
    return;
  }
  if ('result' in answer || 'error' in answer) {
    response.writeHead('status' in answer ? (answer.status ?? 200) : 200, { 'content-type': 'application/json' });
    const said = 'result' in answer ? { result: answer.result } : { error: answer.error };
    response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, ...said }));
    return;
  }
  if ('status' in answer) response.writeHead(answer.status, answer.headers);
  response.end(answer.body ?? '');
}
