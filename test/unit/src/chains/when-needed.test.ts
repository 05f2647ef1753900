import t from 'tap';
import type { Chain } from '../../../../src/chains/chain.ts';
import { evm } from '../../../../src/chains/evm/configuration/family.ts';
import { createEvmChain } from '../../../../src/chains/evm/index.ts';
import { whenNeeded } from '../../../../src/chains/when-needed.ts';
import { systemClock } from '../../../../src/domain/clock.ts';

function counted() {
  let loads = 0;
  const chain = whenNeeded(evm, (): Chain => {
    loads++;
    return createEvmChain(systemClock);
  });
  return { chain, loads: () => loads };
}

t.test('what configuration asks does not load a chain, the rest does once', async (t) => {
  const { chain, loads } = counted();
  t.equal(chain.type, 'evm');
  t.ok(chain.policySchema.safeParse({}).success);
  t.equal(chain.marketUrl({ settings: {} }), null);
  t.equal(loads(), 0);
  t.equal(chain.unit, 'wei');
  t.equal(typeof chain.signTypedData, 'function');
  t.equal(chain.swapSchedule, undefined, 'what a family lacks stays absent');
  t.equal(loads(), 1);
});

t.test('a copy of one has all of it', async (t) => {
  const { chain, loads } = counted();
  t.equal({ ...chain }.unit, 'wei');
  t.ok('connect' in chain);
  t.notOk('swapSchedule' in chain);
  t.equal(loads(), 1);
});
