import t from 'tap';
import { signPending } from '../../../../../src/engine/lane/attempts/sign-pending.ts';
import { offer } from '../../../../../src/engine/lane/broadcast.ts';
import { CHECKPOINTS } from '../../../../../src/engine/lane/lane-step.ts';
import { observe } from '../../../../../src/engine/lane/observe.ts';
import { EngineWorld } from '../../../../support/engine-world.ts';

t.test('a life without trouble passes its steps in their order, and each step has one name', async (t) => {
  t.equal(new Set(CHECKPOINTS).size, CHECKPOINTS.length);
  const world = await EngineWorld.open(t);
  const step = await world.step();
  await signPending(step, [await world.accept('pay')]);
  await offer(step);
  world.chain.mine();
  await observe(step, [...step.open.entries.values()]);
  const expected = ['priced', 'reserved', 'signed', 'written', 'offered', 'noted', 'observed', 'settled'];
  t.strictSame(world.reached, expected);
  const places = expected.map((name) => (CHECKPOINTS as readonly string[]).indexOf(name));
  t.strictSame(
    places,
    places.toSorted((a, b) => a - b),
  );
  t.notOk(places.includes(-1));
});
