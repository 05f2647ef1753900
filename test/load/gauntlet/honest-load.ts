import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../soak/payments/client.ts';
import type { EvmIntention } from '../soak/payments/evm/plan.ts';
import { jobOf } from '../soak/payments/jobs.ts';
import { callPlugin } from './answer.ts';
import type { Arena } from './arena.ts';
import type { HonestPlugin } from './honest-plugins.ts';

/** The kinds of honest requests, with their rates per second. */
export const HONEST_KINDS = {
  'plugin, trivial': 10,
  'plugin with kv': 5,
  'plugin with ethers': 5,
  'plugin that pays and waits': 2,
  'REST, send': 3,
  'REST, read': 10,
} as const satisfies Record<string, number>;

export type HonestKind = keyof typeof HONEST_KINDS;

/** An honest request that got the right answer. */
export interface Sample {
  readonly kind: HonestKind;
  /** Its start, in milliseconds on the clock of `performance`. */
  readonly at: number;
  readonly tookMs: number;
}

/** Transactions that the load requests per second. */
export const TRANSACTIONS_PER_SECOND = HONEST_KINDS['REST, send'] + HONEST_KINDS['plugin that pays and waits'];

const PATIENCE_MS = 35_000;
const TRIES = 20;
const AGAIN_MS = 250;
const RECEIVER = '0x00000000000000000000000000000000000abcde';

/** Honest callers. Each kind keeps its rate, even if earlier requests have no answer yet. */
export class HonestLoad {
  readonly samples: Sample[] = [];
  /** Requests without the right answer, one sentence each. */
  readonly failures: string[] = [];
  /** The requests for transactions that were made. */
  readonly sent: EvmIntention[] = [];
  readonly client: Client;
  readonly #arena: Arena;
  readonly #intentions: Iterator<EvmIntention>;
  readonly #stopped = new AbortController();
  #loops: Promise<void>[] = [];

  constructor(arena: Arena, intentions: readonly EvmIntention[]) {
    this.#arena = arena;
    this.#intentions = intentions.values();
    this.client = new Client({ pick: async () => arena.service });
  }

  /** Makes one request of each kind that sends no transaction. @throws if one does not get the right answer */
  async rehearse(): Promise<void> {
    for (const kind of ['plugin, trivial', 'plugin with kv', 'plugin with ethers', 'REST, read'] as const) {
      const wrong = await this.#ask(kind, 0);
      if (wrong !== null) throw new Error(`The gauntlet cannot begin: ${kind}: ${wrong}`);
    }
  }

  start(): void {
    const kinds = Object.entries(HONEST_KINDS) as [HonestKind, number][];
    this.#loops = kinds.map(([kind, perSecond]) => this.#loop(kind, perSecond));
  }

  /** Stops sending. Resolves when every request is answered or has timed out. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#loops);
  }

  async #loop(kind: HonestKind, perSecond: number): Promise<void> {
    const { signal } = this.#stopped;
    const running: Promise<void>[] = [];
    const began = performance.now();
    for (let turn = 0; !signal.aborted; turn += 1) {
      running.push(this.#one(kind, turn));
      const due = began + ((turn + 1) * 1000) / perSecond;
      await sleep(Math.max(0, due - performance.now()), undefined, { signal }).catch(() => {});
    }
    await Promise.all(running);
  }

  async #one(kind: HonestKind, turn: number): Promise<void> {
    const at = performance.now();
    let wrong: string | null;
    try {
      wrong = await this.#ask(kind, turn);
    } catch (error) {
      wrong = String(error);
    }
    if (wrong === null) this.samples.push({ kind, at, tookMs: performance.now() - at });
    else this.failures.push(`${kind}: ${wrong}`);
  }

  /** @returns null if the answer is right, otherwise the answer */
  async #ask(kind: HonestKind, turn: number): Promise<string | null> {
    switch (kind) {
      case 'plugin, trivial':
        return await this.#call('greets', { name: turn }, `{"greeting":"Hello, ${turn}!"}`);
      case 'plugin with kv':
        return await this.#call('remembers', { turn }, `"now":${turn}}`);
      case 'plugin with ethers':
        return await this.#call('encodes', { turn, to: RECEIVER }, '"digest":"0x');
      case 'plugin that pays and waits':
        return await this.#payByPlugin();
      case 'REST, send':
        return await this.#send();
      case 'REST, read':
        return await this.#read(turn);
      default:
        return kind satisfies never;
    }
  }

  async #call(plugin: HonestPlugin, params: object, expected: string): Promise<string | null> {
    const answer = await callPlugin(this.#arena.service, plugin, params, { patienceMs: PATIENCE_MS });
    const isRight = answer.end === 'returned' && JSON.stringify(answer.data).includes(expected);
    return isRight ? null : `${answer.status} ${answer.text}`;
  }

  async #send(): Promise<string | null> {
    const intention = this.#next();
    if (intention === undefined) return null;
    await this.client.sendAll([jobOf(intention)], 1);
    const { accepted, refused } = this.client.asked;
    return accepted.has(intention.index) ? null : (refused.get(intention.index) ?? 'no answer');
  }

  /** Repeats a call without a good answer under the same idempotency key, so that it pays once. */
  async #payByPlugin(): Promise<string | null> {
    const intention = this.#next();
    if (intention === undefined) return null;
    const { index, relayerId, request: body, key, worthMs } = intention;
    const validUntil = new Date(Date.now() + (worthMs ?? 0)).toISOString();
    const request = worthMs === null ? body : { ...body, valid_until: validUntil };
    let last = '';
    for (let tries = 0; tries < TRIES; tries += 1) {
      const asking = { patienceMs: PATIENCE_MS, idempotencyKey: key };
      const answer = await callPlugin(this.#arena.service, 'pays', { relayerId, request }, asking);
      last = `${answer.status} ${answer.text}`;
      if (answer.end === 'returned') {
        this.client.asked.accepted.set(index, new Set([(answer.data as { id: string }).id]));
        return tries === 0 ? null : `only at try ${tries + 1}`;
      }
      await sleep(AGAIN_MS);
    }
    this.client.asked.unknown.add(index);
    return last;
  }

  async #read(turn: number): Promise<string | null> {
    const { service, relayers } = this.#arena;
    const relayer = `/api/v1/relayers/${relayers[turn % relayers.length]?.relayerId}`;
    const paths = [relayer, `${relayer}/status`, `${relayer}/transactions?per_page=10`, '/api/v1/relayers'];
    const path = paths[turn % paths.length] ?? relayer;
    const response = await fetch(`${service.url}${path}`, {
      headers: { authorization: `Bearer ${service.apiKey}` },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const text = await response.text();
    return response.status === 200 ? null : `${path}: ${response.status} ${text.slice(0, 200)}`;
  }

  #next(): EvmIntention | undefined {
    const { value } = this.#intentions.next() as IteratorResult<EvmIntention, undefined>;
    if (value !== undefined) this.sent.push(value);
    return value;
  }
}
