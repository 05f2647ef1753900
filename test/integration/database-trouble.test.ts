/** The database server fails while the service runs. Requests fail meanwhile, and nothing has to be restarted. */
import t from 'tap';
import { instancesFor, RECEIVER, TRANSACTIONS, TRANSFER } from '../support/instances.ts';
import { startPostgres } from '../support/postgres.ts';

const postgres = await startPostgres({ durable: true });
t.teardown(() => postgres.stop());

t.test('requests are refused at once with 503, and served again when the server is back', async (t) => {
  const instances = await instancesFor(t, postgres);
  const service = await instances.start();
  const send = () => service.request('POST', TRANSACTIONS, TRANSFER);
  t.equal((await send()).status, 200);

  await postgres.crash();
  const began = performance.now();
  const refused = [await send(), await service.request('GET', TRANSACTIONS), await send()];
  // A request that waits for a connection takes 5 s.
  t.ok(performance.now() - began < 15_000, 'they were not left waiting');
  t.strictSame(
    refused.map(({ status, body }) => [status, body.error]),
    refused.map(() => [503, 'The database does not answer']),
  );
  t.equal((await service.request('GET', '/api/v1/health')).status, 200, 'the process itself is well');
  const ready = await fetch(`${service.url}/api/v1/ready`);
  t.equal(ready.status, 503);
  t.match(await ready.json(), { ready: false, components: { store: { status: 'unhealthy' } } });

  await postgres.restart();
  let accepted = 1;
  const end = Date.now() + 30_000;
  while (accepted < 3) {
    if ((await send()).status === 200) accepted += 1;
    if (Date.now() > end) throw new Error('it did not recover');
  }
  for (;;) {
    const { status, body } = await service.request('GET', TRANSACTIONS);
    const mined =
      status === 200 ? body.data.filter((one: { status: string }) => /mined|confirmed/.test(one.status)) : [];
    if (mined.length === accepted) break;
    if (Date.now() > end) throw new Error(`${mined.length} of ${accepted} are mined\n${service.output().slice(-3000)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  t.equal(
    BigInt(String(await instances.anvil.rpc('eth_getBalance', [RECEIVER, 'latest']))),
    7n * BigInt(accepted),
    'what was accepted was paid once, what was refused never',
  );
});
