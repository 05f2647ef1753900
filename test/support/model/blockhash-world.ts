import type { JsonObject } from '../../../src/domain/json/json.ts';
import { hashOf } from '../fake-chain.ts';
import { fc } from '../properties.ts';
import { BlockhashChain, type BlockhashTransaction, FOREIGN } from './blockhash-chain.ts';
import { BlockhashClient, BlockhashFamily } from './blockhash-client.ts';
import { type CommonEvent, commonEvents, weighed, which, worthMs } from './events.ts';
import type { Case, Execution, Truth } from './judge.ts';
import { effectOf, originOf } from './requests.ts';
import { Stage } from './stage.ts';
import type { ModelWorld, WorldKind } from './world.ts';

/** What can happen in a world whose transactions have no order. */
export type BlockhashEvent = CommonEvent | Own;

type Own =
  | {
      kind: 'accept';
      count: number;
      relayer: number;
      pays: number;
      reverts: boolean;
      worthMs: number | null;
      isKeyed: boolean;
    }
  /** Bytes that the client made, valid for `lasting` blocks. */
  | { kind: 'accept bytes'; relayer: number; lasting: number; reverts: boolean; worthMs: number | null }
  /** Bytes that were posted before. */
  | { kind: 'accept again'; which: number; relayer: number }
  | { kind: 'accept nonce'; relayer: number; reverts: boolean; worthMs: number | null }
  | { kind: 'mine'; limit: number; blocks: number }
  | { kind: 'fork loses'; depth: number; isKept: boolean }
  | { kind: 'forget pool' }
  | { kind: 'foreign use'; which: number }
  | { kind: 'no node takes'; which: number };

const relayer = which;
const reverts = fc.boolean();

const events: fc.Arbitrary<BlockhashEvent> = fc.oneof(
  ...commonEvents,
  weighed<Own, 'accept'>(4, 'accept', {
    count: fc.integer({ min: 1, max: 5 }),
    relayer,
    pays: fc.nat(2),
    reverts,
    worthMs,
    isKeyed: fc.boolean(),
  }),
  weighed<Own, 'accept bytes'>(2, 'accept bytes', {
    relayer,
    lasting: fc.integer({ min: 1, max: 6 }),
    reverts,
    worthMs,
  }),
  weighed<Own, 'accept again'>(2, 'accept again', { which, relayer }),
  weighed<Own, 'accept nonce'>(1, 'accept nonce', { relayer, reverts, worthMs }),
  weighed<Own, 'mine'>(5, 'mine', { limit: fc.integer({ min: 0, max: 4 }), blocks: fc.constantFrom(1, 1, 1, 6) }),
  weighed<Own, 'fork loses'>(3, 'fork loses', { depth: fc.integer({ min: 1, max: 2 }), isKept: fc.boolean() }),
  weighed<Own, 'forget pool'>(2, 'forget pool', {}),
  weighed<Own, 'foreign use'>(1, 'foreign use', { which }),
  weighed<Own, 'no node takes'>(1, 'no node takes', { which }),
);

/** Transactions without an order, each of which can be in a block up to a height. */
export const blockhashWorlds: WorldKind<BlockhashEvent> = {
  name: 'transactions that lapse',
  hasForks: true,
  events,
  async open(options) {
    const chain = new BlockhashChain();
    const client = new BlockhashClient(chain);
    const stage = await Stage.open(options, () => client, { family: new BlockhashFamily() });
    chain.fault = (call, raw) => stage.faultOf(call, raw !== undefined && !chain.received.has(raw));
    return new BlockhashWorld(stage, chain);
  },
};

class BlockhashWorld implements ModelWorld<BlockhashEvent> {
  readonly #stage: Stage;
  readonly #chain: BlockhashChain;
  /** The bytes that clients made, by the effect for which they were accepted. */
  readonly #made = new Map<string, { body: JsonObject; bytes: BlockhashTransaction }>();
  /** The nonce accounts that are in use. */
  readonly #nonces: string[] = [];

  constructor(stage: Stage, chain: BlockhashChain) {
    this.#stage = stage;
    this.#chain = chain;
  }

  async happen(event: BlockhashEvent): Promise<void> {
    const chain = this.#chain;
    switch (event.kind) {
      case 'accept':
        return await this.#accept(event);
      case 'accept bytes':
        return await this.#acceptBytes(event);
      case 'accept again':
        return await this.#acceptAgain(event);
      case 'accept nonce':
        return await this.#acceptNonce(event);
      case 'mine':
        for (let block = 0; block < event.blocks; block += 1) chain.mine(event.limit);
        return;
      case 'fork loses':
        return chain.reorganise(event.depth, event.isKept);
      case 'forget pool':
        return chain.forgetPool();
      case 'foreign use':
        return this.#advance(this.#nonces[event.which % Math.max(this.#nonces.length, 1)]);
      case 'no node takes':
        chain.unacceptable.add(effectOf(event.which));
        return;
      default:
        return await this.#stage.happen(event);
    }
  }

