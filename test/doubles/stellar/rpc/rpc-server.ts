import { BrokenAnswer, FaultError, type Faults } from '../../counterpart/faults.ts';
import { type Answer, type Asked, LoopbackServer } from '../../counterpart/loopback-server.ts';
import { chainMethods } from './chain-methods.ts';
import { eventMethods } from './event-methods.ts';
import { historyMethods } from './history-methods.ts';
import type { Methods } from './method.ts';
import { fieldsOf } from './params.ts';
import { CODES, RpcError } from './rpc-error.ts';
import { simulationMethods } from './simulation-methods.ts';
import { transactionMethods } from './transaction-methods.ts';
import type { View } from './view.ts';

const METHODS: Methods = {
  ...chainMethods,
  ...transactionMethods,
  ...simulationMethods,
  ...historyMethods,
  ...eventMethods,
};

/** stellar-rpc's limit for a request. */
const MAX_BYTES = 512 * 1024;

/** Soroban RPC over one node's view. */
export class RpcServer {
  readonly #view: View;
  readonly #faults: Faults;
  readonly #count: (name: string) => void;
  readonly #server = new LoopbackServer((asked) => this.#answer(asked));

  constructor(view: View, faults: Faults, count: (name: string) => void) {
    this.#view = view;
    this.#faults = faults;
    this.#count = count;
  }

  /** Resolves with the server's URL. */
  listen(): Promise<string> {
    return this.#server.listen();
  }

  async #answer({ method, headers, body }: Asked): Promise<Answer> {
    if (method !== 'POST') return { status: 405, type: 'text/plain', body: '' };
    if (!headers['content-type']?.startsWith('application/json')) {
      return { status: 415, type: 'text/plain', body: '' };
    }
    if (body.length > MAX_BYTES) return { status: 413, type: 'text/plain', body: '' };
    return { status: 200, type: 'application/json', body: JSON.stringify(await this.#perform(body)) };
  }

  async #perform(body: string): Promise<unknown> {
    let calls: unknown;
    try {
      calls = JSON.parse(body);
    } catch {
      return failure(null, CODES.parse, 'invalid JSON');
    }
    if (!Array.isArray(calls)) return this.#one(calls);
    if (calls.length === 0) return failure(null, CODES.invalidRequest, 'empty request batch');
    const answers: unknown[] = [];
    for (const call of calls) answers.push(await this.#one(call));
    return answers;
  }

  async #one(call: unknown): Promise<unknown> {
    const { jsonrpc, id = null, method, params } = (call ?? {}) as Record<string, unknown>;
    if (jsonrpc !== '2.0' || typeof method !== 'string') {
      return failure(id, CODES.invalidRequest, 'invalid request');
    }
    this.#count(method);
    try {
      const result = await this.#faults.during(method, () => this.#call(method, params));
      return { jsonrpc: '2.0', id, result };
    } catch (error) {
      if (error instanceof BrokenAnswer) throw error;
      if (error instanceof FaultError) return failure(id, error.code, error.message, error.data);
      const { code, message } = error instanceof RpcError ? error : new RpcError(CODES.internal, String(error));
      return failure(id, code, message);
    }
  }

  #call(name: string, params: unknown): unknown {
    const method = METHODS[name];
    if (method === undefined) throw new RpcError(CODES.unknownMethod, `no such method "${name}"`);
    return method(this.#view, fieldsOf(params));
  }
}

function failure(id: unknown, code: number, message: string, data?: unknown) {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}
