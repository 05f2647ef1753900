/**
 * The promise: an accepted transaction has at most one effect on chain, nothing accepted is lost, and the end state
 * that is reported is true, whatever crash, lost message, reorganisation or foreign use of the key comes between.
 */
import fc from 'fast-check';
import t from 'tap';
import type { Wish } from '../../src/domain/intent.ts';
import type { Transaction } from '../../src/domain/transaction.ts';
import { isFinal } from '../../src/domain/transaction-state.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { Crash } from '../support/crash.ts';
import { ADDRESS, EngineWorld, LANE } from '../support/engine-world.ts';
import { FakeChain, type Fault } from '../support/fake-chain.ts';
import { VOID } from '../support/fake-chain-client.ts';
import { InstanceLeases } from '../support/instance-leases.ts';
import { losingAnswers } from '../support/lost-answers.ts';

type Event =
  | { kind: 'accept'; count: number; reverts: boolean }
  | { kind: 'mine'; limit: number }
  | { kind: 'faults'; faults: Fault[] }
  | { kind: 'reorganise'; depth: number }
  | { kind: 'forget pool' }
  | { kind: 'foreign use' }
  | { kind: 'signer fails'; every: number }
  | { kind: 'cancel'; which: number }
  | { kind: 'replace'; which: number }
  | { kind: 'expire'; which: number }
  | { kind: 'network asks for'; floor: number }
  | { kind: 'no node takes'; which: number }
  | { kind: 'patience'; ms: number }
  | { kind: 'commits unanswered'; every: number }
  | { kind: 'second instance' }
  | { kind: 'crash'; after: number };

