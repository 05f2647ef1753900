import t from 'tap';
import { ProcessLeases } from '../../../../../src/store/sqlite/process-leases.ts';
import { storeFor } from '../../../../support/store.ts';
import { leasesContract } from '../../../../support/store-contract/leases.ts';

leasesContract(t, storeFor);

t.test('always free, never over', async (t) => {
  const leases = new ProcessLeases();
  t.equal(leases.lastsMs, Number.POSITIVE_INFINITY);
  const first = await leases.acquire('lane');
  t.strictSame(first, { kind: 'taken', lease: { name: 'lane', token: 1 } });
  t.strictSame(await leases.acquire('other'), { kind: 'taken', lease: { name: 'other', token: 2 } });
  leases.assertHeld({ name: 'lane', token: 1 });
  t.throws(() => leases.assertHeld({ name: 'lane', token: 2 }), { name: 'LeaseLost' });
});
