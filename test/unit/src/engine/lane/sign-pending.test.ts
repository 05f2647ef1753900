import t, { type Test } from 'tap';
import type { LaneStep } from '../../../../../src/engine/lane/lane-step.ts';
import { signInBatches, withFreshSalt } from '../../../../../src/engine/lane/sign-attempts.ts';
import { parkTransaction, signPending } from '../../../../../src/engine/lane/sign-pending.ts';
import type { Anchor } from '../../../../../src/features/transactions/records/anchor.ts';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';
import type { TransactionStatus } from '../../../../../src/features/transactions/records/transaction-state.ts';
import { DuplicateRecord } from '../../../../../src/store/tables/stored-record.ts';
import {
  EngineWorld,
  pendingTransaction,
  present,
  relayerNamed,
  signDueAttempts,
  stepAt,
} from '../../../../support/engine-world.ts';
import { attemptOf } from '../../../../support/store.ts';

/** Returns those of the transactions that were signed. */
async function signedOf(step: LaneStep, pending: readonly Transaction[]): Promise<Transaction[]> {
  await signPending(step, pending);
  return pending.filter(({ id }) => step.open.entries.has(id));
}

async function acceptMany(world: EngineWorld, count: number): Promise<Transaction[]> {
  const accepted = [];
  for (let index = 0; index < count; index += 1) accepted.push(await world.accept(`pay ${index}`));
  return accepted;
}

t.test('sequences follow the order given and lie in the store with their bytes, before anything leaves', async (t) => {
  const world = await EngineWorld.open(t);
  const pending = await acceptMany(world, 3);
  const step = await world.step();
  await signPending(step, pending);

  const states = await Promise.all(pending.map((transaction) => world.get(transaction)));
  t.strictSame(
    states.map(({ status, sequence }) => [status, sequence]),
    [
      ['sent', 0n],
      ['sent', 1n],
      ['sent', 2n],
    ],
  );
  for (const { id, hash } of states) {
    const [attempt, ...others] = await world.store.read.attempts(id);
    t.match(attempt, { ordinal: 1, hash, acceptedAt: null });
    t.strictSame(others, []);
  }
  t.equal(step.open.entries.size, 3);
  t.strictSame(world.chain.received, []);
});

t.test('a failed signature leaves no gap: those behind it move down', async (t) => {
  const world = await EngineWorld.open(t);
  const pending = await acceptMany(world, 4);
  world.signer.failsAt = (signature) => signature === 2;
  await signPending(await world.step(), pending);

  const states = await Promise.all(pending.map((transaction) => world.get(transaction)));
  t.strictSame(
    states.map(({ status, sequence }) => [status, sequence]),
    [
      ['sent', 0n],
      ['pending', null],
      ['sent', 1n],
      ['sent', 2n],
    ],
  );
  t.match(states[1]?.statusReason, /the vault is sealed/);
  for (const { id, sequence } of states.filter(({ status }) => status === 'sent')) {
    const [attempt] = await world.store.read.attempts(id);
    t.match(JSON.parse(attempt?.raw ?? ''), { nonce: String(sequence) }, 'the bytes say the sequence that is stored');
  }
  t.equal(world.signer.signatures, 6, 'the first signature is kept, two are made anew');
});

t.test('a signer that is down fails nothing and takes no sequence', async (t) => {
  const world = await EngineWorld.open(t);
  const pending = await acceptMany(world, 2);
  world.signer.failsAt = () => true;
  await signPending(await world.step(), pending);
  for (const transaction of pending) t.match(await world.get(transaction), { status: 'pending', sequence: null });
  t.equal(await world.store.read.knownSequence(pending[0]?.lane ?? ''), null);
});

t.test('what has expired before it was signed ends so, the others go on', async (t) => {
  const world = await EngineWorld.open(t);
  const createdAt = Date.now() - world.family.pace.lifetimeMs - 1;
  const [late, old] = [await world.accept('late', { validUntil: 1 }), await world.accept('old', { createdAt })];
  const fine = await world.accept('fine');
  await signPending(stepAt(await world.step(), { chainTime: async () => Date.now() }), [late, old, fine]);
  t.match(await world.get(late), { status: 'expired', nextActionAt: null, sequence: null });
  t.match(await world.get(old), { status: 'expired', statusReason: 'Its lifetime passed before it was signed' });
  t.match(await world.get(fine), { status: 'sent', sequence: 0n });
});

