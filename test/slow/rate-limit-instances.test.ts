/** All instances on a database share one rate limit. A caller that one instance refuses is not served by the next. */
import t from 'tap';
import { instancesFor } from '../support/instances.ts';
import { startPostgres } from '../support/postgres.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

t.test('a burst over two instances is served once, and strangers are counted apart', async (t) => {
  const instances = await instancesFor(t, postgres);
  const burst = { RATE_LIMIT_REQUESTS_PER_SECOND: '1', RATE_LIMIT_BURST_SIZE: '20' };
  const services = await Promise.all([instances.compose(burst), instances.compose(burst)]);
  const begun = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, n) => services[n % 2 === 0 ? 0 : 1].request('GET', '/api/v1/relayers')),
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

t.test('a relayer takes its burst once, whichever instance and key asks', async (t) => {
  const instances = await instancesFor(t, postgres);
  const limit = { RELAYER_RATE_LIMIT_REQUESTS_PER_SECOND: '1', RELAYER_RATE_LIMIT_BURST_SIZE: '20' };
  const services = await Promise.all([instances.compose(limit), instances.compose(limit)]);
  const made = await services[0].request('POST', '/api/v1/api-keys', {
    name: 'second',
    permissions: ['relayers:local-1:sign'],
  });
  const keys = [services[0].apiKey, made.body.data.key as string];
  const sign = async (n: number) => {
    const response = await fetch(`${services[n % 2 === 0 ? 0 : 1].url}/api/v1/relayers/local-1/sign`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys[(n >> 1) % 2]}`, 'content-type': 'application/json' },
      body: '{"message":"hello"}',
    });
    const { code, after } = (await response.json()) as { code?: string; after?: number };
    return { status: response.status, code, after, retryAfter: response.headers.get('retry-after') };
  };
  // The key is new. The other instance learns of it within a second.
  while ((await sign(3)).status === 401) await new Promise((resolve) => setTimeout(resolve, 20));
  const begun = performance.now();
  const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => sign(n)));
  const back = Math.ceil((performance.now() - begun) / 1000);
  const served = answers.filter(({ status }) => status === 200).length;
  t.ok(served >= 18 && served <= 20 + back, `${served} served, ${back} tokens came back`);
  const refused = answers.filter(({ status }) => status !== 200);
  t.ok(refused.every(({ status, code }) => status === 429 && code === 'RELAYER_LIMITED'));
  t.ok(refused.every(({ after, retryAfter }) => (after ?? 0) >= 1 && retryAfter === String(after)));
  t.equal((await services[0].request('GET', '/api/v1/relayers/local-1')).status, 200, 'reading does not count');
});
