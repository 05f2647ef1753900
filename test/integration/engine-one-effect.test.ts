/**
 * The promise: an accepted transaction has at most one effect on chain, nothing accepted is lost, and the end state
 * that is reported is true, whatever crash, lost message, reorganisation or foreign use of the key comes between.
 */
import fc from 'fast-check';
import t from 'tap';
import type { Transaction } from '../../src/domain/transaction.ts';
import { isFinal } from '../../src/domain/transaction-state.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { Crash } from '../support/crash.ts';
import { ADDRESS, EngineWorld, LANE } from '../support/engine-world.ts';
import { FakeChain, type Fault } from '../support/fake-chain.ts';

type Event =
  | { kind: 'accept'; count: number; reverts: boolean }
  | { kind: 'mine'; limit: number }
  | { kind: 'faults'; faults: Fault[] }
  | { kind: 'reorganise'; depth: number }
  | { kind: 'forget pool' }
  | { kind: 'foreign use' }
  | { kind: 'signer fails'; every: number }
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
      faults: fc.array(fc.constantFrom<Fault>('request-lost', 'answer-lost', undefined), { maxLength: 8 }),
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
          }),
        );
        return;
      case 'signer fails':
        world.signer.failsAt = (signature) => signature % event.every === 0;
        return;
      case 'crash': {
        // The engine that lives now ends; the next one dies after so many of its calls.
        this.#crash.now();
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
      if (this.#crash.hasHappened) [this.#engine, this.#crash] = this.#begin(Number.POSITIVE_INFINITY);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  /**
   * Everything works again, and time goes on until all that was accepted has ended. Where the pool lost somebody
   * else's use of the key, a sequence is missing below ours: new transactions fill it.
   */
  async end(): Promise<void> {
    const { world } = this;
    world.chain.fault = () => undefined;
    world.signer.failsAt = () => false;
    this.#crash.now();
    [this.#engine, this.#crash] = this.#begin(Number.POSITIVE_INFINITY);
    let fillers = 0;
    const allEnded = async () => {
      const missing = world.chain.pendingCount(ADDRESS);
      const open = await world.store.read.openTransactions(LANE);
      const isStuck = open.length > 0 && open.every(({ transaction }) => (transaction.sequence ?? 0n) > missing);
      if (isStuck && fillers < this.foreign && world.chain.height % 50 === 0) {
        fillers += 1;
        await this.happen({ kind: 'accept', count: 1, reverts: false });
      }
      const states = await Promise.all(this.accepted.map((transaction) => world.get(transaction)));
      return states.every(({ status }) => isFinal(status));
    };
    await world.until('all have ended', allEnded, { mining: true, withinMs: 5_000 });
    await this.#engine.close();
  }

  #begin(calls: number): [Engine, Crash] {
    const crash = new Crash(calls);
    const engine = this.world.engine({ store: crash.store(this.world.store), client: crash.client(this.world.client) });
    void engine.start();
    return [engine, crash];
  }
}

async function check({ world, accepted, foreign }: History): Promise<void> {
  const executed = world.chain.executed.map(({ transaction }) => transaction.effect);
  if (new Set(executed).size !== executed.length) throw new Error(`executed twice: ${executed}`);
  const lost = [];
  for (const { id, relayerId, request } of accepted) {
    const { status, hash, statusReason } = await world.get({ id, relayerId });
    const seen = hash === null ? undefined : world.chain.find(hash);
    const outcome = seen === undefined ? 'not executed' : seen.reverts ? 'reverted' : 'executed';
    const truth = {
      confirmed: 'executed',
      failed: request['reverts'] && seen !== undefined ? 'reverted' : 'not executed',
    };
    if (outcome !== truth[status as 'confirmed' | 'failed']) {
      throw new Error(`${String(request['effect'])} is ${status} (${statusReason}), but ${outcome}`);
    }
    if (status === 'failed' && seen === undefined) {
      if (executed.includes(String(request['effect']))) throw new Error(`${String(request['effect'])} failed but ran`);
      lost.push(statusReason);
    }
  }
  if (lost.length > 0 && foreign === 0) throw new Error(`failed although nobody else used the key: ${lost.join('; ')}`);
  const perSequence = new Map<string, number>();
  for (const { transaction } of world.chain.executed) {
    perSequence.set(transaction.nonce, (perSequence.get(transaction.nonce) ?? 0) + 1);
  }
  if ([...perSequence.values()].some((count) => count !== 1)) throw new Error('a nonce was used twice');
}

t.test('one effect, nothing lost, true end states', async (t) => {
  let transactions = 0;
  const property = fc.asyncProperty(
    fc.array(moment, { minLength: 3, maxLength: 25 }),
    fc.boolean(),
    async (moments, strict) => {
      const teardowns: (() => unknown)[] = [];
      const chain = new FakeChain();
      chain.strict = strict;
      const world = await EngineWorld.open({ teardown: (end) => void teardowns.push(end) }, chain);
      try {
        const history = new History(world);
        for (const { event, calls } of moments) {
          await history.happen(event);
          await history.goOn(calls);
        }
        await history.end();
        await check(history);
        transactions += history.accepted.length;
      } finally {
        for (const end of teardowns) await end();
      }
    },
  );
  await fc.assert(property, { numRuns: 60, interruptAfterTimeLimit: 12_000 });
  t.comment(`${transactions} transactions`);
  t.ok(transactions > 20);
});