t.test('one that changed meanwhile undoes the whole commit, so that there is no gap', async (t) => {
  const world = await EngineWorld.open(t);
  const pending = await acceptMany(world, 2);
  const [first, second] = pending;
  await world.store.write((writer) => writer.updateTransaction(first?.id ?? '', 'pending', { status: 'canceled' }));
  await signPending(await world.step(), pending);
  t.match(await world.get(present(second)), { status: 'pending', sequence: null });

  await signPending(await world.step(), second === undefined ? [] : [second]);
  t.match(await world.get(present(second)), { status: 'sent', sequence: 0n });
});

t.test("without the chain's count nothing is signed", async (t) => {
  const world = await EngineWorld.open(t);
  const pending = await acceptMany(world, 2);
  world.chain.fault = (call) => (call === 'nextSequence' ? 'answer-lost' : undefined);
  await signPending(await world.step(), pending);
  for (const transaction of pending) t.match(await world.get(transaction), { status: 'pending', sequence: null });
  t.equal(world.signer.signatures, 0);
});

t.test('what was priced under other policies than those of the moment is not signed, and priced anew', async (t) => {
  const world = await EngineWorld.open(t);
  const pending = await acceptMany(world, 2);
  const step = await world.step();
  // The relayer is read before its policies change, as when nodes answer slowly.
  await step.senders.of('r1');
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { policies: { min_balance: 5 } })));
  await signPending(step, pending);
  for (const one of pending) t.match(await world.get(one), { status: 'pending', sequence: null });
  t.equal(world.signer.signatures, 0);
  await signPending(await world.step(), pending);
  for (const one of pending) t.match(await world.get(one), { status: 'sent' });
});

t.test('what consumes no sequence of the account gets none, and goes on while there are none', async (t) => {
  const world = await EngineWorld.open(t);
  const anchors: Record<string, Anchor> = { nonce: { kind: 'text', text: 'a durable nonce' }, hash: { kind: 'none' } };
  world.client.onPrepare = ({ request: { effect } }) => {
    const anchor = anchors[String(effect).split(' ')[0] ?? ''];
    return anchor && { kind: 'ready', fields: { price: '1' }, cost: 1n, anchor };
  };
  const acceptAll = (round: number) =>
    Promise.all(
      ['one', 'nonce', 'two', 'hash'].map((what) =>
        world.accept(`${what} ${round}`, { anchorKind: anchors[what]?.kind ?? 'sequence' }),
      ),
    );
  const signed = async (pending: readonly Transaction[]) => {
    const attempts = await world.store.read.attempts(...pending.map(({ id }) => id));
    return pending.map(({ id }) => attempts.find(({ transactionId }) => transactionId === id)?.anchor);
  };
  const step = await world.step();
  const pending = await acceptAll(1);
  await signPending(step, pending);
  t.strictSame(await signed(pending), [
    { kind: 'sequence', sequence: 0n },
    anchors['nonce'],
    { kind: 'sequence', sequence: 1n },
    anchors['hash'],
  ]);
  const states = await Promise.all(pending.map((one) => world.get(one)));
  t.strictSame(
    states.map(({ sequence }) => sequence),
    [0n, null, 1n, null],
  );

  step.open.settled = async () => 9n;
  const others = await acceptAll(2);
  await signPending(step, others);
  t.strictSame(await signed(others), [undefined, anchors['nonce'], undefined, anchors['hash']]);
});

t.test('a chain that contradicts what was signed makes the lane wait, with the reason', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  step.open.settled = async () => 9n;
  const [transaction] = await acceptMany(world, 1);
  await signPending(step, transaction === undefined ? [] : [transaction]);
  t.match(await world.get(present(transaction)), { status: 'pending', statusReason: /expects sequence 0/ });
});

