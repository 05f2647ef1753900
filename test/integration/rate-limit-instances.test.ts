/** One limit for all instances on a database: who is refused by one is not served by the next. */
import t from 'tap';
import { instancesFor } from '../support/instances.ts';
import { startPostgres } from '../support/postgres.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

t.test('a burst over two instances is served once, and strangers are counted apart', async (t) => {
  const instances = await instancesFor(t, postgres);
  const burst = { RATE_LIMIT_REQUESTS_PER_SECOND: '1', RATE_LIMIT_BURST_SIZE: '20' };
  const services = await Promise.all([instances.start(burst), instances.start(burst)]);
  const begun = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) => services[n % 2 === 0 ? 0 : 1].request('GET', '/api/v1/relayers')),
  );
  const back = Math.ceil((performance.now() - begun) / 1000);
  const served = answers.filter(({ status }) => status === 200).length;
  t.ok(served >= 20 && served <= 20 + back, `${served} served, ${back} tokens came back`);
  t.ok(answers.every(({ status }) => status === 200 || status === 429));
  for (const { url } of services) {
    t.equal((await fetch(`${url}/api/v1/relayers`)).status, 401, 'a stranger still has a bucket here');
    t.equal((await fetch(`${url}/api/v1/health`)).status, 200);
  }
});
