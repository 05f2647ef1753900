import t from 'tap';
import { takeUp } from '../../../../src/engine/intake.ts';
import { sequenceFigures } from '../../../../src/engine/sequence-figures.ts';
import { ADDRESS, EngineWorld } from '../../../support/engine-world.ts';

t.test('what chain and store say of an account', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const sender = await step.senders.of('r1');
  t.strictSame(await sequenceFigures(step, [sender]), { chain: 0n, held: new Set(), known: null, settled: null });

  await takeUp(step, [await world.accept('a'), await world.accept('b')]);
  t.strictSame(await sequenceFigures(step, [sender]), {
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