t.test('a count that has to be heard again is asked for at once, however often it was asked before', async (t) => {
  const world = await EngineWorld.open(t);
  const step = stepAt(await world.step({ retryMs: 60_000, retryCapMs: 60_000 }), { now: () => 1_000 });
  world.client.sequences.next = async () => 5n;
  const one = await world.accept('pay');
  step.memory.offers.failed(one.id);
  await signPending(step, [one]);
  t.match(await world.get(one), { status: 'pending', statusReason: /asking again/, nextActionAt: 1_000 });
  await signPending(step, [await world.get(one)]);
  t.match(await world.get(one), { status: 'sent', sequence: 5n });
});

t.test('bytes that an earlier life of the chain had are signed as others that mean the same', async (t) => {
  const world = await EngineWorld.open(t);
  const [older] = await acceptMany(world, 1);
  await signPending(await world.step(), older === undefined ? [] : [older]);
  await world.store.write((writer) => writer.updateTransaction(older?.id ?? '', 'sent', { status: 'failed' }));

  // As after a restart of the chain: the same request under the same sequence would give identical bytes.
  const again = await world.accept('pay 0');
  const step = await world.step();
  await signPending(step, [again]);
  t.match(await world.get(again), { status: 'sent', sequence: 0n, fields: { variation: 1 } });
});

t.test('bytes that the store refuses hold up none but themselves', async (t) => {
  const world = await EngineWorld.open(t);
  const bad = await world.accept('pay');
  const other = await world.accept('other');
  const step = await world.step();
  const { ledger } = step;
  const record = ledger.record.bind(ledger);
  ledger.record = (versions) =>
    versions.some(({ transaction }) => transaction.id === bad.id)
      ? Promise.reject(new Error('disk full'))
      : record(versions);
  await signPending(step, [bad, other]);
  t.match(await world.get(bad), { status: 'pending', statusReason: 'The signed bytes could not be stored' });
  t.match(await world.get(other), { status: 'pending', sequence: null });
  await signPending(step, [other]);
  t.match(await world.get(other), { status: 'sent', sequence: 0n });
});

t.test('a step without anything pending asks nobody anything', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  await signPending(step, await acceptMany(world, 2));
  const nothing = () => Promise.reject(new Error('asked'));
  await t.resolves(signPending({ ...step, read: { ...step.read, budgeted: nothing, attempts: nothing } }, []));
});

t.test('what was signed before and died expires as such', async (t) => {
  const world = await EngineWorld.open(t);
  const [renewed, other] = [
    await world.accept('a', { onDeath: 'renew', validUntil: 1 }),
    await world.accept('b', { onDeath: 'renew', validUntil: 1 }),
  ];
  await world.store.write((writer) => writer.insertAttempt({ ...attemptOf(renewed), deadAt: 1 }));
  await signPending(stepAt(await world.step(), { chainTime: async () => 2 }), [renewed, other]);
  t.match(await world.get(renewed), {
    status: 'expired',
    statusReason: 'valid_until passed before it was signed anew',
  });
  t.match(await world.get(other), { status: 'expired', statusReason: 'valid_until passed before it was signed' });
});

t.test('another anchor than the one that it was accepted with is never signed', async (t) => {
  const world = await EngineWorld.open(t);
  const [wrong, right] = [await world.accept('a', { anchorKind: 'text' }), await world.accept('b')];
  await signPending(await world.step(), [wrong, right]);
  t.match(await world.get(wrong), { status: 'pending', statusReason: /accepted with an anchor of kind text/ });
  t.match(await world.get(right), { status: 'sent', sequence: 0n }, 'no gap is left');
});

t.test('the event loop turns after each batch of signatures, and those that wait overlap', async (t) => {
  let [turn, running] = [0, 0];
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const { promise: allStarted, resolve } = Promise.withResolvers<void>();
  const items = Array.from({ length: 40 }, (_, index) => index);
  const outcomes = await signInBatches(items, async (item, index) => {
    const startedIn = turn;
    running += 1;
    if (running === items.length) resolve();
    await allStarted;
    if (item === 4) throw new Error('not this one');
    return { index, startedIn };
  });
  isOver = true;
  const done = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : undefined));
  t.strictSame(
    done.map((one) => one?.index),
    items.map((item) => (item === 4 ? undefined : item)),
  );
  t.match(outcomes[4], { status: 'rejected', reason: { message: 'not this one' } });
  t.equal(done[0]?.startedIn, done[15]?.startedIn, 'those of one batch');
  t.ok(Number(done[16]?.startedIn) > Number(done[15]?.startedIn));
  t.ok(Number(done[39]?.startedIn) > Number(done[31]?.startedIn));
});

