import t from 'tap';
import { hasExpired, lifetimeOf } from '../../../../src/engine/lifetime.ts';
import { EngineWorld, pendingTransaction } from '../../../support/engine-world.ts';

t.test('its own end counts, else that of its chain', async (t) => {
  const world = await EngineWorld.open(t);
  const step = { ...(await world.step()), now: () => 1_000 };
  const at = (validUntil: number | null, createdAt: number) =>
    hasExpired(step, pendingTransaction('pay', { validUntil, createdAt }));
  t.equal(await at(1_001, 0), false);
  t.equal(await at(1_000, 0), true);
  t.equal(await at(null, 1_000 - world.family.lifetimeMs), true);
  t.equal(await at(null, 1_001 - world.family.lifetimeMs), false);
  t.equal(await at(2_000, 0 - world.family.lifetimeMs), false, 'a client may ask for longer');
});

t.test('what ended is named', (t) => {
  t.equal(lifetimeOf(pendingTransaction('pay', { validUntil: 1 })), 'valid_until passed');
  t.equal(lifetimeOf(pendingTransaction('pay')), 'Its lifetime passed');
  t.end();
});
