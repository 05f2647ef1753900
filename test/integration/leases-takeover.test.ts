/** The promise: an instance that ends, however it does, takes no work with it; the others finish what it began. */
import t from 'tap';
import { assertPaidOnce, instancesFor, ownerOf, send, untilMined } from '../support/instances.ts';
import { startPostgres } from '../support/postgres.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

t.test('the owner is killed in the middle: the other finishes all', async (t) => {
  const instances = await instancesFor(t, postgres, { blockTime: 1 });
  const services = [await instances.start(), await instances.start()];
  await send(services, 40);
  const owner = ownerOf(services);
  await owner.kill();
  const rest = services.filter((service) => service !== owner);
  const [other] = rest;
  if (other === undefined) throw new Error('none is left');
  await send(rest, 20);
  await assertPaidOnce(t, instances, await untilMined(other, 60));
});

t.test('an instance that ends in good order hands its lanes over at once', async (t) => {
  const instances = await instancesFor(t, postgres);
  const services = [await instances.start(), await instances.start()];
  await send(services, 5);
  const owner = ownerOf(services);
  const [other] = services.filter((service) => service !== owner);
  if (other === undefined) throw new Error('none is left');
  t.equal(await owner.stop(), 0);
  await send([other], 5);
  await assertPaidOnce(t, instances, await untilMined(other, 10));
});
