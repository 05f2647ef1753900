import t, { type Test } from 'tap';
import { broadcastDueTransactions } from '../../../../../src/engine/lane/broadcast.ts';
import { carryOut } from '../../../../../src/engine/lane/carry-out.ts';
import { decide } from '../../../../../src/engine/lane/decide.ts';
import { expired } from '../../../../../src/engine/lane/facts.ts';
import { LaneMemory } from '../../../../../src/engine/lane/lane-memory.ts';
import { momentOf } from '../../../../../src/engine/lane/lane-step.ts';
import { signPending } from '../../../../../src/engine/lane/sign-pending.ts';
import type { Attempt } from '../../../../../src/features/transactions/records/attempt.ts';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';
import { ADDRESS, EngineWorld, fillGaps, LANE, present, stepAt } from '../../../../support/engine-world.ts';

/** A world with a gap: the chain dropped a foreign transaction with sequence 0, and ours waits under sequence 1. */
async function withGap(t: {
  teardown(end: () => Promise<void>): void;
}): Promise<{ world: EngineWorld; ours: Transaction }> {
  const world = await EngineWorld.open(t);
  const foreign = { from: ADDRESS, nonce: '0', effect: 'foreign', cost: '1', reverts: false, price: '1' };
  world.chain.submit(JSON.stringify(foreign));
  const pending = await world.accept('pay');
  const step = await world.step();
  await signPending(step, [pending]);
  await signPending(step, [pending]);
  await broadcastDueTransactions(step);
  world.chain.forgetPool();
  await broadcastDueTransactions(step);
  return { world, ours: await world.get(pending) };
}

t.test('a gap is filled once the chain has asked for it long enough', async (t) => {
  const { world, ours } = await withGap(t);
  t.equal(ours.sequence, 1n);
  const step = await world.step();
  t.equal(await fillGaps(step), 0, 'the node may only lag');
  const later = stepAt(step, { elapsed: () => performance.now() + step.timing.driftMs });
  t.equal(await fillGaps(later), 1);
  const filler = [...step.open.entries.values()].find(({ transaction }) => transaction.id !== ours.id);
  t.match(filler, {
    transaction: { relayerId: 'r1', status: 'sent', sequence: 0n, statusReason: 'Gap-filling NOOP for nonce 0' },
    attempts: [{ purpose: 'noop', anchor: { kind: 'sequence', sequence: 0n } }],
  });
  t.equal(await fillGaps(later), 0, 'once');
  t.equal((await world.store.read.transactionBySequence('r1', 0n))?.id, filler?.transaction.id);
  t.match(await world.store.read.decisions(filler?.transaction.id ?? '', 10), [{ kind: 'gap-filled' }]);

  await broadcastDueTransactions(later);
  await broadcastDueTransactions(
    stepAt(later, { now: () => Date.now() + 60_000, elapsed: () => performance.now() + 60_000 }),
  );
  world.chain.mine();
  t.strictSame(
    world.chain.executed.map(({ transaction }) => transaction.nonce),
    ['0', '1'],
  );
});

t.test('where nothing waits there is no gap', async (t) => {
  const world = await EngineWorld.open(t);
  t.equal(await fillGaps(await world.step()), 0);
});

t.test(
  'a chain that does not answer, and a filler that cannot be priced or signed, leave things as they are',
  async (t) => {
    const { world } = await withGap(t);
    const hasty = { ...(await world.step()), memory: new LaneMemory(0) };
    world.chain.fault = () => 'request-lost';
    t.equal(await fillGaps(hasty), 0);
    world.chain.fault = () => undefined;
    const { prepare } = world.client.replacement;
    world.client.replacement.prepare = async () => ({ kind: 'parked', reason: 'no money' });
    t.equal(await fillGaps(hasty), 0);
    world.client.replacement.prepare = prepare;
    world.signer.failsAt = () => true;
    t.equal(await fillGaps(hasty), 0);
    t.equal(hasty.open.entries.size, 1);
  },
);

/**
 * A signed transaction under sequence 0 with one attempt for each of the given parts. `told`: the node's last answer.
 */
async function scene(t: Test, { transaction = {}, attempts = [{}], told }: Partial<Scene> = {}) {
  const world = await EngineWorld.open(t);
  const accepted = await world.accept('pay');
  const step = await world.step();
  await signPending(step, [accepted]);
  const entry = present(step.open.entries.get(accepted.id));
  const [first] = entry.attempts;
  step.open.set(accepted.id, {
    transaction: { ...entry.transaction, noopEnd: 'canceled', statusReason: 'Canceled', ...transaction },
    attempts: attempts.map((one, index) => ({ ...present(first), ordinal: index + 1, ...one })),
  });
  if (told !== undefined) step.memory.offers.isNews(accepted.id, told);
  const ends = async (...beyond: bigint[]) => {
    const open = [...step.open.entries.values()];
    const { ids } = await expired(step, open);
    const facts = { kind: 'gaps', relayerId: 'r1', free: [], beyond, expired: ids } as const;
    await carryOut(step, decide(step, facts, momentOf(step)));
    return (await world.get(accepted)).status;
  };
  return { world, step, ends, accepted };
}

