import t from 'tap';
import { EngineWorld } from '../../../support/engine-world.ts';

t.test('all services share one store and one view of the relayers', async (t) => {
  const world = await EngineWorld.open(t);
  const services = world.services();
  t.strictSame(Object.keys(services).toSorted(), [
    'apiKeys',
    'audit',
    'deliveries',
    'effects',
    'fetch',
    'kv',
    'lifecycle',
    'networks',
    'notifications',
    'plugins',
    'relayers',
    'rpc',
    'signers',
    'signing',
    'transactions',
  ]);
  const { id } = await services.transactions.send('r1', { effect: 'pay' });
  t.match(await services.transactions.get('r1', String(id)), { id });
  t.equal((await services.relayers.status('r1'))['pending_transactions_count'], 1);
});
