import t, { type Test } from 'tap';
import { createChains } from '../../../../../src/chains/registry.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { refuseOtherChain } from '../../../../../src/features/networks/chain-identity-check.ts';
import { EngineWorld } from '../../../../support/engine-world.ts';

const SERVED = { networkType: 'evm', network: 'fake', customRpcUrls: null } as const;

async function stage(t: Test, told: string[]) {
  const world = await EngineWorld.open(t);
  const evm = createChains(systemClock).get('evm');
  if (evm === undefined) throw new Error('no EVM');
  world.client.identity = async (_expected, onServed = () => {}) => {
    for (const chain of told) onServed('rpc.example', chain);
    return told[0] ?? Promise.reject(new Error('no endpoint answers'));
  };
  const deps = { read: world.store.read, connections: { clientOf: () => world.client } };
  return (network: string) => refuseOtherChain(deps, evm, { ...SERVED, network }, 'rpc_urls');
}

t.test('endpoints of another chain are refused, those of the same and silent ones are not', async (t) => {
  await t.rejects((await stage(t, ['31337', '5']))('fake'), {
    code: 'INVALID_REQUEST',
    message: 'rpc_urls: the endpoints serve chain 5, but network fake is chain 31337',
  });
  await (await stage(t, ['31337']))('fake');
  await (await stage(t, []))('fake');
});

t.test('before the first contact with a network any chain may be its own', async (t) => {
  t.equal(await (await stage(t, ['5']))('unknown'), undefined);
});