interface Scene {
  transaction: Partial<Transaction>;
  attempts: Partial<Attempt>[];
  told: 'anchor-ahead' | 'unknown';
}

const TAKEN_NOOP = [{ acceptedAt: 1 }, { purpose: 'noop', acceptedAt: 2 }] as const;
const REFUSED_NOOP = [{ acceptedAt: null }, { purpose: 'noop', acceptedAt: null }] as const;

t.test('what is canceled ends once nodes took its noop, and leaves its sequence', async (t) => {
  const { world, ends, accepted } = await scene(t, { attempts: [...TAKEN_NOOP] });
  t.equal(await ends(0n, 1n), 'canceled');
  const text = 'Signed under nonce 0, which the account is far from reaching';
  t.match(await world.get(accepted), { sequence: null, statusReason: `Canceled. ${text}`, nextActionAt: null });
  t.match((await world.store.read.decisions(accepted.id, 10)).at(-1), { kind: 'dead', text });
  t.equal(await world.store.read.settledSequence(LANE), null, 'the account has not come that far');
});

t.test('what has expired ends as expired', async (t) => {
  const { ends } = await scene(t, { transaction: { noopEnd: 'expired' }, attempts: [...TAKEN_NOOP] });
  t.equal(await ends(0n), 'expired');
});

t.test('so does what every node turned away from the first', async (t) => {
  const { ends } = await scene(t, { attempts: [...REFUSED_NOOP], told: 'anchor-ahead' });
  t.equal(await ends(0n), 'canceled');
});

const staying: Readonly<Record<string, Partial<Scene>>> = {
  'what is still wanted': { transaction: { noopEnd: null }, attempts: [{ acceptedAt: 1 }] },
  'what has no noop yet': { attempts: [{ acceptedAt: 1 }] },
  'a noop that nobody answered to': { attempts: [...REFUSED_NOOP], told: 'unknown' },
  'a payment that a node has, with a noop that no node took': {
    attempts: [{ acceptedAt: 1 }, { purpose: 'noop', acceptedAt: null }],
    told: 'anchor-ahead',
  },
};
for (const [what, given] of Object.entries(staying)) {
  t.test(`${what} stays`, async (t) => {
    const { ends } = await scene(t, given);
    t.equal(await ends(0n), 'sent');
  });
}

t.test(
  'what is still wanted says why it waits, and is taken back once the chain shows that it cannot execute yet',
  async (t) => {
    const { world, step, ends, accepted } = await scene(t, {
      transaction: { noopEnd: null, statusReason: null },
      attempts: [{ acceptedAt: 1 }],
    });
    const signedAt = present(step.open.entries.get(accepted.id)?.attempts[0]).createdAt;
    const statusReason =
      /^Signed under nonce 0, which the account is far from reaching: .* Do not pay again before it has ended$/;
    await ends(0n);
    t.match(await world.get(accepted), { status: 'sent', noopEnd: null, statusReason });
    t.strictSame(step.memory.offers.parked(), [{ relayerId: 'r1', networkType: 'evm', cause: 'sequence' }]);
    await ends(0n);
    const parked = (await world.store.read.decisions(accepted.id, 10)).filter(({ kind }) => kind === 'parked');
    t.equal(parked.length, 1, 'the timeline says it once');

    for (const [what, newestInBlock] of Object.entries({
      'one that was signed before it': { sequence: -1n, signedAt },
      'one of a higher sequence': { sequence: 1n, signedAt: signedAt + 1 },
    })) {
      Object.assign(step.memory, { newestInBlock });
      await ends(0n);
      t.equal((await world.get(accepted)).noopEnd, null, what);
    }
    Object.assign(step.memory, { newestInBlock: { sequence: -1n, signedAt: signedAt + 1 } });
    t.equal(await ends(0n), 'sent', 'its bytes can execute later, so it has not ended');
    t.match(await world.get(accepted), { noopEnd: 'failed', sequence: 0n, statusReason: /Taken back by a noop/ });
  },
);

t.test('what is taken back keeps its sequence while it lives, and ends with its lifetime', async (t) => {
  const taken = { transaction: { noopEnd: 'failed' }, attempts: [...TAKEN_NOOP] } as const;
  const { ends } = await scene(t, { ...taken, attempts: [...taken.attempts] });
  t.equal(await ends(0n), 'sent');
  const old = { ...taken.transaction, createdAt: 0, validUntil: 1 };
  const { ends: endsLater } = await scene(t, { transaction: old, attempts: [...TAKEN_NOOP] });
  t.equal(await endsLater(0n), 'failed');
});

t.test('what the account reaches stays', async (t) => {
  const { ends } = await scene(t, { attempts: [...TAKEN_NOOP] });
  t.equal(await ends(), 'sent');
  t.equal(await ends(1n), 'sent');
});
