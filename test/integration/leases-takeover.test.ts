/** The promise: an instance that dies takes no work with it; the others finish what it began. */
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
