import t, { type Test } from 'tap';
import type { BroadcastOutcome } from '../../../../../src/chains/chain-client.ts';
import { broadcastDueTransactions, markMissing } from '../../../../../src/engine/lane/broadcast.ts';
import { BroadcastHistory } from '../../../../../src/engine/lane/broadcast-history.ts';
import { decide } from '../../../../../src/engine/lane/decide.ts';
import { PoolWatch } from '../../../../../src/engine/lane/lane-memory.ts';
import { type LaneStep, momentOf } from '../../../../../src/engine/lane/lane-step.ts';
import type { OpenTransaction } from '../../../../../src/engine/lane/ledger.ts';
import { signPending } from '../../../../../src/engine/lane/sign-pending.ts';
import type { EngineTiming } from '../../../../../src/engine/timing.ts';
import { sequenceOf } from '../../../../../src/features/transactions/records/anchor.ts';
import type { Attempt } from '../../../../../src/features/transactions/records/attempt.ts';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';
import { EngineWorld, pendingTransaction, present, stepAt } from '../../../../support/engine-world.ts';

/** A step with this many transactions, signed but not offered. */
async function signed(
  world: EngineWorld,
  count: number,
  timing: Partial<EngineTiming> = {},
): Promise<{ step: LaneStep; transactions: Transaction[] }> {
  const pending = [];
  for (let index = 0; index < count; index += 1) pending.push(await world.accept(`pay ${index}`));
  const step = await world.step(timing);
  await signPending(step, pending);
  return { step, transactions: await Promise.all(pending.map((transaction) => world.get(transaction))) };
}

/** Timing under which nothing is offered again during the test. */
const PATIENT = { retryMs: 50_000, retryCapMs: 50_000, reofferMs: 600_000 };

/** Makes the node answer the broadcasts with these outcomes in turn. Returns the sequences offered to it. */
function answers(world: EngineWorld, outcomes: BroadcastOutcome['kind'][]): bigint[] {
  const offered: bigint[] = [];
  world.client.broadcast = async (attempts: readonly Attempt[]) =>
    attempts.map(({ anchor }) => {
      offered.push(sequenceOf(anchor) ?? -1n);
      const kind = outcomes.shift() ?? 'accepted';
      return kind === 'accepted' ? { kind } : { kind, reason: `node says ${kind}` };
    });
  return offered;
}

t.test('taken bytes are submitted, lowest sequence first', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transactions } = await signed(world, 3);
  const offered = answers(world, []);
  const { offered: count, notTaken } = await broadcastDueTransactions(step);
  t.strictSame([count, notTaken], [3, []]);
  t.strictSame(offered, [0n, 1n, 2n]);
  for (const transaction of transactions) {
    const now = await world.get(transaction);
    t.equal(now.status, 'submitted');
    t.ok(now.sentAt !== null && now.nextActionAt !== null && now.nextActionAt > 0);
    t.ok((await world.store.read.attempts(transaction.id))[0]?.acceptedAt);
  }
});

for (const kind of ['unknown', 'refused', 'busy', 'unfunded', 'anchor-used'] as const) {
  t.test(
    `an offer with the outcome ${kind} is repeated later, stops nobody and is looked for on the chain`,
    async (t) => {
      const world = await EngineWorld.open(t);
      const { step, transactions } = await signed(world, 3);
      const offered = answers(world, ['accepted', kind]);
      const { notTaken } = await broadcastDueTransactions(step);
      t.strictSame(offered, [0n, 1n, 2n]);
      t.strictSame(
        notTaken.map(({ transaction }) => transaction.id),
        [transactions[1]?.id],
      );
      const [, failed, behind] = await Promise.all(transactions.map((transaction) => world.get(transaction)));
      t.match(failed, { status: 'sent', statusReason: `node says ${kind}`, hash: transactions[1]?.hash });
      t.ok((failed?.nextActionAt ?? 0) > (transactions[1]?.nextActionAt ?? 0));
      t.equal(behind?.status, 'submitted');
      t.equal(step.memory.offers.anotherFor(failed?.id ?? ''), undefined);
    },
  );
}

for (const kind of ['underpriced', 'fee-too-low'] as const) {
  t.test(`an offer with the outcome ${kind} asks for a dearer version`, async (t) => {
    const world = await EngineWorld.open(t);
    const { step, transactions } = await signed(world, 1);
    answers(world, [kind]);
    await broadcastDueTransactions(step);
    t.ok(step.memory.offers.anotherFor(transactions[0]?.id ?? ''));
  });
}

