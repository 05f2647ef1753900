import { ADDRESS, type EngineWorld } from '../engine-world.ts';
import { FakeChain, type FakeTransaction } from '../fake-chain.ts';
import { VOID } from '../fake-chain-client.ts';
import type { Case, Truth } from './judge.ts';
import { effectOf } from './requests.ts';
import { type SequenceEvent, sequenceEvents } from './sequence-events.ts';
import { Stage } from './stage.ts';
import type { ModelWorld, WorldKind } from './world.ts';

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
