import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainClient } from '../../../src/chains/chain.ts';
import type { Wish } from '../../../src/domain/intent.ts';
import type { Transaction } from '../../../src/domain/transaction.ts';
import { isFinal } from '../../../src/domain/transaction-state.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import type { Store } from '../../../src/store/store.ts';
import { Crash } from '../crash.ts';
import { ADDRESS, EngineWorld, LANE } from '../engine-world.ts';
import { FakeChain, type FakeTransaction, type Fault } from '../fake-chain.ts';
import { VOID } from '../fake-chain-client.ts';
import { InstanceLeases } from '../instance-leases.ts';
import { losingAnswers } from '../lost-answers.ts';
import type { Case, Truth, Wished } from './judge.ts';
import { type FaultyCall, type SequenceEvent, sequenceEvents } from './sequence-events.ts';
import type { ModelWorld, WorldKind, WorldOptions } from './world.ts';

/** An account counts its transactions: one number is used once and in order, and what has the number takes effect. */
export const sequenceWorlds: WorldKind<SequenceEvent> = {
  name: 'accounts that count',
  events: sequenceEvents,
  async open(options) {
    const teardowns: (() => unknown)[] = [];
    const chain = new FakeChain();
    chain.strict = options.strict;
    const world = await EngineWorld.open({ teardown: (end) => void teardowns.push(end) }, chain);
    return new SequenceWorld(world, options, async () => {
      for (const end of teardowns) await end();
    });
  },
};

/** So many turns, of a millisecond or more, the world stands still for an engine that has nothing to do. */
const STILL_TURNS = 40;
/** Longer than any machine keeps an instance waiting; those of the dead end with them. */
const LEASE_MS = 60_000;
/** The end of a history comes in seconds; a test that takes minutes is ended by its runner. */
const END_MS = 100_000;

interface Accepted {
  transaction: Transaction;
  validUntil: number | null;
  wishes: { position: number; kind: Wish['kind']; effect?: string }[];
}

/** One of the service's instances. */
interface Instance {
  readonly engine: Engine;
  readonly crash: Crash;
  readonly store: Store;
}

class SequenceWorld implements ModelWorld<SequenceEvent> {
  readonly #world: EngineWorld;
  readonly #store: Store;
  readonly #client: ChainClient;
  readonly #options: WorldOptions;
  readonly #remove: () => Promise<void>;
  readonly #accepted: Accepted[] = [];
  readonly #leases = new InstanceLeases(LEASE_MS);
  /** The oldest first; never none. */
  #living: Instance[] = [];
  readonly #dead: Instance[] = [];
  /** How many of the next bytes that no node has had are met with a lie. */
  #lies = 0;
  /** What becomes of the next questions. */
  #faults: Fault[] = [];
  #faulty: FaultyCall = 'any';
  #isUnanswered: (commit: number) => boolean = () => false;
  /** How far the clock is ahead by which the engine goes; the chain has its own. */
  #aheadMs = 0;
  #foreign = 0;

  constructor(world: EngineWorld, options: WorldOptions, remove: () => Promise<void>) {
    this.#world = world;
    this.#options = options;
    this.#remove = remove;
    this.#store = options.mutant?.store?.(world.store) ?? world.store;
    this.#client = options.mutant?.client?.(world.client) ?? world.client;
    world.chain.fault = (call, raw) => this.#faultOf(call, raw);
    this.#begin(Number.POSITIVE_INFINITY);
  }

