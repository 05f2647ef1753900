import t from 'tap';
import { createChains } from '../../../../src/chains/registry.ts';
import { systemClock } from '../../../../src/domain/clock.ts';

t.test('every family is found by the type that it says it is', async (t) => {
  const chains = createChains(systemClock);
  t.strictSame([...chains.keys()], ['evm', 'solana', 'stellar']);
  for (const [type, chain] of chains) t.equal(chain.type, type);
});
