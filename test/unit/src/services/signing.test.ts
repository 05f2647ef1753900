import t from 'tap';
import { EngineWorld, relayerNamed } from '../../../support/engine-world.ts';

t.test('the chain signs what the body says', async (t) => {
  const world = await EngineWorld.open(t);
  t.strictSame(await world.services().signing.signTransaction('r1', { a: 1 }), { signed: '{"a":1}' });
});

t.test('a paused or disabled relayer signs nothing', async (t) => {
  const world = await EngineWorld.open(t);
  const { signing } = world.services();
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { paused: true })));
  await t.rejects(signing.signTransaction('r1', {}), { code: 'RELAYER_PAUSED' });
  const disabledReason = { type: 'BalanceCheckFailed', details: 'Insufficient balance' } as const;
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { disabledReason })));
  await t.rejects(signing.signTransaction('r1', {}), { code: 'RELAYER_DISABLED' });
  await t.rejects(signing.signTransaction('none', {}), { code: 'RELAYER_NOT_FOUND' });
});
