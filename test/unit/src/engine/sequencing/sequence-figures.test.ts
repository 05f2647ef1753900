import t, { type Test } from 'tap';
import { createStellarChain } from '../../../../../src/chains/stellar/index.ts';
import { signPending } from '../../../../../src/engine/lane/attempts/sign-pending.ts';
import type { Sender } from '../../../../../src/engine/lane/sender.ts';
import { sequenceFigures } from '../../../../../src/engine/sequencing/sequence-planner.ts';
import { ADDRESS, EngineWorld } from '../../../../support/engine-world.ts';

async function scene(t: Test) {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  return { world, step, sender: await step.senders.of('r1') };
}

/** The sender with a client that returns this count and records its calls. */
function telling(sender: Sender, count: bigint | undefined, asked: unknown[] = []): Sender {
  const next = async (...question: unknown[]) => (asked.push(question), count);
  return { ...sender, client: Object.assign(Object.create(sender.client), { sequences: count && { next } }) };
}

t.test('what chain and store say of an account', async (t) => {
  const { world, step, sender } = await scene(t);
  t.strictSame(await sequenceFigures(step, [sender]), { chain: 0n, held: new Set(), settled: null });

  await signPending(step, [await world.accept('a'), await world.accept('b')]);
  step.open.settled = async () => 7n;
  t.strictSame(await sequenceFigures(step, [sender]), { chain: 0n, held: new Set([0n, 1n]), settled: 7n });
});

t.test('where sequences may begin anew, that is said', async (t) => {
  const { step, sender } = await scene(t);
  const { counter } = createStellarChain();
  const figures = await sequenceFigures({ ...step, chain: { ...step.chain, ...(counter && { counter }) } }, [sender]);
  t.equal(figures.beginsAnew, true);
});

t.test('of several endpoints the one that is furthest counts', async (t) => {
  const { step, sender } = await scene(t);
  const [lagging, leading] = [telling(sender, 1n), telling(sender, 3n)];
  t.equal((await sequenceFigures(step, [lagging])).chain, 1n);
  t.equal((await sequenceFigures(step, [leading, lagging])).chain, 3n);
  t.equal((await sequenceFigures(step, [telling(sender, undefined), lagging])).chain, 1n, 'one that does not count');
});

t.test('a chain is asked once, on the chain of the lane, with how far the account is known to be', async (t) => {
  const { world, step, sender } = await scene(t);
  const asked: unknown[] = [];
  const asking = telling(sender, 1n, asked);
  await sequenceFigures(step, [asking, { ...asking }]);
  t.strictSame(asked, [[ADDRESS, '31337', null]]);

  await signPending(step, [await world.accept('a'), await world.accept('b')]);
  await sequenceFigures(step, [asking]);
  step.open.settled = async () => 7n;
  await sequenceFigures(step, [asking]);
  t.strictSame(asked.slice(1), [
    [ADDRESS, '31337', 2n],
    [ADDRESS, '31337', 7n],
  ]);
});
