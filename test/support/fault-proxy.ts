import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request as send } from 'undici';
import {
  type CallFaults,
  type FaultRates,
  faultAt,
  faultsOfCall,
  NO_CALL_FAULTS,
  type ProxiedAnswer,
  type ProxiedCall,
  REQUEST_FAULTS,
  type RequestFault,
} from './faults/faults.ts';
import { seededUnit } from './seeded.ts';

export interface FaultProxyOptions {
  /** The node's address. */
  target: string;
  seed: number;
  /** Distinguishes proxies with the same seed. Also the last part of the address. */
  name?: string;
  rates: FaultRates;
  /** Faults of single calls; absent: none. Must not be shared with another proxy. */
  calls?: CallFaults;
  /** Whether delays and false answers are off at the moment; absent: they never are. */
  isTruthful?(): boolean;
  /** The longest delay, in milliseconds; default 1,500. */
  longestDelayMs?: number;
  /**
   * Called with each call before the node gets it, and after the node has answered. The proxy waits for the returned
   * promise.
   */
  watch?(method: string, moment: 'before' | 'after'): unknown;
}

/**
 * A proxy for JSON-RPC over HTTP that makes faults by a plan. The n-th call of a method gets the same fault in each
 * run.
 */
export interface FaultProxy {
  readonly url: string;
  /** How often each fault was made. */
  readonly injected: ReadonlyMap<string, number>;
  /** HTTP requests so far. */
  readonly requests: number;
  /**
   * Sets how often each fault is made.
   * @throws for an unknown fault
   */
  setRates(rates: FaultRates): void;
  /** Safe to call twice. */
  stop(): Promise<void>;
}

/** The number of true answers to one call that are kept, to be given again later. */
const MEMORY = 8;
const DEFAULT_MAX_DELAY_MS = 1_500;

/** Starts a proxy on loopback, on a free port. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const { name = 'proxy' } = options;
  const proxy = new Proxy(options, name);
  proxy.server.listen(0, '127.0.0.1');
  await once(proxy.server, 'listening');
  const { port } = proxy.server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/${name}`,
    injected: proxy.injected,
    get requests() {
      return proxy.requests;
    },
    setRates: (rates) => proxy.setRates(rates),
    stop: () => proxy.stop(),
  };
}

type Message = ProxiedCall & { jsonrpc: string };
type Reply = { jsonrpc: string; id: unknown } & ProxiedAnswer;

/** A call, its fault, and the place in the plan from which the fault was drawn. */
interface Fate {
  message: Message;
  fault: string | undefined;
  unit: number;
}

class Proxy {
  readonly server: Server;
  readonly injected = new Map<string, number>();
  requests = 0;
  readonly #options: FaultProxyOptions;
  readonly #name: string;
  readonly #agent = new Agent({ connections: 64, headersTimeout: 30_000, bodyTimeout: 30_000 });
  readonly #drawn = new Map<string, number>();
  readonly #told = new Map<string, ProxiedAnswer[]>();
  readonly #closing = new AbortController();
  readonly #calls: CallFaults;
  #rates: FaultRates = {};
  #stopping: Promise<void> | undefined;

