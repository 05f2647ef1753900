/**
 * The promise: if one instance revokes or limits a key, the other follows within a second, even if the notification is
 * lost. What could break it: each instance keeps the keys in memory.
 */
import t from 'tap';
import { instancesFor } from '../support/instances.ts';
import { startPostgres } from '../support/postgres.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

/** The time that docs/api.md states, and an allowance for a machine under load. */
const WITHIN_MS = 1_000 + 2_000;

t.test('what happens to a key on one instance happens on the other', async (t) => {
  const instances = await instancesFor(t, postgres);
  const [one, two] = await Promise.all([instances.compose(), instances.compose()]);
  const made = await one.request('POST', '/api/v1/api-keys', {
    name: 'guest',
    permissions: ['relayers:local-1:sign', 'audit:read'],
  });
  const { id, key } = made.body.data as { id: string; key: string };
  const ask = async (path: string, body?: string) => {
    const response = await fetch(`${two.url}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body }),
    });
    await response.text();
    return response.status;
  };
  const sign = () => ask('/relayers/local-1/sign', '{"message":"hello"}');
  /** Measures how long the other instance takes to give this answer, and checks that it keeps giving it. */
  const becomes = async (what: string, expected: number, look: () => Promise<number>) => {
    const began = performance.now();
    while ((await look()) !== expected) {
      if (performance.now() - began > 30_000) throw new Error(`never: ${what}`);
    }
    const took = performance.now() - began;
    t.ok(took < WITHIN_MS, `${what}: ${Math.round(took)} ms`);
    for (let look2 = 0; look2 < 5; look2 += 1) t.equal(await look(), expected, what);
  };
  const change = (body: object) => one.request('PATCH', `/api/v1/api-keys/${id}`, body);

  await becomes('made', 200, sign);
  t.equal((await change({ permissions: ['relayers:local-1:read'] })).status, 200);
  await becomes('may sign no more', 403, sign);
  t.equal(await ask('/audit'), 404, 'what it may do nothing to is not there');
  t.equal((await change({ permissions: ['relayers:local-1:sign'] })).status, 200);
  await becomes('may sign again', 200, sign);
  t.equal((await change({ rate_limit: { requests_per_second: 1, burst: 1 } })).status, 200);
  const began = performance.now();
  while ((await sign()) !== 429 && performance.now() - began < 30_000);
  t.ok(performance.now() - began < WITHIN_MS, 'its rate is that of now');
  t.equal((await change({ rate_limit: null })).status, 200);
  await becomes('has the rate of all', 200, sign);
  t.equal((await one.request('DELETE', `/api/v1/api-keys/${id}`)).status, 200);
  await becomes('revoked', 401, sign);
  const audit = await two.request('GET', '/api/v1/audit?resource=api_key');
  t.strictSame(
    (audit.body.data as { action: string }[]).map(({ action }) => action),
    ['delete', 'update', 'update', 'update', 'update', 'create'],
  );
});
