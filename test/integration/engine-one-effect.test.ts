/**
 * The promise: an accepted transaction has at most one effect on the chain, and none is lost. Its reported end is true
 * and has a cause. This holds through crashes, lost messages, reorganisations and foreign use of the key.
 */

import t, { type Test } from 'tap';
import type { IntentAction } from '../../src/features/transactions/records/intent.ts';
import type { Transaction } from '../../src/features/transactions/records/transaction.ts';
import { sideBySide } from '../check/project.ts';
import { ADDRESS, EngineWorld, LANE } from '../support/engine-world.ts';
import { VOID } from '../support/fake-chain-client.ts';
import { type Commit, losingAnswers } from '../support/lost-answers.ts';
import { describeHistory, drawHistories, type History, liveThrough } from '../support/model/histories.ts';
import { isFaultless } from '../support/model/judge.ts';
import type { WorldKind } from '../support/model/world.ts';
import { worlds } from '../support/model/worlds.ts';
import { propertySeed, runsOf } from '../support/properties.ts';

/** Worlds mostly wait, so several run at the same time. */
const AT_ONCE = 8;
const WORLDS = 20;

async function judgeHealthy<Event>(kind: WorldKind<Event>): Promise<{ accepted: number; broken: string[] }> {
  const histories = drawHistories(kind, runsOf(WORLDS), propertySeed());
  const broken: string[] = [];
  let accepted = 0;
  const live = async (history: History<Event>) => {
    const outcome = await liveThrough(kind, history);
    accepted += outcome.accepted;
    if (!isFaultless(outcome.faults)) broken.push(`${JSON.stringify(outcome.faults)} in ${describeHistory(history)}`);
  };
  for await (const _ of sideBySide(histories, AT_ONCE, live));
  return { accepted, broken };
}

for (const kind of worlds) {
  t.test(`${kind.name}: one effect, nothing lost, true ends`, async (t) => {
    const { accepted, broken } = await judgeHealthy(kind);
    t.strictSame(broken, []);
    t.ok(accepted > runsOf(WORLDS));
  });
}

/**
 * A commit succeeds, but the answer is an error, as when the connection to the database breaks during COMMIT. The
 * engine finds out what is stored, and continues without a restart.
 */
