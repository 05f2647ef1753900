import t from 'tap';
import type { Relayer } from '../../../../src/domain/relayer.ts';
import { RelayerDirectory } from '../../../../src/services/relayer-access.ts';
import { ADDRESS, EngineWorld, relayerNamed } from '../../../support/engine-world.ts';

const DISABLED = {
  type: 'BalanceCheckFailed',
  details: 'Insufficient balance: 0xaa has 0 wei',
  nextCheckAt: 1_700_000_000_000,
} as const;

async function directoryOver(world: EngineWorld, ...relayers: Relayer[]): Promise<RelayerDirectory> {
  for (const relayer of relayers) await world.store.write((writer) => writer.putRelayer(relayer));
  return new RelayerDirectory({
    read: world.store.read,
    chains: new Map([['evm', world.family]]),
    connections: { clientOf: () => world.client, close: async () => {} },
  });
}

t.test('a relayer is found with its family, account and network', async (t) => {
  const world = await EngineWorld.open(t);
  const access = await (await directoryOver(world)).findActive('r1');
  t.equal(access.chain, world.family);
  t.strictSame(access.account, { address: ADDRESS, policies: {} });
  t.equal(access.client(), world.client);
});

t.test('an unknown one is 404, a paused one 403, a disabled one 403, and paused is tested first', async (t) => {
  const world = await EngineWorld.open(t);
  const directory = await directoryOver(
    world,
    relayerNamed('paused', { paused: true }),
    relayerNamed('disabled', { disabledReason: DISABLED }),
    relayerNamed('both', { paused: true, disabledReason: DISABLED }),
  );
  await t.rejects(directory.findActive('none'), { code: 'RELAYER_NOT_FOUND', status: 404 });
  await t.rejects(directory.findActive('paused'), { code: 'RELAYER_PAUSED', status: 403, message: 'Relayer paused' });
  await t.rejects(directory.findActive('disabled'), {
    code: 'RELAYER_DISABLED',
    publicMessage: 'Relayer disabled',
    message: 'Relayer disabled: Insufficient balance: 0xaa has 0 wei (checked again at 2023-11-14T22:13:20.000+00:00)',
  });
  await t.rejects(directory.findActive('both'), { code: 'RELAYER_PAUSED' });
  for (const id of ['paused', 'disabled', 'both']) await t.resolves(directory.find(id), 'reading is not gated');
});

t.test('a stored relayer of a family that is not there is a fault, not a wrong request', async (t) => {
  const world = await EngineWorld.open(t);
  const directory = await directoryOver(world, relayerNamed('other', { networkType: 'solana' }));
  await t.rejects(directory.find('other'), { name: 'Error', message: 'No chain family solana' });
});