t.test('a withdrawn payment is not offered again; its noop is, once it is signed', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transactions } = await signed(world, 2);
  const [first] = transactions;
  const entry = present(step.open.entries.get(first?.id ?? ''));
  step.open.set(entry.transaction.id, { ...entry, transaction: { ...entry.transaction, noopEnd: 'expired' } });
  const offered = answers(world, ['anchor-ahead', 'anchor-ahead']);
  await broadcastDueTransactions(step);
  t.strictSame(offered, [1n, 1n], 'not even for a node that misses it');
  const [attempt] = entry.attempts;
  step.open.set(entry.transaction.id, {
    ...present(step.open.entries.get(entry.transaction.id)),
    attempts: [{ ...present(attempt), purpose: 'noop' }],
  });
  await broadcastDueTransactions(step);
  t.equal(offered[2], 0n);
});

t.test('what can never execute is not offered', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transactions } = await signed(world, 2);
  const entry = present(step.open.entries.get(present(transactions[0]).id));
  const [attempt] = entry.attempts;
  step.open.set(entry.transaction.id, { ...entry, attempts: [{ ...present(attempt), deadAt: 1 }] });
  step.memory.offers.missing(entry.transaction.id);
  const offered = answers(world, []);
  await broadcastDueTransactions(step);
  t.strictSame(offered, [1n]);
});

t.test('a node that misses a lower sequence gets all lower ones first, once in a round', async (t) => {
  const world = await EngineWorld.open(t);
  const { step: hasty, transactions } = await signed(world, 3);
  const step = { ...hasty, timing: { ...hasty.timing, reofferMs: 60_000 } };
  answers(world, []);
  await broadcastDueTransactions(step);
  for (const { id } of transactions.slice(1)) {
    const entry = step.open.entries.get(id);
    if (entry === undefined) throw new Error('not open');
    step.open.set(id, { ...entry, transaction: { ...entry.transaction, nextActionAt: 0 } });
    step.memory.offers.forget(id);
  }

  const offered = answers(world, ['anchor-ahead', 'anchor-ahead', 'accepted', 'accepted', 'anchor-ahead']);
  await broadcastDueTransactions(step);
  t.strictSame(offered, [1n, 2n, 0n, 1n, 2n]);
  const [first, second, third] = await Promise.all(transactions.map((transaction) => world.get(transaction)));
  t.equal(first?.status, 'submitted');
  t.match(second, { status: 'submitted', statusReason: null });
  t.match(third, { status: 'submitted', statusReason: 'node says anchor-ahead' });
});

t.test('what a node took lately is not offered again; what it was silent about for long is', async (t) => {
  const world = await EngineWorld.open(t);
  const { step: hasty, transactions } = await signed(world, 1);
  const step = { ...hasty, timing: { ...hasty.timing, reofferMs: 60_000 } };
  const offered = answers(world, []);
  await broadcastDueTransactions(step);
  const id = transactions[0]?.id ?? '';
  const entry = step.open.entries.get(id);
  if (entry === undefined) throw new Error('not open');
  step.open.set(id, { ...entry, transaction: { ...entry.transaction, nextActionAt: 0 } });

  await broadcastDueTransactions(step);
  t.equal(offered.length, 1);
  await broadcastDueTransactions(stepAt(step, { elapsed: () => performance.now() + step.timing.reofferMs }));
  t.equal(offered.length, 2);
});

t.test('a client that throws changes no status', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transactions } = await signed(world, 1);
  world.client.broadcast = () => Promise.reject(new Error('bug'));
  await broadcastDueTransactions(step);
  t.match(await world.get(present(transactions[0])), { status: 'sent', statusReason: 'bug' });
});

t.test('nothing is offered where the store has no bytes', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transactions } = await signed(world, 1);
  const transaction = present(transactions[0]);
  step.open.set(transaction.id, { transaction, attempts: [] });
  t.match(await broadcastDueTransactions(step), { offered: 0 });
  t.strictSame(world.chain.received, []);
});