  async happen(event: SequenceEvent): Promise<void> {
    const { chain, client, signer } = this.#world;
    switch (event.kind) {
      case 'accept':
        return await this.#accept(event);
      case 'mine':
        return chain.mine(event.limit);
      case 'lies':
        this.#lies = event.count;
        return;
      case 'faults':
        this.#faults = [...event.faults];
        this.#faulty = event.of;
        return;
      case 'reorganise':
        return chain.reorganise(event.depth);
      case 'forget pool':
        return chain.forgetPool();
      case 'foreign use':
        return this.#useKey();
      case 'cancel':
        return await this.#wish(event.which, () => ({ kind: 'cancel' }));
      case 'replace':
        return await this.#wish(event.which, (effect) => {
          return { kind: 'replace', request: { effect, reverts: false }, validUntil: null };
        });
      case 'expire':
        return await this.#expire(event.which);
      case 'network asks for':
        chain.floor = BigInt(event.floor);
        return;
      case 'no node takes':
        chain.unacceptable.add(effectOf(event.which));
        return;
      case 'patience':
        client.patience = event.ms;
        return;
      case 'commits unanswered':
        this.#isUnanswered = (commit) => commit % event.every === 0;
        return;
      case 'clock jumps':
        this.#aheadMs = event.byMs;
        return;
      case 'second instance':
        return this.#begin(Number.POSITIVE_INFINITY);
      case 'signer fails':
        signer.failsAt = (signature) => signature % event.every === 0;
        return;
      case 'crash':
        // One engine ends; another dies after so many of its calls.
        this.#end(this.#living.slice(0, 1));
        return this.#begin(event.after);
      default:
        return event satisfies never;
    }
  }

  /** One that has died is followed by another. */
  async goOn(calls: number): Promise<void> {
    const { client } = this.#world;
    const until = client.calls + calls;
    for (let turn = 0; turn < STILL_TURNS && client.calls < until; turn += 1) {
      this.#end(this.#living.filter(({ crash }) => crash.hasHappened));
      if (this.#living.length === 0) this.#begin(Number.POSITIVE_INFINITY);
      await sleep(1);
    }
  }

  async end(): Promise<void> {
    const { signer, store, chain } = this.#world;
    this.#lies = 0;
    this.#faults = [];
    this.#aheadMs = 0;
    this.#isUnanswered = () => false;
    signer.failsAt = () => false;
    this.#end(this.#living);
    this.#begin(Number.POSITIVE_INFINITY);
    const allEnded = async () => {
      this.#options.signal?.throwIfAborted();
      if ((await store.read.openTransactions(LANE)).length > 0) return false;
      if ((await store.read.intents(LANE, 1)).length > 0) return false;
      const states = await Promise.all(this.#accepted.map(({ transaction }) => this.#world.get(transaction)));
      return states.every(({ status }) => isFinal(status));
    };
    await this.#world.until('all have ended', allEnded, { mining: true, withinMs: END_MS });
    chain.mine();
  }

  async evidence(): Promise<{ cases: Case[]; truth: Truth }> {
    const { chain } = this.#world;
    const executions = chain.executed.map(({ hash, transaction }) => ({
      hash,
      effect: transaction.effect === VOID ? null : transaction.effect,
      anchor: transaction.nonce,
      succeeded: !transaction.reverts,
      isForeign: transaction.effect.startsWith(FOREIGN),
    }));
    const left = chain.pendingCount(ADDRESS) - BigInt(executions.length);
    if (left !== 0n) throw new Error(`${left} transactions are left in the pool`);
    const isRefused = (effect: string) => chain.unacceptable.has(effect);
    const cases = await Promise.all(this.#accepted.map((one) => this.#caseOf(one)));
    return { cases, truth: { executions, isRefused, now: Date.now() } };
  }

  /** Also the dead, whose clocks would go on. */
  async close(): Promise<void> {
    const ends = [...this.#dead, ...this.#living].map(({ engine }) => engine.close());
    for (const { crash } of this.#dead) crash.bury();
    await Promise.all(ends);
    await this.#remove();
  }

  #faultOf(call: string, raw: string | undefined): Fault {
    if (raw !== undefined && this.#lies > 0 && !this.#world.chain.received.includes(raw)) {
      this.#lies -= 1;
      return 'lie';
    }
    return this.#faulty === 'any' || this.#faulty === call ? this.#faults.shift() : undefined;
  }

  async #accept({ count, reverts, worthMs }: Extract<SequenceEvent, { kind: 'accept' }>): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const validUntil = worthMs === null ? null : Date.now() + worthMs;
      const request = { effect: effectOf(this.#accepted.length), reverts };
      const transaction = await this.#world.accept('', { request, validUntil });
      this.#accepted.push({ transaction, validUntil, wishes: [] });
    }
    this.#wake();
  }

  /** Somebody else sends with the account's key. */
  #useKey(): void {
    this.#foreign += 1;
    const { chain } = this.#world;
    const foreign: FakeTransaction = {
      from: ADDRESS,
      nonce: chain.pendingCount(ADDRESS).toString(),
      effect: `${FOREIGN} ${this.#foreign}`,
      cost: '1',
      reverts: false,
      price: '9',
    };
    chain.submit(JSON.stringify(foreign));
  }

  async #expire(which: number): Promise<void> {
    const accepted = this.#choose(which);
    if (accepted === undefined) return;
    const { id, status } = await this.#world.get(accepted.transaction);
    if (isFinal(status)) return;
    const validUntil = Date.now() - 1;
    const isSet = await this.#world.store.write((writer) => writer.updateTransaction(id, status, { validUntil }));
    if (isSet) accepted.validUntil = validUntil;
  }

  /** @param wishFor told what a replacement does; it is noted before it is asked for, as the engine may be fast */
  async #wish(which: number, wishFor: (effect: string) => Wish): Promise<void> {
    const accepted = this.#choose(which);
    if (accepted === undefined) return;
    const { id: transactionId, lane, request } = accepted.transaction;
    const effect = `${String(request['effect'])} instead (${accepted.wishes.length})`;
    const wish = wishFor(effect);
    const position = await this.#store.write((writer) => writer.insertIntent({ transactionId, lane, wish }));
    accepted.wishes.push({ position, kind: wish.kind, ...(wish.kind === 'replace' && { effect }) });
    this.#wake();
  }

  #choose(which: number): Accepted | undefined {
    return this.#accepted[which % Math.max(this.#accepted.length, 1)];
  }

  async #caseOf({ transaction, validUntil, wishes }: Accepted): Promise<Case> {
    const { read } = this.#world.store;
    const { id, relayerId, request } = transaction;
    const { status, statusReason, hash, sequence, request: last } = await this.#world.get({ id, relayerId });
    const answered = wishes.map(async ({ position, ...wish }): Promise<Wished> => {
      const outcome = await read.intentOutcome(position);
      if (outcome === undefined || outcome === 'waiting') return { ...wish, answer: 'open' };
      return { ...wish, answer: outcome.refusal === null ? 'done' : 'refused' };
    });
    return {
      name: id,
      effect: String(request['effect']),
      validUntil,
      wishes: await Promise.all(answered),
      shown: {
        status,
        reason: statusReason,
        hash,
        effect: String(last['effect']),
        anchor: sequence === null ? null : sequence.toString(),
        endedAt: await read.endedAt(id),
      },
    };
  }

  #wake(): void {
    for (const { engine } of this.#living) engine.wake(LANE);
  }

  #begin(calls: number): void {
    const crash = new Crash(calls);
    const store = this.#leases.storeFor(this.#store);
    let commits = 0;
    const unsure = losingAnswers(store, () => {
      commits += 1;
      return this.#isUnanswered(commits);
    });
    const jumping: Store = { ...unsure, now: async () => (await unsure.now()) + this.#aheadMs };
    const engine = this.#world.engine({
      store: crash.store(jumping),
      client: crash.client(this.#client),
    });
    // One that dies before it has started fails once all is over.
    engine.start().catch(() => {});
    this.#living.push({ engine, crash, store });
  }

  #end(instances: readonly Instance[]): void {
    this.#living = this.#living.filter((one) => !instances.includes(one));
    this.#dead.push(...instances);
    for (const { crash, store } of instances) {
      crash.now();
      this.#leases.lapse(store);
    }
  }
}

const FOREIGN = 'foreign';

function effectOf(index: number): string {
  return `effect ${index}`;
}
