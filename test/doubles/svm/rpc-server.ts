import { JsonTextError, parseJson, writeJson } from '../../../src/domain/json/json-text.ts';
import { BrokenAnswer, FaultError, Faults } from '../counterpart/faults.ts';
import { type Answer, type Asked, LoopbackServer } from '../counterpart/loopback-server.ts';
import { accountMethods } from './methods/account-methods.ts';
import { chainMethods } from './methods/chain-methods.ts';
import { historyMethods } from './methods/history-methods.ts';
import type { Methods } from './methods/method.ts';
import { tokenMethods } from './methods/token-methods.ts';
import { transactionMethods } from './methods/transaction-methods.ts';
import type { NodeView } from './node-view.ts';
import { CODES, RpcError } from './rpc-error.ts';

const METHODS: Methods = {
  ...chainMethods,
  ...accountMethods,
  ...tokenMethods,
  ...transactionMethods,
  ...historyMethods,
};

/** The most bytes of a request, as for a node without `--rpc-max-request-body-size`. */
const MAX_BYTES = 50 * 1024;
const OTHER_TYPE = {
  status: 415,
  type: 'text/plain',
  body: 'Supplied content type is not allowed. Content-Type: application/json is required\n',
};

/** One endpoint on loopback over a node's view of the ledger. */
export class RpcServer {
  readonly view: NodeView;
  readonly faults = new Faults();
  readonly #server = new LoopbackServer((asked) => this.#answer(asked));
  /** How often each method was called. */
  readonly calls = new Map<string, number>();

  constructor(view: NodeView) {
    this.view = view;
  }

  /** Resolves with its address. */
  listen(): Promise<string> {
    return this.#server.listen();
  }

  async #answer({ headers, body }: Asked): Promise<Answer> {
    if (!headers['content-type']?.startsWith('application/json')) return OTHER_TYPE;
    if (Buffer.byteLength(body) > MAX_BYTES) return { status: 413, type: 'text/plain', body: '' };
    return { status: 200, type: 'application/json; charset=utf-8', body: writeJson(await this.#perform(body)) };
  }

  async #perform(text: string): Promise<unknown> {
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
    this.calls.set(method, (this.calls.get(method) ?? 0) + 1);
    try {
      const result = await this.faults.during(method, () => this.#call(method, params), params);
      return { jsonrpc: '2.0', result, id };
    } catch (error) {
      if (error instanceof BrokenAnswer) throw error;
      const isWorded = error instanceof RpcError || error instanceof FaultError;
      const { code, message, data } = isWorded ? error : new RpcError(-32603, `Internal error: ${String(error)}`);
      return { jsonrpc: '2.0', error: { code, message, ...(data === undefined ? {} : { data }) }, id };
    }
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
