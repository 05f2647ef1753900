import t from 'tap';
import { AppError } from '../../../../../src/domain/errors.ts';
import type { Relayer } from '../../../../../src/features/relayers/records/relayer.ts';
import { RelayerDirectory } from '../../../../../src/features/relayers/relayer-access.ts';
import { ADDRESS, EngineWorld, relayerNamed } from '../../../../support/engine-world.ts';

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

t.test('who asks for work is counted, but not for what is refused anyway', async (t) => {
  const world = await EngineWorld.open(t);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('paused', { paused: true })));
  const asked: string[] = [];
  const directory = new RelayerDirectory({
    read: world.store.read,
    chains: new Map([['evm', world.family]]),
    connections: { clientOf: () => world.client, close: async () => {} },
    limit: {
      async take(relayerId) {
        asked.push(relayerId);
        if (asked.length > 1) throw new AppError('RELAYER_LIMITED', { relayer: relayerId, limit: '1', burst: '1' });
      },
    },
  });
  t.match(await directory.enter('r1'), { relayer: { id: 'r1' } });
  await t.rejects(directory.enter('r1'), { code: 'RELAYER_LIMITED' });
  await t.rejects(directory.enter('paused'), { code: 'RELAYER_PAUSED' });
  await t.rejects(directory.enter('none'), { code: 'RELAYER_NOT_FOUND' });
  await t.resolves(directory.findActive('r1'), 'what stops work is not counted');
  t.strictSame(asked, ['r1', 'r1']);
});

t.test('a stored relayer of a family that is not there is a fault, not a wrong request', async (t) => {
  const world = await EngineWorld.open(t);
  const directory = await directoryOver(world, relayerNamed('other', { networkType: 'solana' }));
  await t.rejects(directory.find('other'), { name: 'Error', message: 'No chain family solana' });
});