t.test('who took a version is kept, and who did not is told once with the reason', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transactions } = await signed(world, 1);
  const { id } = present(transactions[0]);
  const due = () => world.store.write((writer) => writer.updateTransaction(id, 'sent', { nextActionAt: 0 }));
  let outcome: BroadcastOutcome = { kind: 'busy', reason: 'txpool is full', by: 'https://a.test' };
  world.client.broadcast = async () => [outcome];
  await broadcastDueTransactions(step);
  await due();
  await broadcastDueTransactions({ ...step, open: (await world.step()).open });
  const told = { kind: 'not-taken', text: 'Attempt 1 not taken by https://a.test (busy): txpool is full' };
  t.match(await world.store.read.decisions(id, 10), [told]);
  t.equal((await world.store.read.decisions(id, 10)).length, 1);
  t.equal(world.logLines.filter((line) => line.includes('nodes did not accept a signed transaction')).length, 1);

  await due();
  outcome = { kind: 'accepted', by: 'https://b.test' };
  await broadcastDueTransactions({ ...step, open: (await world.step()).open });
  t.match(await world.store.read.attempts(id), [{ acceptedBy: 'https://b.test' }]);
  t.strictSame(world.metrics.of('transaction_broadcasts', 'outcome'), ['busy', 'busy', 'accepted']);
  t.strictSame(world.metrics.of('transaction_versions', 'purpose'), ['send']);
});

t.test('above one that nodes have no room for nothing is offered; it says why and comes with that one', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transactions } = await signed(world, 3, PATIENT);
  const [first, second, third] = transactions.map(({ id }) => present(step.open.entries.get(id)));
  step.open.delete(present(third).transaction.id);
  const offered = answers(world, ['busy', 'busy']);
  await broadcastDueTransactions(step);
  step.open.set(present(third).transaction.id, present(third));
  await broadcastDueTransactions(step);
  t.strictSame(offered, [0n, 1n]);
  const text = 'Attempt 1 not offered: no room for 0, which comes before it';
  const until = (await world.get(present(first).transaction)).nextActionAt;
  t.match(await world.get(present(third).transaction), { status: 'sent', statusReason: text, nextActionAt: until });
  const told = (await world.store.read.decisions(present(third).transaction.id, 10)).map(({ text }) => text);
  t.equal(told.at(-1), text);
  for (const entry of [first, second, third]) step.memory.offers.missing(present(entry).transaction.id);
  await broadcastDueTransactions(step);
  t.strictSame(offered.slice(2), [0n, 1n, 2n], 'when there is room, all come in order');
});

t.test(
  'when nodes took something above, there is room again: what they turned away before comes at once',
  async (t) => {
    const world = await EngineWorld.open(t);
    const { step } = await signed(world, 4, PATIENT);
    const offered = answers(world, ['accepted', 'busy', 'accepted', 'busy']);
    await broadcastDueTransactions(step);
    await broadcastDueTransactions(step);
    t.strictSame(offered.slice(4), [1n]);
    await broadcastDueTransactions(step);
    t.equal(offered.length, 5, 'the last one waits for its time');
  },
);

t.test('offer round', async (t) => {
  /** A lane with this many signed transactions. `round` returns the sequences of the round made from the given ones. */
  async function lane(t: Test, count: number) {
    const world = await EngineWorld.open(t);
    const pending = [];
    for (let index = 0; index < count; index += 1) pending.push(await world.accept(`pay ${index}`));
    const step = await world.step();
    await signPending(step, pending);
    const at = (place: number): OpenTransaction => present(step.open.bySequence[place]);
    const round = (...places: number[]) => {
      for (const [place, { transaction, attempts }] of step.open.bySequence.entries()) {
        const nextActionAt = places.includes(place) ? 0 : Date.now() + 30_000;
        step.open.set(transaction.id, { transaction: { ...transaction, nextActionAt }, attempts });
      }
      const commands = decide(step, { kind: 'pools' }, { ...momentOf(step), elapsed: Number.MAX_SAFE_INTEGER });
      const later = commands.filter((command) => command.do === 'holdBack');
      return {
        now: commands.flatMap((command) => (command.do === 'rebroadcast' ? sequenceOf(command.entry) : [])),
        later: later.map(({ entry }) => sequenceOf(entry)),
        blocker: later[0]?.below && sequenceOf(later[0].below),
      };
    };
    const busy = (place: number) => step.memory.offers.isNews(at(place).transaction.id, 'busy');
    return { step, at, round, busy };
  }

  const sequenceOf = ({ transaction }: OpenTransaction) => Number(transaction.sequence);
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

  /** Marks the entry as accepted by a node. */
  function take(step: LaneStep, entry: OpenTransaction): void {
    const attempts = entry.attempts.map((attempt) => ({ ...attempt, acceptedAt: 1 }));
    step.open.set(entry.transaction.id, { ...entry, attempts });
  }

  t.test('once nodes had no room, sixteen are offered at a time', async (t) => {
    const { round, busy } = await lane(t, 20);
    busy(0);
    t.strictSame(round(...range(0, 20)), { now: range(0, 16), later: range(16, 20), blocker: undefined });
  });

  t.test('what a node took, and what other words were said of, holds up nothing', async (t) => {
    const { step, at, round, busy } = await lane(t, 4);
    busy(0);
    take(step, at(0));
    step.memory.offers.isNews(at(1).transaction.id, 'unknown');
    t.strictSame(round(2, 3), { now: [2, 3], later: [], blocker: undefined });
  });

  t.test('what a node took goes to it again, whatever waits below', async (t) => {
    const { step, at, round, busy } = await lane(t, 3);
    busy(0);
    take(step, at(1));
    t.strictSame(round(1, 2), { now: [1], later: [2], blocker: 0 });
  });

  t.test('what is not in the order of the account does not wait for it', async (t) => {
    const { step, at, round, busy } = await lane(t, 3);
    busy(0);
    const { transaction, attempts } = at(1);
    step.open.set(transaction.id, { transaction: { ...transaction, anchorKind: 'text' }, attempts });
    t.strictSame(round(1, 2), { now: [1], later: [2], blocker: 0 });
  });
});

