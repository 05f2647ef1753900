/** The promise: when an instance dies, the others finish its work. */
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { assertPaidOnce, instancesFor, ownerOf, send, untilMined } from '../support/instances.ts';
import { startPostgres } from '../support/postgres.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

t.test('the owner is killed in the middle: the other finishes all', async (t) => {
  const instances = await instancesFor(t, postgres, { blockTime: 1 });
  const owner = await instances.start();
  await send([owner], 4);
  // Wait until the first instance has the lease. It then keeps it when the other one starts.
  while (!/"lease":"evm:.*lease taken/.test(owner.output())) await delay(20);
  const other = await instances.compose();
  await send([owner, other], 36);
  t.equal(ownerOf([owner, other]), owner);
  await owner.kill();
  await send([other], 20);
  await assertPaidOnce(t, instances, await untilMined(other, 60));
});
