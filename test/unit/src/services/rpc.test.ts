import t from 'tap';
import { EngineWorld, relayerNamed } from '../../../support/engine-world.ts';

t.test('a call goes through as it is', async (t) => {
  const world = await EngineWorld.open(t);
  const call = { method: 'eth_blockNumber', id: null };
  t.strictSame(await world.services().rpc.call('r1', call), { jsonrpc: '2.0', result: call });
});

t.test('a paused relayer calls nobody', async (t) => {
  const world = await EngineWorld.open(t);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { paused: true })));
  await t.rejects(world.services().rpc.call('r1', { method: 'eth_blockNumber' }), { code: 'RELAYER_PAUSED' });
  await t.rejects(world.services().rpc.call('none', {}), { code: 'RELAYER_NOT_FOUND' });
});