/** Six transactions that a node accepts, although its pool holds only two. The test sets the clock. */
async function scene(t: Test, { said = 'dropsSilently' }: { said?: 'dropsSilently' | 'isFull' } = {}) {
  const world = await EngineWorld.open(t);
  world.chain[said] = (held) => held >= 2;
  const pending: Transaction[] = [];
  for (let index = 0; index < 6; index += 1) pending.push(await world.accept(`pay ${index}`));
  let now = 10_000;
  const timing = { poolMs: 1_000, batch: 3, reofferMs: 3_600_000, retryMs: 3_600_000, retryCapMs: 3_600_000 };
  const pool = new PoolWatch();
  const made = stepAt(await world.step(timing), { elapsed: () => now, now: () => 5_000 });
  const step = { ...made, memory: Object.assign(made.memory, { pool }) };
  await signPending(step, await Promise.all(pending.map((one) => world.get(one))));
  await broadcastDueTransactions(stepAt(step, { now: () => Date.now() + 1 }));
  let asked = 0;
  const nextSequence = world.client.sequences.next.bind(world.client);
  world.client.sequences.next = async (address) => {
    asked += 1;
    return nextSequence(address);
  };
  /** Moves the clock, then returns the indexes of the transactions to offer again, and how often the node was asked. */
  const after = async (ms: number, { room = false } = {}) => {
    now += ms;
    if (room) pool.moved(now);
    asked = 0;
    await markMissing(step);
    const missing = pending.flatMap(({ id }, place) => (step.memory.offers.isMissing(id) ? [place] : []));
    return { asked, missing };
  };
  return { world, step, after };
}

t.test('what a node took and does not have is found when a block has made room, the lowest first', async (t) => {
  const { after } = await scene(t);
  t.strictSame(await after(999, { room: true }), { asked: 0, missing: [] }, 'it may be on its way');
  t.strictSame(await after(1), { asked: 1, missing: [2, 3, 4] });
});

t.test('without a block the node is asked more rarely', async (t) => {
  const { after } = await scene(t);
  t.strictSame(await after(1_000), { asked: 1, missing: [2, 3, 4] }, 'the first time');
  t.equal((await after(4_999)).asked, 0);
  t.equal((await after(1)).asked, 1);
  t.equal((await after(1_000, { room: true })).asked, 1);
});

t.test('what the node has is left alone, and what it lacks is offered once', async (t) => {
  const { world, step, after } = await scene(t);
  await after(1_000, { room: true });
  world.chain.dropsSilently = () => false;
  const before = world.chain.received.length;
  await broadcastDueTransactions(step);
  t.strictSame(
    world.chain.received.slice(before).map((raw) => Number((JSON.parse(raw) as { nonce: string }).nonce)),
    [2, 3, 4],
  );
  t.strictSame((await after(1_000, { room: true })).missing, [5]);
  await broadcastDueTransactions(step);
  t.strictSame(await after(1_000, { room: true }), { asked: 1, missing: [] });
});

t.test('what it had no room for is offered again when there is room, and not before', async (t) => {
  const { world, step, after } = await scene(t, { said: 'isFull' });
  t.strictSame((await after(1_000)).missing, []);
  t.strictSame((await after(1_000, { room: true })).missing, [2, 3, 4]);
  world.chain.isFull = () => true;
  await broadcastDueTransactions(step);
  t.strictSame((await after(0)).missing, [], 'it was tried');
});

