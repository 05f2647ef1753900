/** A payment expires only when its time has really passed, even if the clock is wrong for a moment. */
import t, { type Test } from 'tap';
import { EngineWorld, LANE } from '../support/engine-world.ts';

const HOURS = 3_600_000;

async function withClock(t: Test) {
  const world = await EngineWorld.open(t);
  let ahead = 0;
  const store = { ...world.store, now: async () => (await world.store.now()) + ahead };
  const engine = world.engine({ store });
  t.teardown(() => engine.close());
  await engine.start();
  const steps = async (count: number) => {
    for (let step = 0; step < count; step += 1) {
      const { calls } = world.client;
      engine.wake(LANE);
      await world.until('the engine goes on', async () => world.client.calls > calls);
    }
  };
  return { world, engine, steps, setAhead: (ms: number) => void (ahead = ms) };
}

for (const clock of ['goes on', 'stands still', 'cannot be asked'] as const) {
  t.test(`a clock that jumps nine hours ahead ends nothing while that of the chain ${clock}`, async (t) => {
    const { world, steps, engine, setAhead } = await withClock(t);
    const began = Date.now();
    if (clock === 'stands still') world.chain.time = () => began;
    if (clock === 'cannot be asked') world.chain.fault = (call) => (call === 'moment' ? 'answer-lost' : undefined);
    let isParked = true;
    world.client.onPrepare = ({ request }) =>
      isParked && request['effect'] === 'unsigned'
        ? { kind: 'parked', reason: 'above the cap', retryInMs: 0 }
        : undefined;
    const payments = [
      await world.accept('unsigned'),
      await world.accept('signed'),
      await world.accept('with an end', { validUntil: began + HOURS }),
    ];
    for (const one of payments.slice(1)) {
      engine.wake(LANE);
      await world.untilStatus(one, 'submitted');
    }
    setAhead(9 * HOURS);
    await steps(10);
    setAhead(0);
    isParked = false;
    for (const one of payments) await world.untilStatus(one, 'confirmed', { mining: true });
    t.equal(world.chain.executed.length, payments.length);
  });
}

t.test('a chain on which nothing happens keeps no payment alive', async (t) => {
  const { world, engine } = await withClock(t);
  world.chain.time = () => 0;
  world.client.onPrepare = ({ request }) =>
    request['effect'] === 'unsigned' ? { kind: 'parked', reason: 'above the cap', retryInMs: 0 } : undefined;
  const validUntil = Date.now() + 300;
  const unsigned = await world.accept('unsigned', { validUntil });
  const signed = await world.accept('signed', { validUntil });
  engine.wake(LANE);
  await world.untilStatus(unsigned, 'expired');
  await world.until('it is taken back', async () => (await world.get(signed)).noopEnd === 'expired');
  t.ok(Date.now() >= validUntil);
});
