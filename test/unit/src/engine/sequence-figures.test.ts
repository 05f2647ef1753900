import t from 'tap';
import { takeUp } from '../../../../src/engine/intake.ts';
import { sequenceFigures } from '../../../../src/engine/sequence-figures.ts';
import { ADDRESS, EngineWorld, pendingTransaction } from '../../../support/engine-world.ts';

t.test('what chain and store say of an account', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const sender = await step.senders.of('r1');
  t.match(await sequenceFigures(step, [sender]), { chain: 0n, held: new Set(), known: null, settled: null });

  await takeUp(step, [await world.accept('a'), await world.accept('b')]);
  t.match(await sequenceFigures(step, [sender]), {
    chain: 0n,
    held: new Set([0n, 1n]),
    known: 2n,
    settled: null,
  });
});

t.test('of several endpoints the one that is furthest counts', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const sender = await step.senders.of('r1');
  const lagging = { ...sender, client: Object.assign(Object.create(world.client), { nextSequence: async () => 3n }) };
  const foreign = { from: ADDRESS, nonce: '0', effect: 'x', cost: '1', reverts: false, price: '1' };
  world.chain.submit(JSON.stringify(foreign));
  t.equal((await sequenceFigures(step, [sender, lagging])).chain, 3n);
  t.equal((await sequenceFigures(step, [sender])).chain, 1n);
});

t.test('what was final is lost when all endpoints prove it, and nothing can be where nothing was', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const sender = await step.senders.of('r1');
  t.ok(await (await sequenceFigures(step, [sender])).isLost());
  step.settled = async () => ({ sequence: 4n, at: 7 });
  const asked: unknown[] = [];
  const saying = (say: () => boolean) => {
    const hasLost = async (...question: unknown[]) => (asked.push(question), say());
    return { ...sender, client: Object.assign(Object.create(world.client), { hasLost, nextSequence: async () => 0n }) };
  };
  const silent = saying(() => {
    throw new Error('silent');
  });
  const [lost, not] = [saying(() => true), saying(() => false)];
  t.ok(await (await sequenceFigures(step, [lost])).isLost());
  t.strictSame(asked, [[ADDRESS, '31337', { sequence: 4n, at: 7 }]]);
  t.notOk(await (await sequenceFigures(step, [lost, not])).isLost());
  t.notOk(await (await sequenceFigures(step, [lost, silent])).isLost());
});

t.test('an account is asked about by what it has come to, not by what was signed far beyond', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const sender = await step.senders.of('r1');
  const asked: unknown[] = [];
  const nextSequence = async (...question: unknown[]) => (asked.push(question.at(-1)), 0n);
  const asking = { ...sender, client: Object.assign(Object.create(world.client), { nextSequence }) };
  await sequenceFigures(step, [asking]);
  const open = (id: string, sequence: bigint) =>
    step.open.set(id, { transaction: pendingTransaction(id, { id, status: 'sent', sequence }), attempts: [] });
  step.knownSequence = async () => 1_000_001n;
  open('beyond', 1_000_000n);
  await sequenceFigures(step, [asking]);
  open('near', 3n);
  await sequenceFigures(step, [asking]);
  t.strictSame(asked, [null, null, 4n]);
});

t.test(
  'how far the account is was proved when a block shows it that is newer than what was signed beyond',
  async (t) => {
    const world = await EngineWorld.open(t);
    const step = await world.step();
    const sender = await step.senders.of('r1');
    await takeUp(step, [await world.accept('a'), await world.accept('b')]);
    const asked: unknown[] = [];
    const isNoFurther = async (...question: unknown[]) => (asked.push(question.at(-1)), true);
    const nextSequence = async () => 0n;
    const asking = { ...sender, client: Object.assign(Object.create(world.client), { isNoFurther, nextSequence }) };
    const figures = await sequenceFigures(step, [asking]);
    t.ok(await figures.isNoFurther(1n));
    const signedAt = [...step.open.values()][1]?.attempts[0]?.createdAt;
    t.strictSame(asked, [{ sequence: 0n, at: signedAt }]);
    const before = await sequenceFigures(step, [sender]);
    t.ok(await before.isNoFurther(1n));
    world.chain.submit(
      JSON.stringify({ from: ADDRESS, nonce: '0', effect: 'x', cost: '1', reverts: false, price: '9' }),
    );
    world.chain.mine();
    t.notOk(await before.isNoFurther(1n), 'it has gone on since');
  },
);

t.test('what was filled below an open one since it was signed is told, where there is still a gap', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const sender = await step.senders.of('r1');
  const open = (sequence: bigint, createdAt: number) => {
    const transaction = pendingTransaction(`pay ${sequence}`, { status: 'sent', sequence, createdAt });
    step.open.set(transaction.id, { transaction, attempts: [] });
  };
  let reads = 0;
  step.fillers = async () => {
    reads += 1;
    return [
      { sequence: 3n, at: 10 },
      { sequence: 4n, at: 20 },
      { sequence: 95n, at: 30 },
    ];
  };
  open(0n, 5);
  await sequenceFigures(step, [sender]);
  t.equal(reads, 0);
  open(90n, 10);
  open(100n, 20);
  const { paidFor } = await sequenceFigures(step, [sender]);
  t.strictSame([90n, 100n, 50n].map(paidFor), [2n, 2n, 0n]);
});

t.test('the furthest that is in a block is told', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const sender = await step.senders.of('r1');
  const asked: unknown[] = [];
  const nextSequence = async (...question: unknown[]) => (asked.push(question.at(-1)), 5_001n);
  const asking = { ...sender, client: Object.assign(Object.create(world.client), { nextSequence }) };
  step.knownSequence = async () => 5_003n;
  for (const [sequence, status] of [
    [5_001n, 'mined'],
    [5_000n, 'mined'],
    [5_002n, 'submitted'],
  ] as const) {
    const transaction = pendingTransaction(`pay ${sequence}`, { status, sequence });
    step.open.set(transaction.id, { transaction, attempts: [] });
  }
  t.equal((await sequenceFigures(step, [asking])).mined, 5_002n);
  t.strictSame(asked, [5_003n], 'and an account whose first is in a block is not unknown');
});