t.test('the answer of the database is lost after a commit', async (t) => {
  /** An engine that loses the answer to the first commit that matches. */
  async function losing(t: Test, isLost: (commit: Commit) => boolean) {
    const world = await EngineWorld.open(t);
    let lost = 0;
    const store = losingAnswers(world.store, (commit) => {
      if (lost > 0 || !isLost(commit)) return false;
      lost += 1;
      return true;
    });
    const engine = world.engine({ store });
    t.teardown(() => engine.close());
    await engine.start();
    const untilLost = () => world.until('an answer is lost', async () => lost > 0);
    const ask = async ({ id: transactionId, lane }: Transaction, action: IntentAction) => {
      await world.store.write((writer) => writer.insertIntent({ transactionId, lane, action }));
      engine.wake(LANE);
    };
    const accept = async (effect: string) => {
      const transaction = await world.accept(effect);
      engine.wake(LANE);
      return transaction;
    };
    return { world, untilLost, ask, accept };
  }

  const effects = ({ chain }: EngineWorld): string[] => chain.executed.map(({ transaction }) => transaction.effect);
  const signs =
    (purpose: string) =>
    ({ attempts }: Commit): boolean =>
      attempts.some((attempt) => attempt.purpose === purpose);

  t.test('of the first signed bytes', async (t) => {
    const { world, accept, untilLost } = await losing(t, signs('send'));
    const payments = [await accept('one'), await accept('two'), await accept('three')];
    await untilLost();
    for (const one of payments) await world.untilStatus(one, 'confirmed', { mining: true });
    t.strictSame(effects(world).sort(), ['one', 'three', 'two']);
    for (const { id } of payments) t.equal((await world.store.read.attempts(id)).length, 1);
  });

  t.test('of a dearer version', async (t) => {
    const { world, accept, untilLost } = await losing(t, signs('bump'));
    const payment = await accept('pay');
    await world.untilStatus(payment, 'submitted');
    world.chain.floor = 9n;
    world.chain.forgetPool();
    await untilLost();
    await world.untilStatus(payment, 'confirmed', { mining: true });
    t.strictSame(effects(world), ['pay']);
  });

  t.test('of the noop of a cancel', async (t) => {
    const { world, accept, ask, untilLost } = await losing(t, signs('noop'));
    const payment = await accept('pay');
    await world.untilStatus(payment, 'submitted');
    await ask(payment, { kind: 'cancel' });
    await untilLost();
    // The stored bytes bid too little for a block. The next signed version is mined.
    world.chain.floor = 9n;
    world.chain.forgetPool();
    await world.untilStatus(payment, 'canceled', { mining: true });
    t.strictSame(effects(world), [VOID]);
  });

  t.test('of a replacement: it is carried out once', async (t) => {
    const { world, accept, ask, untilLost } = await losing(t, signs('replace'));
    const payment = await accept('pay');
    await world.untilStatus(payment, 'submitted');
    await ask(payment, { kind: 'replace', request: { effect: 'instead' }, validUntil: null });
    await untilLost();
    await world.until('it is on offer', async () => world.chain.received.some((raw) => raw.includes('instead')));
    await world.untilStatus(payment, 'confirmed', { mining: true });
    t.strictSame(effects(world), ['instead']);
    t.match(await world.store.read.intentRecords(payment.id, 10), [{ kind: 'replace', refusal: null }]);
  });

  t.test('of the filler of a gap: the sequence is filled once', async (t) => {
    const { world, accept, untilLost } = await losing(t, signs('noop'));
    world.chain.strict = true;
    world.chain.submit(
      JSON.stringify({ from: ADDRESS, nonce: '0', effect: 'foreign', cost: '1', reverts: false, price: '1' }),
    );
    const broadcast = world.client.broadcast.bind(world.client);
    let offers = 0;
    world.client.broadcast = async (attempts) => {
      offers += 1;
      // The node forgets the transactions that the sequence counted on.
      if (offers === 1) world.chain.forgetPool();
      return broadcast(attempts);
    };
    const payment = await accept('pay');
    await untilLost();
    await world.untilStatus(payment, 'confirmed', { mining: true });
    t.strictSame(effects(world), [VOID, 'pay']);
    t.equal(
      (await world.store.read.transactions('r1', { page: 1, perPage: 9 })).total,
      2,
      'the payment and one filler',
    );
  });

  const noted: Readonly<Record<string, (commit: Commit) => boolean>> = {
    'what a node answered': ({ writes }) => writes.has('attemptAccepted'),
    'what the chain showed': ({ attempts, writes }) =>
      attempts.length === 0 && writes.has('updateTransaction') && !writes.has('attemptAccepted'),
  };

  for (const [what, isLost] of Object.entries(noted)) {
    t.test(`of ${what}`, async (t) => {
      const { world, accept, untilLost } = await losing(t, isLost);
      const payment = await accept('pay');
      await world.untilStatus(payment, 'confirmed', { mining: true });
      await untilLost();
      t.strictSame(effects(world), ['pay']);
    });
  }
});

t.test('what is accepted is mined once, in the order of acceptance, and confirmed at depth', async (t) => {
  const world = await EngineWorld.open(t);
  const engine = world.engine();
  t.teardown(() => engine.close());
  await engine.start();

  const accepted = [];
  for (let index = 0; index < 100; index += 1) accepted.push(await world.accept(`pay ${index}`));
  engine.wake(accepted[0]?.lane ?? '');
  for (const transaction of accepted) await world.untilStatus(transaction, 'confirmed', { mining: true });

  t.strictSame(
    world.chain.executed.map(({ transaction }) => transaction.effect),
    accepted.map((_, index) => `pay ${index}`),
  );
  const [first] = accepted;
  if (first === undefined) throw new Error('nothing was accepted');
  const last = await world.get(first);
  t.equal(last.sequence, 0n);
  t.ok(last.sentAt !== null && last.confirmedAt !== null && last.nextActionAt === null);
});