const salting = { withDistinctBytes: (fields: Record<string, unknown>) => ({ gas: Number(fields['gas']) + 1 }) };

t.test('a fresh salt is tried a bounded number of times, and other failures are passed on', async (t) => {
  let tries = 0;
  const always = async () => {
    tries += 1;
    throw new DuplicateRecord('attempts', 'same');
  };
  await t.rejects(withFreshSalt(salting, { gas: 5 }, always), { name: 'DuplicateRecord' });
  t.equal(tries, 33);
  await t.rejects(
    withFreshSalt(salting, { gas: 5 }, () => Promise.reject(new Error('disk full'))),
    { message: 'disk full' },
  );
});

t.test(
  'the refused fail with their reason, the parked wait as long as they were told, the rest may be signed',
  async (t) => {
    const world = await EngineWorld.open(t);
    const step = stepAt(await world.step(), { now: () => 1_000 });
    const [ready, refused, parked] = [await world.accept('a'), await world.accept('b'), await world.accept('c')];
    world.client.onPrepare = ({ id }) => {
      if (id === refused.id) return { kind: 'refused', reason: 'gas limit above the block' };
      return id === parked.id ? { kind: 'parked', reason: 'gas price above the cap', retryInMs: 5_000 } : undefined;
    };

    const signed = await signedOf(step, [ready, refused, parked]);
    t.strictSame(
      signed.map(({ id }) => id),
      [ready.id],
    );
    t.match(await world.get(refused), {
      status: 'failed',
      statusReason: 'gas limit above the block',
      nextActionAt: null,
    });
    t.match(await world.get(parked), {
      status: 'pending',
      statusReason: 'gas price above the cap (checked again at 1970-01-01T00:00:06.000+00:00)',
      nextActionAt: 6_000,
    });
  },
);

t.test('the balance is not promised twice within a batch', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.balance = 10n;
  const batch = [];
  for (const cost of ['6', '6', '4']) batch.push(await world.accept('pay', { request: { effect: cost, cost } }));

  const signed = await signedOf(await world.step(), batch);
  t.strictSame(
    signed.map(({ request }) => request['cost']),
    ['6', '4'],
  );
  t.match(await world.get(present(batch[1])), { status: 'pending', statusReason: /^Insufficient balance \(checked/ });
});

t.test('what signed transactions may cost is not promised again', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.balance = 10n;
  const step = await world.step();
  const open = pendingTransaction('open', { status: 'submitted', sequence: 0n, request: { effect: 'x', cost: '7' } });
  step.open.set(open.id, {
    transaction: open,
    attempts: [attemptOf(open), attemptOf(open, { request: { cost: '2' } })],
  });
  const transaction = await world.accept('pay', { request: { effect: 'y', cost: '4' } });

  t.strictSame(await signedOf(step, [transaction]), []);
  t.equal((await world.get(transaction)).status, 'pending');
});

t.test('trouble with the endpoints fails nothing: the pause grows', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.fault = () => 'request-lost';
  const transaction = await world.accept('pay');
  const step = stepAt(await world.step(), { now: () => 1_000 });
  t.strictSame(await signedOf(step, [transaction]), []);
  const after = await world.get(transaction);
  t.match(after, { status: 'pending', statusReason: /prepare timed out/, nextActionAt: 1_002 });
  await signedOf(step, [transaction]);
  t.equal((await world.get(transaction)).nextActionAt, 1_004);
});

t.test('one of an unknown relayer holds up none but itself', async (t) => {
  const world = await EngineWorld.open(t);
  const [lost, fine] = [await world.accept('a'), await world.accept('b')];
  const signed = await signedOf(await world.step(), [{ ...lost, relayerId: 'gone' }, fine]);
  t.strictSame(
    signed.map(({ id }) => id),
    [fine.id],
  );
  t.match(await world.get(lost), { status: 'pending', statusReason: 'Relayer gone is gone' });
});

