import t from 'tap';
import { findTransaction } from '../../../../src/services/transaction-lookup.ts';
import { EngineWorld, relayerNamed } from '../../../support/engine-world.ts';

t.test('a transaction is found under its own relayer only', async (t) => {
  const world = await EngineWorld.open(t);
  const { id } = await world.accept('pay');
  t.match(await findTransaction(world.store.read, 'r1', id), { id, relayerId: 'r1' });
  const missing = { code: 'TRANSACTION_NOT_FOUND', status: 404 };
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r2')));
  await t.rejects(findTransaction(world.store.read, 'r2', id), missing);
  await t.rejects(findTransaction(world.store.read, 'r1', 'no such'), missing);
  await t.rejects(findTransaction(world.store.read, 'r3', id), { code: 'RELAYER_NOT_FOUND', status: 404 });
});