/** What happens, and how many calls the engine makes before the next thing happens. */
interface Moment {
  event: Event;
  calls: number;
}

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('accept' as const),
      count: fc.integer({ min: 1, max: 5 }),
      reverts: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('mine' as const), limit: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('faults' as const),
      faults: fc.array(fc.constantFrom<Fault>('request-lost', 'answer-lost', 'lie', undefined), { maxLength: 12 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('reorganise' as const), depth: fc.integer({ min: 1, max: 2 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget pool' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('foreign use' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('signer fails' as const), every: fc.integer({ min: 2, max: 4 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: fc.nat(20) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('replace' as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire' as const), which: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('network asks for' as const), floor: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('no node takes' as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('patience' as const), ms: fc.integer({ min: 1, max: 50 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('commits unanswered' as const), every: fc.integer({ min: 2, max: 5 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('second instance' as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('crash' as const), after: fc.integer({ min: 0, max: 60 }) }) },
);

const moment: fc.Arbitrary<Moment> = fc.record({ event, calls: fc.integer({ min: 0, max: 15 }) });

/** The longest that the world stands still for an engine that has nothing to do. */
const STILL_MS = 40;

/** One world's history, and the engine that lives in it at the moment. */
class History {
  readonly world: EngineWorld;
  readonly accepted: Transaction[] = [];
  foreign = 0;
  #isUnanswered: (commit: number) => boolean = () => false;
  readonly #others: Engine[] = [];
  readonly #dead: Engine[] = [];
  readonly #leases = new InstanceLeases(400);
  #engine: Engine;
  #crash: Crash;

  constructor(world: EngineWorld) {
    this.world = world;
    [this.#engine, this.#crash] = this.#begin(Number.POSITIVE_INFINITY);
  }

  async happen(event: Event): Promise<void> {
    const { world } = this;
    const { chain } = world;
    switch (event.kind) {
      case 'accept':
        for (let index = 0; index < event.count; index += 1) {
          const request = { effect: `effect ${this.accepted.length}`, reverts: event.reverts };
          this.accepted.push(await world.accept('', { request }));
        }
        return this.#engine.wake(LANE);
      case 'mine':
        return chain.mine(event.limit);
      case 'faults': {
        const faults = [...event.faults];
        chain.fault = () => faults.shift();
        return;
      }
      case 'reorganise':
        return chain.reorganise(event.depth);
      case 'forget pool':
        return chain.forgetPool();
      case 'foreign use':
        this.foreign += 1;
        chain.submit(
          JSON.stringify({
            from: ADDRESS,
            nonce: chain.pendingCount(ADDRESS).toString(),
            effect: `foreign ${this.foreign}`,
            cost: '1',
            reverts: false,
            price: '9',
          }),
        );
        return;
      case 'cancel':
        return this.#wish(event.which, { kind: 'cancel' });
      case 'replace': {
        const request = { effect: `effect ${event.which % Math.max(this.accepted.length, 1)} instead`, reverts: false };
        return this.#wish(event.which, { kind: 'replace', request, validUntil: null });
      }
      case 'expire': {
        const transaction = this.#choose(event.which);
        const { status } = transaction === undefined ? {} : await world.get(transaction);
        if (transaction === undefined || status === undefined || isFinal(status)) return;
        await world.store.write((writer) =>
          writer.updateTransaction(transaction.id, status, { validUntil: Date.now() - 1 }),
        );
        return;
      }
      case 'network asks for':
        chain.floor = BigInt(event.floor);
        return;
      case 'no node takes':
        chain.unacceptable.add(`effect ${event.which}`);
        return;
      case 'patience':
        world.client.patience = event.ms;
        return;
      case 'commits unanswered':
        this.#isUnanswered = (commit) => commit % event.every === 0;
        return;
      case 'second instance':
        this.#others.push(this.#begin(Number.POSITIVE_INFINITY)[0]);
        return;
      case 'signer fails':
        world.signer.failsAt = (signature) => signature % event.every === 0;
        return;
      case 'crash': {
        // The engine that lives now ends; the next one dies after so many of its calls.
        this.#crash.now();
        this.#dead.push(this.#engine);
        [this.#engine, this.#crash] = this.#begin(event.after);
        return;
      }
      default:
        return event satisfies never;
    }
  }

  /** Lets the engine live for so many of its calls to the chain. One that has died is followed by another. */
  async goOn(calls: number): Promise<void> {
    const { client } = this.world;
    const until = client.calls + calls;
    const end = Date.now() + STILL_MS;
    while (client.calls < until && Date.now() < end) {
      if (this.#crash.hasHappened) {
        this.#dead.push(this.#engine);
        [this.#engine, this.#crash] = this.#begin(Number.POSITIVE_INFINITY);
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  /** Everything works again, and time goes on until all that was accepted has ended and no gap is left. */
  async end(): Promise<void> {
    const { world } = this;
    world.chain.fault = () => undefined;
    world.signer.failsAt = () => false;
    this.#isUnanswered = () => false;
    this.#crash.now();
    this.#dead.push(this.#engine);
    [this.#engine, this.#crash] = this.#begin(Number.POSITIVE_INFINITY);
    const allEnded = async () => {
      const open = await world.store.read.openTransactions(LANE);
      const states = await Promise.all(this.accepted.map((transaction) => world.get(transaction)));
      return open.length === 0 && states.every(({ status }) => isFinal(status));
    };
    await world.until('all have ended', allEnded, { mining: true, withinMs: 40_000 });
    world.chain.mine();
  }

  /** Also the dead: what they wait for never answers, but their clocks would go on. */
  async close(): Promise<void> {
    for (const engine of this.#dead) void engine.close();
    await Promise.all([this.#engine, ...this.#others].map((engine) => engine.close()));
  }

  #choose(which: number): Transaction | undefined {
    return this.accepted[which % Math.max(this.accepted.length, 1)];
  }

  async #wish(which: number, wish: Wish): Promise<void> {
    const transaction = this.#choose(which);
    if (transaction === undefined) return;
    const { id: transactionId, lane } = transaction;
    await this.world.store.write((writer) => writer.insertIntent({ transactionId, lane, wish }));
    this.#engine.wake(LANE);
  }

  #begin(calls: number): [Engine, Crash] {
    const crash = new Crash(calls);
    let commits = 0;
    const leased = losingAnswers(this.#leases.storeFor(this.world.store), () => {
      commits += 1;
      return this.#isUnanswered(commits);
    });
    const store = crash.store(leased);
    const engine = this.world.engine({ store, client: crash.client(this.world.client) });
    void engine.start();
    return [engine, crash];
  }
}

async function check({ world, accepted }: History): Promise<void> {
  const effects = world.chain.executed.filter(({ transaction }) => !transaction.effect.startsWith('foreign'));
  const executed = effects.map(({ transaction }) => transaction.effect).filter((effect) => effect !== VOID);
  if (new Set(executed).size !== executed.length) throw new Error(`executed twice: ${executed}`);
  for (const [index, { id, relayerId }] of accepted.entries()) {
    const own = [`effect ${index}`, `effect ${index} instead`];
    const done = executed.filter((effect) => own.includes(effect));
    if (done.length > 1) throw new Error(`two effects: ${done}`);
    const { status, hash, statusReason, request } = await world.get({ id, relayerId });
    const seen = hash === null ? undefined : world.chain.find(hash);
    const isTrue = {
      confirmed: seen !== undefined && !seen.reverts && done[0] === request['effect'],
      failed: seen?.reverts === true || done.length === 0,
      canceled: done.length === 0,
      expired: done.length === 0,
    }[status as 'confirmed' | 'failed' | 'canceled' | 'expired'];
    if (!isTrue)
      throw new Error(`effect ${index} is ${status} (${statusReason}), but what ran is ${done} under ${hash}`);
  }
  const nonces = world.chain.executed.map(({ transaction }) => transaction.nonce);
  if (new Set(nonces).size !== nonces.length) throw new Error('a nonce was used twice');
  if (world.chain.pendingCount(ADDRESS) !== BigInt(nonces.length)) throw new Error('something is left in the pool');
}

/** Worlds mostly wait, so several live at once. */
const AT_ONCE = 8;
const FOR_MS = 15_000;

t.test('one effect, nothing lost, true end states', async (t) => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  const histories = fc.sample(fc.tuple(fc.array(moment, { minLength: 3, maxLength: 30 }), fc.boolean()), {
    numRuns: 500,
    unbiased: true,
    seed,
  });
  const end = Date.now() + FOR_MS;
  let [worlds, transactions] = [0, 0];
  const live = async () => {
    for (let drawn = histories.shift(); drawn !== undefined; drawn = Date.now() < end ? histories.shift() : undefined) {
      const [moments, strict] = drawn;
      const accepted = await liveThrough(moments, strict, seed);
      transactions += accepted;
      worlds += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, live));
  t.comment(`${worlds} worlds, ${transactions} transactions, SEED=${seed}`);
  t.ok(transactions > 20);
});

/** @returns how many transactions were accepted */
async function liveThrough(moments: readonly Moment[], strict: boolean, seed: number): Promise<number> {
  const teardowns: (() => unknown)[] = [];
  const chain = new FakeChain();
  chain.strict = strict;
  const world = await EngineWorld.open({ teardown: (end) => void teardowns.push(end) }, chain);
  const history = new History(world);
  try {
    for (const { event, calls } of moments) {
      await history.happen(event);
      await history.goOn(calls);
    }
    await history.end();
    await check(history);
    return history.accepted.length;
  } catch (error) {
    throw new Error(`SEED=${seed}: ${JSON.stringify({ strict, moments })}`, { cause: error });
  } finally {
    await history.close();
    for (const end of teardowns) await end();
  }
}
