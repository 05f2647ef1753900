import t from 'tap';
import { takeUp } from '../../../../src/engine/intake.ts';
import { sequenceFigures } from '../../../../src/engine/sequence-figures.ts';
import { ADDRESS, EngineWorld } from '../../../support/engine-world.ts';

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
