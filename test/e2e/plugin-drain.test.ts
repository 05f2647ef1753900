/** SIGTERM under plugin load: what was accepted comes to its end, also what waits for a place, and nothing is left. */
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { descendantsOf, survivors } from '../support/processes.ts';
import { startService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const CALLS = 24;
/** Calls that run at once: the others wait. */
const PLACES = 4;

async function busyService(t: Test, ms: number, env: Record<string, string> = {}) {
  const workspace = await createWorkspace({
    plugins: [{ id: 'waits', path: 'waits.ts', limits: { concurrency: PLACES } }],
    pluginFiles: {
      'waits.ts': `export const handler = async ({ params, kv }) => {
        await new Promise((resolve) => setTimeout(resolve, ${ms}));
        await kv.set('done-' + params.n, params.n);
        return params.n;
      };`,
      'asks.ts': 'export const handler = () => 1;',
    },
    env,
  });
  t.teardown(() => workspace.remove());
  const service = await startService(workspace.env);
  t.teardown(() => service.kill());
  await service.call('asks');
  const answers: { n: number; status: number; body: unknown; retryAfter: string | null }[] = [];
  const calls = Array.from({ length: CALLS }, async (_, n) => {
    const response = await fetch(`${service.url}/plugins/waits/call`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}` },
      body: JSON.stringify({ n }),
    });
    const body: unknown = await response.json();
    answers.push({ n, status: response.status, body, retryAfter: response.headers.get('retry-after') });
  });
  const load = async () => (await service.request('GET', '/api/v1/plugins/waits')).body.data.now;
  for (let tries = 0; ; tries += 1) {
    const { calls_running: running, calls_queued: queued } = await load();
    // However long the last one took to get here, and the first ones may be over by then.
    if (queued > 0 && running + queued + answers.length === CALLS) break;
    if (tries > 400) throw new Error(`${running} calls run and ${queued} wait`);
    await delay(10);
  }
  return { service, workspace, answers, calls };
}

t.test('calls that run and calls that wait come to their end, further ones are told to come back', async (t) => {
  const { service, workspace, answers, calls } = await busyService(t, 1000);
  const children = await descendantsOf(service.pid);
  t.ok(children.length > 0);
  const ended = service.stop();
  let refused = await fetch(`${service.url}/api/v1/plugins`, {
    headers: { authorization: `Bearer ${service.apiKey}` },
  });
  for (let tries = 0; refused.status !== 503 && tries < 1000; tries += 1) {
    await delay(5);
    refused = await fetch(refused.url, { headers: { authorization: `Bearer ${service.apiKey}` } });
  }
  const late = await fetch(`${service.url}/plugins/asks/call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}` },
  });
  t.equal(late.status, 503);
  t.ok(Number(late.headers.get('retry-after')) > 0);
  t.equal(late.headers.get('connection'), 'close');
  t.match(await late.json(), { success: false, data: null, error: 'The service is shutting down' });

  await Promise.all(calls);
  t.strictSame(
    answers.map(({ n }) => n).toSorted((a, b) => a - b),
    [...Array(CALLS).keys()],
  );
  for (const { n, status, body } of answers) t.match({ status, body }, { status: 200, body: { data: n } });
  t.equal(await ended, 0);
  t.strictSame(await survivors(children, 5000), []);

  const again = await startService(workspace.env);
  t.teardown(() => again.stop());
  const kept = (await again.request('GET', '/api/v1/plugins/waits')).body.data.kv_usage.keys;
  t.equal(kept, CALLS, 'what each of them did is on disk');
});

t.test('what outlasts the grace is ended with an answer that says when to come back', async (t) => {
  const { service, answers, calls } = await busyService(t, 60_000, { SHUTDOWN_GRACE_SECONDS: '1' });
  const children = await descendantsOf(service.pid);
  t.equal(await service.stop(), 0);
  await Promise.all(calls);
  t.equal(answers.length, CALLS);
  for (const { status, retryAfter } of answers) {
    t.equal(status, 503);
    t.ok(Number(retryAfter) > 0);
  }
  t.strictSame(await survivors(children, 5000), []);
});
