import t from 'tap';
import type { BroadcastOutcome, TransactionObservation } from '../../../../../src/chains/chain-client.ts';
import { remember } from '../../../../../src/engine/lane/carry-out.ts';
import {
  decide,
  type Facts,
  type LaneCommand,
  nextPurposeOf,
  type SigningOutcome,
  unmined,
  type WantedAttempt,
  withdrawn,
} from '../../../../../src/engine/lane/decide.ts';
import { LaneMemory } from '../../../../../src/engine/lane/lane-memory.ts';
import { takeIn } from '../../../../../src/engine/lane/lane-step.ts';
import type { LaneChange, OpenTransaction } from '../../../../../src/engine/lane/ledger.ts';
import { OpenTransactions } from '../../../../../src/engine/lane/open-transactions.ts';
import { defaultTiming } from '../../../../../src/engine/timing.ts';
import { sequenceOf } from '../../../../../src/features/transactions/records/anchor.ts';
import { type Attempt, livingAttempts } from '../../../../../src/features/transactions/records/attempt.ts';
import { BEYOND_ANY_PAUSE_MS } from '../../../../../src/features/transactions/records/lane.ts';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';
import { isFinal } from '../../../../../src/features/transactions/records/transaction-state.ts';
import { pendingTransaction } from '../../../../support/engine-world.ts';
import { FakeFamily } from '../../../../support/fake-chain-client.ts';
import { fc, runsOf } from '../../../../support/properties.ts';
import { attemptOf } from '../../../../support/store.ts';

/*
 * Random lives of one lane, without a store, a network or a wait. The chain below knows the truth; the lane is told
 * parts of it, late or not at all. What `decide` answers is carried out in memory, and judged at once.
 */

/** Blocks deeper than this are final. */
const DEPTH = 2;
/** Somebody else's use of the key. */
const FOREIGN = 'foreign';

/** The account's sequences in blocks, and the bytes that a node's pool holds. */
class Truth {
  readonly blocks: string[] = [];
  readonly pool = new Map<bigint, Set<string>>();
  #final = 0;

  /** The sequence that the next block needs. */
  get count(): bigint {
    return BigInt(this.blocks.length);
  }

  get final(): bigint {
    return BigInt(this.#final);
  }

  /** The count with what waits in the pool. */
  get next(): bigint {
    let next = this.count;
    while ((this.pool.get(next)?.size ?? 0) > 0) next += 1n;
    return next;
  }

  mine(hash: string | undefined): void {
    if (hash !== undefined) this.blocks.push(hash);
    this.#final = Math.max(this.#final, this.blocks.length - DEPTH);
  }

  /** What is below the tip at this depth is final, whether or not blocks of the account follow. */
  settle(): void {
    this.#final = this.blocks.length;
  }

  reorganise(): void {
    this.blocks.length = this.#final;
  }

  observe({ transaction, attempts }: OpenTransaction): TransactionObservation {
    const sequence = transaction.sequence ?? 0n;
    const used = this.blocks[Number(sequence)];
    const isFinalUse = sequence < this.final;
    const ours = attempts.find(({ hash }) => hash === used);
    if (ours !== undefined)
      return { kind: 'included', hash: ours.hash, succeeded: true, final: isFinalUse, reason: null, fields: {} };
    if (used === undefined) return { kind: 'open' };
    return isFinalUse ? { kind: 'dead', anchor: 'used', reason: 'used' } : { kind: 'open', reason: 'used' };
  }
}

/** A generator of numbers in [0, 1), quick and the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One life of a lane. */
class History {
  readonly #random: () => number;
  readonly chain = new FakeFamily();
  readonly truth = new Truth();
  readonly memory = new LaneMemory(1_000);
  readonly timing = { ...defaultTiming, unprovedMs: 3_000, furtherMs: 500, refusalMs: 1_000, reofferMs: 2_000 };
  readonly all = new Map<string, Transaction>();
  readonly attempts = new Map<string, Attempt[]>();
  readonly #pending = new Map<string, Transaction>();
  readonly #settled: { sequence: bigint | null } = { sequence: null };
  readonly open: OpenTransactions;
  /** Whether an attempt may be made dearer. Where it may not, only repeated offers bring it into a block. */
  readonly #bumps: boolean;
  /** Faults happen while it is true. */
  isRough = true;
  now = 1_000_000;
  #made = 0;

