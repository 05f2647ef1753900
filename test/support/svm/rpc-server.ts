import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { JsonTextError, parseJson, writeJson } from '../../../src/domain/json/json-text.ts';
import { accountMethods } from './methods/account-methods.ts';
import { chainMethods } from './methods/chain-methods.ts';
import { historyMethods } from './methods/history-methods.ts';
import type { Methods } from './methods/method.ts';
import { tokenMethods } from './methods/token-methods.ts';
import { transactionMethods } from './methods/transaction-methods.ts';
import type { NodeView } from './node-view.ts';
import { CODES, RpcError } from './rpc-error.ts';
import { RpcFaults } from './rpc-faults.ts';

const METHODS: Methods = {
  ...chainMethods,
  ...accountMethods,
  ...tokenMethods,
  ...transactionMethods,
  ...historyMethods,
};

/** What goes out instead of JSON. */
type Broken =
  | { kind: 'http'; status: number; body?: string; headers?: Readonly<Record<string, string>> }
  | { kind: 'cut' }
  | { kind: 'hang' };

/** Of a request; a node started without `--rpc-max-request-body-size` takes no more. */
const MOST_BYTES = 50 * 1024;
const OTHER_TYPE = {
  kind: 'http',
  status: 415,
  body: 'Supplied content type is not allowed. Content-Type: application/json is required\n',
} as const;

class BrokenAnswer extends Error {
  readonly broken: Broken;

  constructor(broken: Broken) {
    super(broken.kind);
    this.broken = broken;
  }
}

/** One endpoint on loopback over a node's view of the ledger. */
export class RpcServer {
  readonly view: NodeView;
  readonly faults = new RpcFaults();
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  /** How often each method was called. */
  readonly calls = new Map<string, number>();

  constructor(view: NodeView) {
    this.view = view;
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
      const body = Buffer.concat(chunks);
      if (!request.headers['content-type']?.startsWith('application/json')) throw new BrokenAnswer(OTHER_TYPE);
      if (body.length > MOST_BYTES) throw new BrokenAnswer({ kind: 'http', status: 413 });
      const answer = await this.#answer(body.toString('utf8'));
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(writeJson(answer));
    } catch (error) {
      this.#break(response, error);
    }
  }

  #break(response: ServerResponse, error: unknown): void {
    const broken = error instanceof BrokenAnswer ? error.broken : { kind: 'cut' as const };
    if (broken.kind === 'cut') response.destroy();
    if (broken.kind === 'http') response.writeHead(broken.status, broken.headers).end(broken.body ?? '');
  }

  async #answer(text: string): Promise<unknown> {
    let body: unknown;
    try {
      body = parseJson(text, 'plain');
    } catch (error) {
      if (!(error instanceof JsonTextError)) throw error;
      return { jsonrpc: '2.0', error: { code: CODES.parse, message: 'Parse error' }, id: null };
    }
    if (!Array.isArray(body)) return this.#one(body);
    if (body.length === 0) return invalidRequest(null);
    const answers: unknown[] = [];
    for (const call of body) answers.push(await this.#one(call));
    return answers;
  }

  async #one(call: unknown): Promise<unknown> {
    const { jsonrpc, id = null, method, params = [] } = (call ?? {}) as Record<string, unknown>;
    if (jsonrpc !== '2.0' || typeof method !== 'string') return invalidRequest(id);
    try {
      return { jsonrpc: '2.0', result: await this.#perform(method, params), id };
    } catch (error) {
      if (error instanceof BrokenAnswer) throw error;
      const { code, message, data } =
        error instanceof RpcError ? error : new RpcError(-32603, `Internal error: ${String(error)}`);
      return { jsonrpc: '2.0', error: { code, message, ...(data === undefined ? {} : { data }) }, id };
    }
  }

  async #perform(name: string, params: unknown): Promise<unknown> {
    this.calls.set(name, (this.calls.get(name) ?? 0) + 1);
    const fault = this.faults.take(name);
    if (fault?.beforeMs !== undefined) await sleep(fault.beforeMs);
    const act = fault?.act;
    if (act?.kind === 'error') throw new RpcError(act.code, act.message, act.data);
    if (act?.kind === 'hang' || act?.kind === 'http') throw new BrokenAnswer(act);
    const perform = async () => (act?.kind === 'result' ? act.result : this.#call(name, params));
    const [result] = await Promise.allSettled([perform()]);
    if (fault?.afterMs !== undefined) await sleep(fault.afterMs);
    // Whatever the call came to, nobody is told.
    if (act?.kind === 'cut') throw new BrokenAnswer(act);
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  }

  #call(name: string, params: unknown): unknown {
    const method = METHODS[name];
    if (method === undefined) throw new RpcError(CODES.unknownMethod, 'Method not found');
    if (!Array.isArray(params)) throw new RpcError(CODES.invalidParams, '`params` should be an array');
    return method(this.view, params);
  }
}

function invalidRequest(id: unknown) {
  return { jsonrpc: '2.0', error: { code: CODES.invalidRequest, message: 'Invalid request' }, id };
}
