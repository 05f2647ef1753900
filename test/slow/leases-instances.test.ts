/**
 * The promise: several instances on one database act as one service. What could break it: two that drive one account at
 * the same time, or two that fill an empty database together.
 */

import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { assertPaidOnce, instancesFor, ownerOf, send, untilMined } from '../support/instances.ts';
import { startPostgres } from '../support/postgres.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

t.test('three that start together on an empty database share one relayer', async (t) => {
  const instances = await instancesFor(t, postgres);
  const services = await Promise.all([1, 2, 3].map(() => instances.compose()));
  const [first, , third] = services;
  if (first === undefined || third === undefined) throw new Error('not started');
  const { body } = await third.request('GET', '/api/v1/relayers');
  t.match(body.data, [{ id: 'local-1', system_disabled: false, address: instances.address }]);
  t.equal(body.pagination.total_items, 1);

  const ids = await send(services, 30);
  t.equal(new Set(ids).size, 30);
  const mined = await untilMined(first, 30);
  t.strictSame(new Set(mined.map(({ id }) => id)), new Set(ids));
  await assertPaidOnce(t, instances, mined);
  ownerOf(services);
  t.strictSame(
    services.map((service) => /lane step failed|sweep failed|relayer check failed/.test(service.output())),
    [false, false, false],
  );
});

/** The promise: when an instance dies, the others finish its work. */
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
