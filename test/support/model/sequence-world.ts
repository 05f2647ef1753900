import { ADDRESS, type EngineWorld } from '../engine-world.ts';
import { FakeChain, type FakeTransaction } from '../fake-chain.ts';
import { VOID } from '../fake-chain-client.ts';
import { fc } from '../properties.ts';
import { type CommonEvent, commonEvents, weighed, which, worthMs } from './events.ts';
import type { Case, Truth } from './judge.ts';
import { effectOf } from './requests.ts';
import { Stage } from './stage.ts';
import type { ModelWorld, WorldKind } from './world.ts';

/** What can happen in a world whose accounts count their transactions. */
type SequenceEvent = CommonEvent | Own;

type Own =
  | { kind: 'accept'; count: number; relayer: number; reverts: boolean; worthMs: number | null; isKeyed: boolean }
  | { kind: 'mine'; limit: number }
  | { kind: 'reorganise'; depth: number }
  | { kind: 'forget pool' }
  | { kind: 'foreign use'; relayer: number }
  | { kind: 'network asks for'; floor: number }
  | { kind: 'no node takes'; which: number }
  | { kind: 'patience'; ms: number };

const sequenceEvents: fc.Arbitrary<SequenceEvent> = fc.oneof(
  ...commonEvents,
  weighed<Own, 'accept'>(4, 'accept', {
    count: fc.integer({ min: 1, max: 5 }),
    relayer: which,
    reverts: fc.boolean(),
    worthMs,
    isKeyed: fc.boolean(),
  }),
  weighed<Own, 'mine'>(4, 'mine', { limit: fc.integer({ min: 1, max: 4 }) }),
  weighed<Own, 'reorganise'>(2, 'reorganise', { depth: fc.integer({ min: 1, max: 2 }) }),
  weighed<Own, 'forget pool'>(1, 'forget pool', {}),
  weighed<Own, 'foreign use'>(1, 'foreign use', { relayer: which }),
  weighed<Own, 'network asks for'>(1, 'network asks for', { floor: fc.integer({ min: 1, max: 9 }) }),
  weighed<Own, 'no node takes'>(1, 'no node takes', { which }),
  weighed<Own, 'patience'>(1, 'patience', { ms: fc.integer({ min: 1, max: 50 }) }),
);

/**
 * Worlds whose accounts count their transactions. Each number is used once and in order, and the transaction with that
 * number takes effect.
 */
export const sequenceWorlds: WorldKind<SequenceEvent> = {
  name: 'accounts that count',
  hasForks: true,
  events: sequenceEvents,
  async open(options) {
    const chain = new FakeChain();
    chain.strict = options.strict;
    return new SequenceWorld(await Stage.open(options, ({ client }) => client, { chain }));
  },
};

const FOREIGN = 'foreign';

class SequenceWorld implements ModelWorld<SequenceEvent> {
  readonly #stage: Stage;
  readonly #world: EngineWorld;
  #foreign = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#world = stage.world;
    const { chain } = stage.world;
    chain.fault = (call, raw) => stage.faultOf(call, raw !== undefined && !chain.received.includes(raw));
  }

  async happen(event: SequenceEvent): Promise<void> {
    const { chain, client } = this.#world;
    switch (event.kind) {
      case 'accept':
        return await this.#accept(event);
      case 'mine':
        return chain.mine(event.limit);
      case 'reorganise':
        return chain.reorganise(event.depth);
      case 'forget pool':
        return chain.forgetPool();
      case 'foreign use':
        return this.#useKey(event.relayer);
      case 'network asks for':
        chain.floor = BigInt(event.floor);
        return;
      case 'no node takes':
        chain.unacceptable.add(effectOf(event.which));
        return;
      case 'patience':
        client.patience = event.ms;
        return;
      default:
        return await this.#stage.happen(event);
    }
  }

  goOn(calls: number): Promise<void> {
    return this.#stage.goOn(calls);
  }

  async end(): Promise<void> {
    const { chain } = this.#world;
    await this.#stage.end(() => chain.mine());
    chain.mine();
  }

  async evidence(): Promise<{ cases: Case[]; truth: Truth }> {
    const { chain } = this.#world;
    const executions = chain.executed.map(({ hash, transaction }) => ({
      hash,
      effect: transaction.effect === VOID ? null : transaction.effect,
      anchor: `${transaction.from}:${transaction.nonce}`,
      succeeded: !transaction.reverts,
      isForeign: transaction.effect.startsWith(FOREIGN),
    }));
    const accounts = new Set([ADDRESS, ...chain.executed.map(({ transaction }) => transaction.from)]);
    const counted = [...accounts].reduce((sum, account) => sum + chain.pendingCount(account), 0n);
    const left = counted - BigInt(executions.length);
    if (left !== 0n) throw new Error(`${left} transactions are left in the pool`);
    const isRefused = (effect: string) => chain.unacceptable.has(effect);
    return { cases: await this.#stage.requests.cases(), truth: { executions, isRefused, now: Date.now() } };
  }

  close(): Promise<void> {
    return this.#stage.close();
  }

  async #accept(event: Extract<SequenceEvent, { kind: 'accept' }>): Promise<void> {
    const { relayer, reverts, worthMs, isKeyed } = event;
    for (let index = 0; index < event.count; index += 1) {
      const validUntil = worthMs === null ? {} : { validUntil: Date.now() + worthMs };
      await this.#stage.requests.send(relayer, { reverts, ...validUntil }, isKeyed);
    }
    this.#stage.wake();
  }

  /** Sends a foreign transaction with the account's key. */
  #useKey(relayer: number): void {
    this.#foreign += 1;
    const { chain } = this.#world;
    const { address: from } = this.#stage.requests.relayerOf(relayer);
    const foreign: FakeTransaction = {
      from,
      nonce: chain.pendingCount(from).toString(),
      effect: `${FOREIGN} ${this.#foreign}`,
      cost: '1',
      reverts: false,
      price: '9',
    };
    chain.submit(JSON.stringify(foreign));
  }
}