  private constructor(seed: number, open: OpenTransactions) {
    this.#random = numbers(seed);
    this.#bumps = this.#chance(0.6);
    this.open = open;
  }

  static async begin(seed: number): Promise<History> {
    const nothing = { openTransactions: async () => [], settledSequence: async () => null };
    return new History(seed, await OpenTransactions.read(nothing, 'lane'));
  }

  get #at() {
    return { now: this.now, elapsed: this.now, random: this.#random };
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }

  #pick<T>(...all: readonly T[]): T {
    return all[Math.floor(this.#random() * all.length)] as T;
  }

  /** Asks for commands, twice: the state and the answer must be the same. */
  #decide(facts: Facts): LaneCommand[] {
    const commands = decide(this, facts, { ...this.#at, random: () => 0.5 });
    if (this.#chance(0.02)) {
      const again = decide(this, facts, { ...this.#at, random: () => 0.5 });
      same(again, commands, 'deciding changes nothing');
    }
    return commands;
  }

  accept(): void {
    this.#made += 1;
    const validUntil = this.#chance(0.2) ? this.now + 5_000 : null;
    const about = { id: `t${this.#made}`, createdAt: this.now, nextActionAt: this.now, validUntil };
    const transaction = pendingTransaction('pay', { ...about, onDeath: this.#pick('end', 'renew') });
    this.all.set(transaction.id, transaction);
    this.#pending.set(transaction.id, transaction);
  }

  /** What happens outside of the lane. */
  #world(): void {
    const { truth } = this;
    this.now += this.#pick(50, 200, 1_000);
    if (this.isRough) {
      if (this.#chance(0.3)) this.accept();
      if (this.#chance(0.1)) truth.mine(FOREIGN);
      if (this.#chance(0.15)) truth.reorganise();
      if (this.#chance(0.1)) truth.pool.clear();
      if (this.#chance(0.1)) this.#cancel();
    }
    if (this.#chance(0.6)) this.#mine();
    if (this.#chance(0.15)) truth.settle();
  }

  #mine(): void {
    const ready = this.truth.pool.get(this.truth.count);
    const hash = ready === undefined || ready.size === 0 ? undefined : this.#pick(...ready);
    if (hash !== undefined) this.truth.pool.delete(this.truth.count);
    this.truth.mine(hash);
  }

  #cancel(): void {
    const one = this.#pick(undefined, ...this.open.entries.values());
    if (one === undefined || one.transaction.status === 'mined' || one.transaction.noopEnd !== null) return;
    this.#apply([withdrawn(one.transaction, 'canceled', 'canceling', 'canceled', this.now)]);
  }

  /** One step of the lane. */
  step(): void {
    this.#world();
    const looked = this.#decide({ kind: 'time' }).flatMap((one) => (one.do === 'observe' ? [one.entry] : []));
    this.#look(looked);
    const ids = new Set(
      unmined(this, this.#at).flatMap(({ transaction: { id, validUntil } }) =>
        validUntil !== null && validUntil <= this.now ? [id] : [],
      ),
    );
    this.#carryOut(this.#decide({ kind: 'expired', ids }));
    this.#carryOut(this.#decide({ kind: 'prospects', of: new Map(this.#prospects()) }));
    if (this.#chance(0.5)) this.#fillGaps();
    if (this.#chance(0.3)) this.#markMissing();
    this.#offer();
    this.#signPending();
    this.#judge();
  }

  #look(entries: readonly OpenTransaction[]): void {
    const isBlind = this.isRough && this.#chance(0.1);
    const seen = entries.map((entry) => [entry, isBlind ? 'not asked' : this.truth.observe(entry)] as const);
    this.#carryOut(this.#decide({ kind: 'observed', seen }));
  }

  *#prospects(): Generator<[string, { silentForMs: number | null; patienceMs: number }]> {
    for (const entry of unmined(this, this.#at)) {
      const purpose = nextPurposeOf(entry);
      if (purpose === undefined || (purpose === 'bump' && !this.#bumps)) continue;
      const acceptedAt = entry.attempts.at(-1)?.acceptedAt ?? null;
      const silentForMs = acceptedAt === null ? null : this.now - acceptedAt;
      yield [entry.transaction.id, { silentForMs, patienceMs: 1_500 }];
    }
  }

  get #held(): Set<bigint> {
    return new Set([...this.open.entries.values()].flatMap(({ transaction }) => transaction.sequence ?? []));
  }

  #fillGaps(): void {
    const figures = { chain: this.truth.next, held: this.#held, settled: this.#settled.sequence };
    const free = this.memory.planner.gaps(figures, this.now);
    const facts = { kind: 'gaps', relayerId: 'r1', free, beyond: [], expired: new Set<string>() } as const;
    for (const command of this.#decide(facts)) {
      if (command.do !== 'fillGap') continue;
      this.#made += 1;
      const transaction = pendingTransaction('nothing', { id: `g${this.#made}`, createdAt: this.now });
      this.#sign({ transaction, earlier: [], spec: { purpose: 'noop' }, fills: command.sequence }, command.sequence);
    }
  }

  #markMissing(): void {
    for (const { transaction, attempts } of unmined(this, this.#at)) {
      const isLost = (transaction.sequence ?? 0n) >= this.truth.next && attempts.at(-1)?.acceptedAt !== null;
      if (isLost) this.memory.offers.missing(transaction.id);
    }
  }

  #carryOut(commands: readonly LaneCommand[]): void {
    for (const command of commands) {
      const isWithdrawn = command.do === 'expire' || command.do === 'giveUp';
      if (isWithdrawn && command.change.transaction.status === 'mined') throw new Error('withdrawn while in a block');
      if (command.do === 'endOrRenew') this.#judgeDeath(command);
      remember(this.memory, command, this.#at);
    }
    this.#apply(commands.flatMap((command) => ('change' in command ? (command.change ?? []) : [])));
    const wanted = commands.flatMap((command) => ('wanted' in command ? [command.wanted] : []));
    if (wanted.length === 0) return;
    this.#carryOut(
      this.#decide({ kind: 'signing', outcomes: wanted.map((one) => [one, this.#further(one)] as const) }),
    );
  }

  #further(wanted: WantedAttempt): SigningOutcome {
    const outcome = this.isRough ? this.#random() : 0;
    if (outcome > 0.9) return { kind: 'parked', reason: 'cap', cause: 'price' };
    if (outcome > 0.8) return { kind: 'failed', reason: 'vault' };
    if (outcome > 0.78 && wanted.spec.purpose === 'bump') return { kind: 'refused', reason: 'no price' };
    this.#sign(wanted, sequenceOf(wanted.earlier.at(-1)?.anchor ?? { kind: 'none' }));
    return { kind: 'signed' };
  }

  #sign({ transaction, earlier, spec }: WantedAttempt, sequence: bigint | null): void {
    if (sequence === null) throw new Error(`${transaction.id} is signed without a sequence`);
    const { id } = transaction;
    const others = [...this.open.entries.values()].filter((one) => one.transaction.id !== id);
    if (others.some((one) => one.transaction.sequence === sequence)) throw new Error(`two payments under ${sequence}`);
    for (const one of this.attempts.get(id) ?? []) {
      const before = sequenceOf(one.anchor) ?? 0n;
      if (before !== sequence && before >= this.truth.final)
        throw new Error(`${id} is signed under ${sequence} while ${before} can still be mined`);
    }
    const ordinal = (earlier.at(-1)?.ordinal ?? 0) + 1;
    const about = { ordinal, sequence, purpose: spec.purpose, createdAt: this.now, hash: `${id}/${ordinal}` };
    const attempt = attemptOf(transaction, about);
    this.attempts.set(id, [...(this.attempts.get(id) ?? []), attempt]);
    if (spec.purpose !== 'send') this.memory.offers.signedAnew(id);
    const status = transaction.status === 'pending' ? 'sent' : transaction.status;
    const signed = { ...transaction, status, sequence, hash: attempt.hash, nextActionAt: this.now } as const;
    this.#pending.delete(id);
    this.all.set(id, signed);
    this.open.set(id, { transaction: signed, attempts: [...earlier, attempt] });
  }

  #offer(): void {
    const commands = this.#decide({ kind: 'pools' });
    const offered = new Map<bigint, string>();
    const outcomes = commands.flatMap((command): (readonly [OpenTransaction, BroadcastOutcome])[] => {
      if (command.do !== 'rebroadcast') return [];
      const { transaction, attempts } = command.entry;
      const latest = attempts.at(-1);
      const sequence = transaction.sequence ?? -1n;
      if (latest === undefined || latest.deadAt !== null) throw new Error('dead bytes are offered');
      if (offered.has(sequence)) throw new Error(`${sequence} is offered for two payments`);
      if (transaction.noopEnd !== null && latest.purpose !== 'noop') throw new Error('withdrawn bytes are offered');
      offered.set(sequence, transaction.id);
      return [[command.entry, this.#answer(latest, sequence)]];
    });
    this.#carryOut(this.#decide({ kind: 'answers', outcomes }));
    const held = commands.filter((command) => command.do === 'holdBack');
    const blocker = held[0]?.below && this.open.entries.get(held[0].below.transaction.id)?.transaction;
    if (blocker !== undefined)
      this.#carryOut(this.#decide({ kind: 'no room', blocker, entries: held.map(({ entry }) => entry) }));
    this.#look(
      outcomes.flatMap(([{ transaction }, { kind }]) =>
        kind === 'accepted' ? [] : (this.open.entries.get(transaction.id) ?? []),
      ),
    );
  }

  #answer({ hash }: Attempt, sequence: bigint): BroadcastOutcome {
    const reason = 'node says so';
    if (this.isRough && this.#chance(0.3))
      return { kind: this.#pick('busy', 'refused', 'unknown', 'fee-too-low', 'underpriced', 'unfunded'), reason };
    if (sequence < this.truth.count) return { kind: 'anchor-used', reason };
    this.truth.pool.set(sequence, new Set([...(this.truth.pool.get(sequence) ?? []), hash]));
    // The answer may get lost, and the node has the bytes.
    return this.isRough && this.#chance(0.1) ? { kind: 'unknown', reason } : { kind: 'accepted' };
  }

  #signPending(): void {
    const due = [...this.#pending.values()];
    for (const transaction of due) {
      if (transaction.validUntil === null || transaction.validUntil > this.now) continue;
      this.#pending.delete(transaction.id);
      this.all.set(transaction.id, { ...transaction, status: 'expired' });
    }
    const left = [...this.#pending.values()];
    if (left.length === 0) return;
    const lagging = this.isRough && this.#chance(0.1) && this.truth.next > 0n ? 1n : 0n;
    const figures = { chain: this.truth.next - lagging, held: this.#held, settled: this.#settled.sequence };
    const plan = this.memory.planner.plan(figures, left.length, this.now);
    if (plan.kind === 'wait') return;
    for (const [index, transaction] of left.entries()) {
      const earlier = this.attempts.get(transaction.id) ?? [];
      this.#sign({ transaction, earlier, spec: { purpose: 'send' } }, plan.sequences[index] ?? null);
    }
  }

  /** What the ledger does. */
  #apply(changes: readonly LaneChange[]): void {
    const applied = new Map<string, Transaction>();
    for (const { transaction, set, died, accepted } of changes) {
      const { id } = transaction;
      const now = { ...transaction, ...set };
      applied.set(id, now);
      this.all.set(id, now);
      if (now.status === 'pending') this.#pending.set(id, now);
      if (isFinal(now.status) && now.sequence !== null) {
        const after = now.sequence + 1n;
        if (this.#settled.sequence === null || after > this.#settled.sequence) this.#settled.sequence = after;
      }
      const news = (this.attempts.get(id) ?? []).map((one) => ({
        ...one,
        ...(died?.ordinals.includes(one.ordinal) === true && { deadAt: died.at }),
        ...(accepted?.ordinal === one.ordinal && { acceptedAt: one.acceptedAt ?? accepted.at }),
      }));
      this.attempts.set(id, news);
    }
    takeIn(this, changes, applied);
  }

  #judgeDeath({ change: { transaction } }: Extract<LaneCommand, { do: 'endOrRenew' }>): void {
    const sequence = transaction.sequence ?? 0n;
    const used = this.truth.blocks[Number(sequence)];
    const isOurs = (this.attempts.get(transaction.id) ?? []).some(({ hash }) => hash === used);
    if (sequence >= this.truth.final || isOurs) throw new Error(`${transaction.id} is called dead without evidence`);
  }

  #judge(): void {
    for (const [id, { transaction, attempts }] of this.open.entries) {
      const { nextActionAt, sequence, status } = transaction;
      if (status === 'pending' || isFinal(status)) throw new Error(`${id} is ${status} and open`);
      if (nextActionAt === null || nextActionAt > this.now + BEYOND_ANY_PAUSE_MS)
        throw new Error(`${id} has no next time`);
      if (livingAttempts(attempts).length === 0) throw new Error(`${id} is open with no living attempt`);
      if (livingAttempts(attempts).some(({ anchor }) => sequenceOf(anchor) !== sequence))
        throw new Error(`${id} has living attempts under two sequences`);
    }
    for (const { id, status, noopEnd, sequence } of this.all.values()) {
      if (status === 'pending' && (noopEnd !== null || sequence !== null)) throw new Error(`${id} cannot be pending`);
      if (noopEnd !== null && isFinal(status) && status !== noopEnd && status !== 'confirmed')
        throw new Error(`${id} is to end as ${noopEnd}, and is ${status}`);
      if (!isFinal(status) && !this.open.entries.has(id) && !this.#pending.has(id)) throw new Error(`${id} is lost`);
    }
  }

  /** Lets the world be kind until all has ended. What was accepted then has its one effect, or none for good. */
  end(): void {
    this.isRough = false;
    for (let round = 0; round < 200 && (this.open.entries.size > 0 || this.#pending.size > 0); round += 1) {
      this.now += 1_000;
      this.step();
    }
    for (const { id, status } of this.all.values()) {
      if (!isFinal(status)) throw new Error(`${id} does not end: ${status}`);
      const own = (this.attempts.get(id) ?? []).filter(({ purpose }) => purpose !== 'noop').map(({ hash }) => hash);
      const effects = this.truth.blocks.filter((hash) => own.includes(hash)).length;
      const expected = status === 'confirmed' && !id.startsWith('g') ? 1 : 0;
      if (effects !== expected) throw new Error(`${id} is ${status} and was executed ${effects} times`);
    }
  }
}

function same(actual: unknown, expected: unknown, what: string): void {
  const text = (value: unknown) =>
    JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one));
  if (text(actual) !== text(expected)) throw new Error(what);
}

t.test('in every life of a lane, each payment has one effect or none, and always a next time', async (t) => {
  const lives = fc.asyncProperty(fc.integer(), async (seed) => {
    const history = await History.begin(seed);
    for (let round = 0; round < 3; round += 1) history.accept();
    for (let round = 0; round < 30; round += 1) history.step();
    history.end();
  });
  await t.resolves(fc.assert(lives, { numRuns: runsOf(1_000) }));
});

t.test('once a block takes one, the others that were looked for with it are looked for soon', async (t) => {
  const history = await History.begin(1);
  const entry = (id: string): OpenTransaction => {
    const about = { id, createdAt: 0, sentAt: 0, nextActionAt: 0, sequence: 0n };
    const transaction = pendingTransaction('pay', { ...about, status: 'submitted' });
    return { transaction, attempts: [attemptOf(transaction, { hash: id, acceptedAt: 0 })] };
  };
  const now = 60_000;
  const { lookMs, lookCapMs } = history.timing;
  const pauseBeside = (seen: TransactionObservation) => {
    const facts = {
      kind: 'observed',
      seen: [[entry('a'), { kind: 'open' }] as const, [entry('b'), seen] as const],
    } as const;
    history.memory.offers.accepted('a', now);
    const [first] = decide(history, facts, { now, elapsed: now, random: () => 0 });
    return first?.do === 'wait' ? Number(first.change.set.nextActionAt) - now : undefined;
  };
  t.equal(pauseBeside({ kind: 'open' }), lookCapMs);
  const block = { succeeded: true, final: false, reason: null, fields: {} };
  t.equal(pauseBeside({ kind: 'included', hash: 'b', ...block }), lookMs);
});
