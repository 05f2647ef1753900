import t from 'tap';
import { EngineWorld } from '../support/engine-world.ts';

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