  constructor(options: FaultProxyOptions, name: string) {
    this.#options = options;
    this.#name = name;
    this.#calls = options.calls ?? NO_CALL_FAULTS;
    this.setRates(options.rates);
    this.server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  setRates(rates: FaultRates): void {
    const stranger = Object.keys(rates).find((fault) => !(fault in REQUEST_FAULTS || fault in this.#calls.table));
    if (stranger !== undefined) throw new Error(`There is no fault "${stranger}".`);
    this.#rates = rates;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#end();
    return this.#stopping;
  }

  async #end(): Promise<void> {
    this.#closing.abort();
    const closed = once(this.server, 'close');
    this.server.closeAllConnections();
    this.server.close();
    await closed;
    await this.#agent.destroy();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    const parsed = JSON.parse(await textOf(request)) as Message | Message[];
    const messages = Array.isArray(parsed) ? parsed : [parsed];
    const label = messages.length === 1 ? String(messages[0]?.method) : 'batch';
    const [fault, unit] = this.#drawRequestFault(label, messages.length);

    switch (fault) {
      case 'request dropped':
        this.#count(fault);
        request.socket.destroy();
        return;
      case 'status 429':
      case 'status 502':
      case 'status 503':
        this.#count(fault);
        response.writeHead(Number(fault.slice('status '.length)), { 'content-type': 'text/html' });
        response.end('<html><body>not now</body></html>');
        return;
      case 'status 429 with Retry-After':
        this.#count(fault);
        response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_005, message: 'rate limited' } }));
        return;
      case 'delayed':
        this.#count(fault);
        await sleep(unit * (this.#options.longestDelayMs ?? DEFAULT_MAX_DELAY_MS), undefined, {
          signal: this.#closing.signal,
        });
        break;
      default:
        break;
    }

    const replies = await this.#replies(messages, Array.isArray(parsed), fault === 'sent twice', unit);
    this.#answer(request, response, Array.isArray(parsed) ? replies : replies[0], fault);
  }

  /** Sends the calls that may reach the node, and changes its answers by the plan. */
  async #replies(messages: readonly Message[], asBatch: boolean, twice: boolean, unit: number): Promise<Reply[]> {
    const fates = messages.map((message) => this.#drawCallFault(message));
    const reaching = fates.filter(({ fault }) => this.#reachesNode(fault)).map(({ message }) => message);
    for (const { method } of messages) await this.#options.watch?.(method, 'before');
    const truths = new Map<unknown, Reply>();
    if (reaching.length > 0) {
      const first = await this.#ask(reaching, asBatch);
      const second = twice ? await this.#ask(reaching, asBatch) : first;
      if (twice) this.#count('sent twice');
      for (const reply of unit < 0.5 ? first : second) truths.set(reply.id, reply);
    }
    for (const { method } of messages) await this.#options.watch?.(method, 'after');
    return fates.map((fate) => this.#tell(fate, truths.get(fate.message.id)));
  }

  #tell({ message, fault, unit }: Fate, reply: Reply | undefined): Reply {
    const truth: ProxiedAnswer = reply ?? { result: null };
    const key = JSON.stringify([message.method, message.params]);
    const older = this.#told.get(key) ?? [];
    if (reply !== undefined) this.#remember(key, older, reply);
    this.#calls.learn(message, truth);
    const lie = this.#calls.table[fault ?? '']?.answer({ call: message, truth, older, unit });
    if (fault === undefined || lie === undefined) return reply ?? { jsonrpc: '2.0', id: message.id, ...truth };
    this.#count(fault);
    return { jsonrpc: '2.0', id: message.id, ...lie };
  }

  #reachesNode(fault: string | undefined): boolean {
    return fault === undefined || this.#calls.table[fault]?.reachesNode !== false;
  }

  #remember(key: string, older: readonly ProxiedAnswer[], { jsonrpc: _, id: __, ...answer }: Reply): void {
    const isNew = JSON.stringify(older.at(-1)) !== JSON.stringify(answer);
    if (isNew) this.#told.set(key, [...older, answer].slice(-MEMORY));
  }

  async #ask(messages: readonly Message[], asBatch: boolean): Promise<Reply[]> {
    const { body } = await send(this.#options.target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(asBatch ? messages : messages[0]),
      dispatcher: this.#agent,
    });
    const answer = (await body.json()) as Reply | Reply[];
    return Array.isArray(answer) ? answer : [answer];
  }

  #answer(
    request: IncomingMessage,
    response: ServerResponse,
    told: Reply | Reply[] | undefined,
    fault: RequestFault | undefined,
  ): void {
    if (fault === 'answer dropped') {
      this.#count(fault);
      request.socket.destroy();
      return;
    }
    if (fault === 'answer withheld') {
      this.#count(fault);
      return;
    }
    let body = told;
    if (fault === 'foreign id') {
      this.#count(fault);
      body = Array.isArray(told)
        ? told.map((reply, index) => (index === 0 ? foreign(reply) : reply))
        : told && foreign(told);
    } else if (fault === 'batch out of order' && Array.isArray(told)) {
      this.#count(fault);
      body = told.toReversed();
    } else if (fault === 'batch with a hole' && Array.isArray(told)) {
      this.#count(fault);
      body = told.slice(1);
    }
    const text = JSON.stringify(body);
    response.writeHead(200, { 'content-type': 'application/json' });
    if (fault === 'answer cut short') this.#count(fault);
    response.end(fault === 'answer cut short' ? text.slice(0, Math.floor(text.length / 2)) : text);
  }

  #drawRequestFault(label: string, calls: number): [RequestFault | undefined, number] {
    const unit = this.#draw('request', label);
    const possible = (Object.keys(REQUEST_FAULTS) as RequestFault[]).filter(
      (fault) => calls > 1 || !fault.startsWith('batch'),
    );
    return [faultAt(possible, this.#rates, unit), this.#draw('how', label)];
  }

  #drawCallFault(message: Message): Fate {
    const unit = this.#draw('call', message.method);
    const truthful = this.#options.isTruthful?.() ?? false;
    const fault = faultAt(faultsOfCall(this.#calls, message, truthful), this.#rates, unit);
    return { message, fault, unit: this.#draw('how', message.method) };
  }

  #draw(purpose: string, label: string): number {
    const key = `${purpose} ${label}`;
    const count = (this.#drawn.get(key) ?? 0) + 1;
    this.#drawn.set(key, count);
    return seededUnit(this.#options.seed, this.#name, key, count);
  }

  #count(fault: string): void {
    this.injected.set(fault, (this.injected.get(fault) ?? 0) + 1);
  }
}

function foreign(reply: Reply): Reply {
  return { ...reply, id: typeof reply.id === 'number' ? reply.id + 7_777 : 'somebody else' };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