  goOn(calls: number): Promise<void> {
    return this.#stage.goOn(calls);
  }

  /**
   * Ends the history. Transactions that nobody offers any more and that cannot expire end when their nonce is advanced,
   * so this advances it as its owner would.
   */
  async end(): Promise<void> {
    const chain = this.#chain;
    chain.calmDown();
    await this.#stage.end(async () => {
      chain.mine();
      const { read } = this.#stage.world.store;
      for (const lane of this.#stage.requests.lanes) {
        for (const { transaction } of await read.openTransactions(lane)) {
          if (transaction.noopEnd === null) continue;
          const nonce = transaction.request['nonce'];
          if (nonce !== undefined) this.#advance(String(nonce).split(':')[0]);
          // Makes many blocks, so that the test does not wait for transactions with much time.
          if (transaction.onDeath === 'renew') for (let block = 0; block < 40; block += 1) chain.mine();
        }
      }
    });
    while (chain.isBusy) chain.mine();
  }

  async evidence(): Promise<{ cases: Case[]; truth: Truth }> {
    const executions = this.#chain.landed.map(({ hash, transaction }): Execution => {
      const isForeign = transaction.pays.startsWith(FOREIGN);
      const effect = [...(this.#chain.purposes.get(hash) ?? [transaction.pays])].join(' and ');
      const { nonce = hash, reverts } = transaction;
      return { hash, effect, anchor: nonce, succeeded: !reverts, isForeign };
    });
    const isRefused = (effect: string) => this.#chain.unacceptable.has(effect) || this.#hasExecuted(effect);
    const cases = (await this.#stage.requests.cases()).map((one) => this.#untilDead(one));
    return { cases, truth: { executions, isRefused, now: Date.now() } };
  }

  close(): Promise<void> {
    return this.#stage.close();
  }

  async #accept({ count, relayer, pays, ...event }: Extract<Own, { kind: 'accept' }>): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const body = { pays: `payment ${pays}`, reverts: event.reverts, ...worth(event) };
      await this.#stage.requests.send(relayer, body, event.isKeyed);
    }
    this.#stage.wake();
  }

  async #acceptBytes({ relayer, lasting, reverts, ...event }: Extract<Own, { kind: 'accept bytes' }>): Promise<void> {
    const until = this.#chain.height + lasting;
    await this.#post(relayer, {
      pays: `bytes for ${this.#stage.requests.nextEffect()}`,
      reverts,
      until,
      ...worth(event),
    });
  }

  async #acceptAgain({ which, relayer }: Extract<Own, { kind: 'accept again' }>): Promise<void> {
    const made = [...this.#made.values()][which % Math.max(this.#made.size, 1)];
    if (made === undefined) return;
    const { validUntil: _, ...body } = made.body;
    await this.#post(relayer, body);
  }

  async #post(relayer: number, body: JsonObject): Promise<void> {
    const { requests } = this.#stage;
    const effect = requests.nextEffect();
    const { address: from } = requests.relayerOf(relayer);
    const bytes = { from, pays: String(body['pays']), reverts: body['reverts'] === true, until: Number(body['until']) };
    if ((await requests.send(relayer, body, false)) === undefined) return;
    this.#made.set(effect, { body, bytes });
    this.#stage.wake();
  }

  async #acceptNonce({ relayer, reverts, ...event }: Extract<Own, { kind: 'accept nonce' }>): Promise<void> {
    const { requests } = this.#stage;
    const account = `nonce of ${requests.nextEffect()}`;
    const body = { pays: 'with a nonce', reverts, nonce: `${account}:0`, ...worth(event) };
    if ((await requests.send(relayer, body, false)) !== undefined) this.#nonces.push(account);
    this.#stage.wake();
  }

  #advance(account: string | undefined): void {
    if (account !== undefined && this.#chain.nonceOf(account) === 0) this.#chain.advance(account);
  }

  /** Whether bytes that were posted again had already executed for the first request. */
  #hasExecuted(effect: string): boolean {
    const made = this.#made.get(originOf(effect));
    return made !== undefined && this.#chain.placeOf(hashOf(JSON.stringify(made.bytes))) !== undefined;
  }

  /** Limits a case's validity: a client's bytes are worth nothing after they are dead. */
  #untilDead(one: Case): Case {
    const made = this.#made.get(one.effect);
    const diedAt = made === undefined ? null : this.#chain.diedAt(made.bytes.until ?? 0);
    if (diedAt === null) return one;
    return { ...one, validUntil: Math.min(diedAt, one.validUntil ?? diedAt) };
  }
}

function worth({ worthMs }: { worthMs: number | null }): { validUntil?: number } {
  return worthMs === null ? {} : { validUntil: Date.now() + worthMs };
}
