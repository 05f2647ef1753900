/** Pools that hold few transactions of an account, or drop some silently. Each block makes room for more. */
import t from 'tap';
import { EngineWorld, fastTiming, LANE } from '../support/engine-world.ts';
import type { FakeChain } from '../support/fake-chain.ts';

const pools: Readonly<Record<string, (chain: FakeChain) => void>> = {
  'drops what is beyond 16 without a word': (chain) => {
    chain.dropsSilently = (held) => held >= 16;
  },
  'turns away what is beyond 16': (chain) => {
    chain.isFull = (held) => held >= 16;
  },
  'loses every third without a word': (chain) => {
    let offers = 0;
    chain.dropsSilently = () => {
      offers += 1;
      return offers % 3 === 0;
    };
  },
};

for (const [what, limit] of Object.entries(pools)) {
  t.test(`a pool that ${what}: what it has not is offered again when a block has made room`, async (t) => {
    const world = await EngineWorld.open(t);
    limit(world.chain);
    // No offer is repeated during the test, neither on schedule nor after a failure.
    const engine = world.engine({ timing: { reofferMs: 3_600_000, retryMs: 50_000, retryCapMs: 50_000 } });
    t.teardown(() => engine.close());
    await engine.start();
    const payments = [];
    for (let index = 0; index < 100; index += 1) payments.push(await world.accept(`pay ${index}`));
    engine.wake(LANE);
    for (const one of payments) await world.untilStatus(one, 'confirmed', { mining: true });
    t.equal(world.chain.executed.length, 100);
    const { height, received } = world.chain;
    t.ok(received.length <= 100 + height * fastTiming.batch, `${received.length} offers in ${height} blocks`);
  });
}