t.test('that a transaction waits for a price is told once, and that it goes on when it is signed', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const transaction = await world.accept('pay');
  let gwei = 40;
  world.client.onPrepare = () =>
    gwei > 30 ? { kind: 'parked', reason: `asks for ${gwei}`, cause: 'price', retryInMs: 5 } : undefined;
  for (gwei of [40, 41, 42]) await signPending(step, [await world.get(transaction)]);
  t.match(step.memory.offers.parked(), [{ relayerId: 'r1', cause: 'price' }]);
  gwei = 20;
  await signPending(step, [await world.get(transaction)]);
  t.strictSame(step.memory.offers.parked(), []);
  const told = (await world.store.read.decisions(transaction.id, 10)).map(({ kind, text }) => [kind, text]);
  t.strictSame(told, [
    ['parked', 'asks for 40'],
    ['resumed', 'No longer blocked (price)'],
  ]);
});

const REASON = 'A trustline is needed first';
const NEEDED = {
  request: { effect: 'trust' },
  validUntil: 9_000,
  anchorKind: 'sequence',
  onDeath: 'renew',
  contentKey: null,
} as const;

/** A transaction that needs a prerequisite first, and a function that prices it again. */
async function withPrerequisite(t: Test) {
  const world = await EngineWorld.open(t);
  const step = stepAt(await world.step({ lookMs: 50 }), { now: () => 1_000 });
  const transaction = await world.accept('pay');
  world.client.onPrepare = ({ id }) =>
    id === transaction.id ? { kind: 'first', first: { ...NEEDED }, reason: REASON } : undefined;
  return { world, transaction, priceIt: async () => signedOf(step, [await world.get(transaction)]) };
}

t.test('a prerequisite becomes one transaction of its own, and the other waits for it', async (t) => {
  const { world, transaction, priceIt } = await withPrerequisite(t);
  t.strictSame(await priceIt(), []);
  await priceIt();
  const [first, ...others] = await world.store.read.children(transaction.id);
  t.strictSame(others, []);
  t.match(first, {
    ...NEEDED,
    parentId: transaction.id,
    relayerId: transaction.relayerId,
    lane: transaction.lane,
    status: 'pending',
    statusReason: REASON,
    createdAt: 1_000,
    nextActionAt: 1_000,
    fields: {},
  });
  t.match(await world.get(transaction), {
    status: 'pending',
    statusReason: new RegExp(`^${REASON} \\(checked again at `),
    nextActionAt: 1_050,
  });
  t.match(await world.store.read.decisions(transaction.id, 9), [{ kind: 'parked', text: REASON }]);
});

for (const [status, ends] of [
  ['pending', false],
  ['confirmed', false],
  ['failed', true],
  ['canceled', true],
  ['expired', true],
] as const satisfies [TransactionStatus, boolean][]) {
  t.test(`the other ${ends ? 'fails with' : 'waits for'} one that is ${status}`, async (t) => {
    const { world, transaction, priceIt } = await withPrerequisite(t);
    await priceIt();
    const child = present((await world.store.read.children(transaction.id))[0]);
    if (status !== 'pending') {
      if (status === 'confirmed') await world.ledger().apply([{ transaction: child, set: { status: 'sent' } }]);
      await world.ledger().apply([{ transaction: await world.get(child), set: { status } }]);
    }
    await priceIt();
    t.equal((await world.store.read.children(transaction.id)).length, 1, 'it is not tried again');
    const { status: now, statusReason } = await world.get(transaction);
    t.equal(now, ends ? 'failed' : 'pending');
    if (ends) t.equal(statusReason, `${REASON}: transaction ${child.id} ended as ${status}`);
  });
}