t.test('where nothing waits nobody is asked, and a node that does not answer marks nothing', async (t) => {
  const { world, step, after } = await scene(t);
  world.chain.fault = () => 'request-lost';
  t.strictSame((await after(1_000, { room: true })).missing, []);
  world.chain.fault = () => undefined;
  for (const id of step.open.entries.keys()) step.open.delete(id);
  t.equal((await after(10_000, { room: true })).asked, 0);
});

t.test('broadcast history', async (t) => {
  t.test('an offer is stale when no node took it, or the last one long ago', async (t) => {
    const book = new BroadcastHistory();
    t.ok(book.isStale('a', 0, 100));
    book.accepted('a', 50);
    t.notOk(book.isStale('a', 149, 100));
    t.ok(book.isStale('a', 150, 100));
    book.accepted('a', 150);
    book.failed('a');
    t.notOk(book.isStale('a', 151, 100), 'a later failure does not take the acceptance back');
  });

  t.test('what was offered and not taken is known until a further version is signed', async (t) => {
    const book = new BroadcastHistory();
    book.failed('a');
    t.notOk(book.wasNotTaken('a'), 'it was not even offered');
    book.isNews('a', 'anchor-ahead');
    t.ok(book.wasNotTaken('a'));
    book.signedAnew('a');
    t.notOk(book.wasNotTaken('a'));
  });

  t.test('a node that did not answer has not turned an attempt away', async (t) => {
    const book = new BroadcastHistory();
    t.notOk(book.wasTurnedAway('a'));
    book.isNews('a', 'unknown');
    t.notOk(book.wasTurnedAway('a'));
    book.isNews('a', 'busy');
    t.ok(book.wasTurnedAway('a'));
  });

  t.test('words that nobody knows count while they stay the same, but for their figures', async (t) => {
    const book = new BroadcastHistory();
    const say = (times: number, words = 'declined') => {
      for (let time = 0; time < times; time += 1) book.turnedAway('a', `${words} (trace ${time}, 0xab${time})`, time);
    };
    say(9);
    t.notOk(book.isTurnedAway('a', 1_000, 100), 'not often enough');
    say(1);
    t.ok(book.isTurnedAway('a', 1_000, 100));
    t.notOk(book.isTurnedAway('a', 99, 100), 'not for long enough');
    book.notTurnedAway('a');
    t.notOk(book.isTurnedAway('a', 1_000, 100), 'a node may have it');
    say(9);
    say(1, 'not today');
    t.notOk(book.isTurnedAway('a', 1_000, 100), 'other words');
    say(9, 'not today');
    t.ok(book.isTurnedAway('a', 1_000, 100));
    book.signedAnew('a');
    t.notOk(book.isTurnedAway('a', 1_000, 100), 'nothing was said of the new attempt');
  });

  t.test('what is forgotten takes no room', async (t) => {
    const book = new BroadcastHistory();
    book.failed('a');
    book.accepted('b', 1);
    book.forget('a');
    book.forget('b');
    t.equal(book.size, 0);
  });

  const waiting = (id: string) => ({ ...pendingTransaction('pay'), id, relayerId: 'r1' });

  t.test('why a transaction waits is known until it goes on, and told anew when it is another reason', (t) => {
    const book = new BroadcastHistory();
    t.equal(book.causeOf('a'), undefined);
    t.ok(book.park(waiting('a'), 'price', 0));
    t.notOk(book.park(waiting('a'), 'price', 5));
    t.ok(book.park(waiting('a'), 'balance', 9));
    book.accepted('a', 10);
    t.equal(book.causeOf('a'), 'balance', 'an offer of the same bytes changes nothing');
    book.park(waiting('b'), 'budget', 0);
    t.match(book.parked(), [{ relayerId: 'r1', networkType: 'evm', cause: 'balance' }, { cause: 'budget' }]);
    book.signedAnew('a');
    book.forget('b');
    t.strictSame(book.parked(), []);
    t.end();
  });

  t.test('what nodes say is news once for each version', (t) => {
    const book = new BroadcastHistory();
    t.ok(book.isNews('a', 'busy'));
    t.notOk(book.isNews('a', 'busy'));
    t.ok(book.isNews('a', 'refused'));
    book.accepted('a', 1);
    t.notOk(book.isNews('a', 'busy'));
    book.signedAnew('a');
    t.ok(book.isNews('a', 'busy'));
    t.end();
  });
});
