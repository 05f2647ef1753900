/** What SIGTERM does to a service that is busy: nothing accepted is cut off within the grace, and it always ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { quickStart } from '../support/run-folder.ts';
import { compileCache, startService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const CALLS = 20;

const waits = `export const handler = async ({ params, kv }) => {
  await kv.set('begun-' + params.n, 1);
  await new Promise((resolve) => setTimeout(resolve, params.ms));
  return params.n;
};`;

async function busyService(t: Test, ms: number, env: Record<string, string>) {
  const count = `export const handler = async ({ kv }) => { let n = 0;
    for (let i = 0; i < ${CALLS}; i += 1) if (await kv.exists('begun-' + i)) n += 1; return n; };`;
  const workspace = await createWorkspace({
    // Both under one id's store would need one plugin: the route says which of the two is meant.
    pluginFiles: {
      'busy.ts': `${waits.replace('handler', 'waits')}\n${count.replace('handler', 'count')}
export const handler = (context) => (context.route === '/count' ? count(context) : waits(context));`,
    },
    env,
  });
  t.teardown(() => workspace.remove());
  const service = await startService(workspace.env);
  t.teardown(() => service.kill());
  const calls = Array.from({ length: CALLS }, (_, n) =>
    service.call('busy', { n, ms }).catch((error: unknown) => error),
  );
  const begun = () => service.request('POST', '/api/v1/plugins/busy/call/count');
  for (let tries = 0; (await begun()).body.data < CALLS; tries += 1) {
    if (tries > 200) throw new Error('the calls did not begin');
    await delay(25);
  }
  return { service, calls };
}

t.test('20 running plugin calls come to their end; who asks meanwhile is told; the exit code is 0', async (t) => {
  const { service, calls } = await busyService(t, 2500, {});
  const ended = service.stop();
  let ready = await fetch(`${service.url}/api/v1/ready`);
  for (let tries = 0; ready.status === 200 && tries < 100; tries += 1) {
    await delay(5);
    ready = await fetch(`${service.url}/api/v1/ready`);
  }
  t.equal(ready.status, 503, 'not ready comes first');
  t.match(await ready.json(), { ready: false, reason: /shutting down/ });
  t.equal((await service.request('GET', '/api/v1/relayers')).status, 503);
  t.equal((await service.call('busy', { n: 99, ms: 0 })).status, 503);
  t.equal((await fetch(`${service.url}/api/v1/health`)).status, 200);

  const answers = await Promise.all(calls);
  t.strictSame(
    answers.map((answer) => (answer as { body: { data: number } }).body?.data),
    Array.from({ length: CALLS }, (_, n) => n),
  );
  t.equal(await ended, 0);
  await t.rejects(fetch(`${service.url}/api/v1/health`));
});

t.test('calls that outlast the grace are ended with an answer, and the exit code is still 0', async (t) => {
  const { service, calls } = await busyService(t, 60_000, { SHUTDOWN_GRACE_SECONDS: '1' });
  const begun = performance.now();
  t.equal(await service.stop(), 0);
  const took = performance.now() - begun;
  t.ok(took < 15_000, `${Math.round(took)} ms`);
  for (const answer of await Promise.all(calls)) {
    t.match(answer, { status: 503, body: { success: false } });
  }
});

t.test('a second signal ends it at once', async (t) => {
  const { service, calls } = await busyService(t, 60_000, { SHUTDOWN_GRACE_SECONDS: '600' });
  const ended = service.stop();
  process.kill(service.pid, 'SIGTERM');
  await delay(1500);
  t.equal((await fetch(`${service.url}/api/v1/health`)).status, 200, 'two at once, as npm gives them, are one');
  process.kill(service.pid, 'SIGTERM');
  t.equal(await ended, 1);
  await Promise.all(calls);
});

t.test('a signal during the start ends it in good order too', async (t) => {
  const workspace = await createWorkspace({ rpcUrl: 'http://127.0.0.1:9' });
  t.teardown(() => workspace.remove());
  const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
  const child = spawn(process.execPath, [...quickStart(), main], {
    env: { ...compileCache(), ...workspace.env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  // The database is made long before the service is ready.
  for await (const line of createInterface({ input: child.stdout })) if (line.includes('database migrated')) break;
  child.kill('SIGTERM');
  t.strictSame(await once(child, 'exit'), [0, null]);

  const again = await startService(workspace.env);
  t.equal((await again.request('GET', '/api/v1/health')).body, 'OK', 'nothing was left locked');
  t.equal(await again.stop(), 0);
});