t.test(
  'the more wait, the rarer each is looked at, and never so rarely that it seems set by another clock',
  async (t) => {
    const world = await EngineWorld.open(t);
    const transaction = await world.accept('pay');
    for (const [crowd, pauseMs] of [
      [1_000, 10_000],
      [6_000, 30_000],
      [100_000, 50_000],
    ] as const) {
      const step = stepAt(await world.step(), { now: () => 1_000 });
      for (let index = 1; index < crowd; index += 1) step.memory.offers.failed(String(index));
      const { set } = parkTransaction(step, transaction, 'balance', { reason: 'no money', pauseMs: 10_000 });
      t.equal(set.nextActionAt, 1_000 + pauseMs);
    }
  },
);

/** Transactions of the fake chain cost 10: their value of 3, and a fee of at most 7. */
const COST = { effect: 'pay', cost: '3' };

async function withFeeBudget(t: Test, feeLimit: bigint, count: number) {
  const world = await EngineWorld.open(t);
  world.client.onPrepare = () => ({ kind: 'ready', fields: { price: '1' }, cost: 10n });
  const transactions = Array.from({ length: count }, () => pendingTransaction('pay', { request: COST }));
  for (const transaction of transactions) {
    await world.store.write(async (writer) => {
      const { id: transactionId } = transaction;
      const budget = { pluginId: 'p', relayerId: 'r1', value: 3n, fee: null, valueLimit: null, feeLimit };
      await writer.reserveSpending({ transactionId, ...budget });
      await writer.insertTransaction(transaction);
    });
  }
  return { world, transactions, spent: () => world.store.read.spentLastHour('p', 'r1') };
}

t.test('only those are signed whose fee the budget bears; the others wait without a sequence', async (t) => {
  const { world, transactions, spent } = await withFeeBudget(t, 20n, 4);
  const free = await world.accept('free');
  const step = await world.step();
  await signPending(step, [...transactions, free]);
  const found = await Promise.all([...transactions, free].map((one) => world.get(one)));
  t.strictSame(
    found.map(({ status, sequence }) => [status, sequence]),
    [
      ['sent', 0n],
      ['sent', 1n],
      ['pending', null],
      ['pending', null],
      ['sent', 2n],
    ],
  );
  const parked = present(found[2]);
  t.match(
    parked.statusReason,
    /^Plugin p has 6 left of fee_per_hour 20, and the fee can be 7 more \(checked again at /,
  );
  t.ok((parked.nextActionAt ?? 0) > Date.now() - 1000);
  t.strictSame(await spent(), { value: 12n, fee: 14n });
});

t.test('what ends gives back what it did not take, and those that waited go on', async (t) => {
  const { world, transactions, spent } = await withFeeBudget(t, 11n, 5);
  const engine = world.engine();
  t.teardown(() => engine.close());
  await engine.start();
  for (const transaction of transactions) await world.untilStatus(transaction, 'confirmed', { mining: true });
  t.strictSame(await spent(), { value: 15n, fee: 5n });
});

t.test('a dearer version waits for the budget; the bytes that there are stay on offer', async (t) => {
  const { world, transactions, spent } = await withFeeBudget(t, 7n, 1);
  const transaction = present(transactions[0]);
  await signPending(await world.step(), transactions);
  const step = await world.step();
  step.memory.offers.wantsAnother(transaction.id, 'underpriced');
  world.client.onPrepareVersion = (prepared) => ({ ...prepared, cost: 11n });
  t.equal(await signDueAttempts(step), 1);
  t.match(await world.get(transaction), { status: 'sent', statusReason: /^Plugin p has 0 left of fee_per_hour 7/ });
  t.equal((await world.store.read.attempts(transaction.id)).length, 1);
  t.strictSame(await spent(), { value: 3n, fee: 7n });
});

t.test('a noop is paid for even beyond the budget, and counts against it', async (t) => {
  const { world, transactions, spent } = await withFeeBudget(t, 7n, 1);
  const transaction = present(transactions[0]);
  await signPending(await world.step(), transactions);
  const sent = await world.get(transaction);
  await (await world.step()).ledger.apply([{ transaction: sent, set: { noopEnd: 'canceled' } }]);
  world.client.onPrepareVersion = (prepared) => ({ ...prepared, cost: 50n });
  t.equal(await signDueAttempts(await world.step()), 1);
  t.strictSame(await spent(), { value: 3n, fee: 50n });
});
