/**
 * SIGTERM to a busy service. Accepted calls finish within the grace period, including queued ones, and even if nobody
 * reads the service's output. The service always ends and leaves no process behind.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { composeService } from '../support/composed-service.ts';
import { hostileHttp, plain } from '../support/hostile-http.ts';
import { descendantsOf, survivors } from '../support/processes.ts';
import { quickStart } from '../support/run-folder.ts';
import { compileCache, type StartedService, startService } from '../support/service.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const root = join(import.meta.dirname, '..', '..');
const CALLS = 12;
/** Calls that run at the same time. Further calls wait. */
const PLACES = 4;

interface Answer {
  n: number;
  status: number;
  body: unknown;
  retryAfter: string | null;
}

interface Busy<S> {
  service: S;
  workspace: Workspace;
  /** Answers so far. */
  answers: Answer[];
  calls: Promise<void>[];
  /** Lets all calls finish. */
  open(): void;
}

/** A server that answers no request before `open` is called. */
async function closedGate(t: Test): Promise<{ host: string; open(): void }> {
  const opened = Promise.withResolvers<void>();
  const { host } = await hostileHttp(t, {
    '/': (_request, socket) => void opened.promise.then(() => socket.write(plain('open'))),
  });
  return { host, open: opened.resolve };
}

/** A service with calls that run until `open` is called, and with calls in the queue. */
async function busyService<S extends StartedService>(
  t: Test,
  start: (env: Record<string, string>) => Promise<S>,
  env: Record<string, string> = {},
  params: object = {},
): Promise<Busy<S>> {
  const { host, open } = await closedGate(t);
  const workspace = await createWorkspace({
    plugins: [
      {
        id: 'waits',
        path: 'waits.ts',
        // The first use of fetch loads code, which is slow on a busy machine.
        limits: { concurrency: PLACES, slice_ms: 60_000, cpu_ms: 60_000 },
        permissions: { kv: true, hosts: [{ host, private: true }] },
      },
    ],
    pluginFiles: {
      'waits.ts': `export const handler = async ({ params, kv }) => {
        if (params.paid) await kv.set('paid-' + params.n, params.n);
        await fetch('http://${host}/');
        await kv.set('done-' + params.n, params.n);
        return params.n;
      };`,
    },
    env,
  });
  t.teardown(() => workspace.remove());
  const service = await start(workspace.env);
  t.teardown(() => service.end());
  const answers: Answer[] = [];
  const calls = Array.from({ length: CALLS }, async (_, n) => {
    const response = await post(service, '/plugins/waits/call', { n, ...params });
    const body: unknown = await response.json();
    answers.push({ n, status: response.status, body, retryAfter: response.headers.get('retry-after') });
  });
  const load = async () => (await service.request('GET', '/api/v1/plugins/waits')).body.data.now;
  for (let tries = 0; ; tries += 1) {
    const { calls_running: running, calls_queued: queued } = await load();
    if (running === PLACES && queued === CALLS - PLACES) break;
    if (tries > 3000) throw new Error(`${running} calls run and ${queued} wait`);
    await delay(10);
  }
  return { service, workspace, answers, calls, open };
}

function post({ url, apiKey }: StartedService, path: string, body: object = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${apiKey}` };
  return fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

t.test('all that was accepted comes to its end, who asks meanwhile is told, and the exit code is 0', async (t) => {
  const { service, workspace, answers, calls, open } = await busyService(t, startService);
  const children = await descendantsOf(service.pid);
  t.ok(children.length > 0);
  service.loseTerminal();
  const ended = service.stop();
  let ready = await fetch(`${service.url}/api/v1/ready`);
  for (let tries = 0; ready.status === 200 && tries < 1000; tries += 1) {
    await delay(5);
    ready = await fetch(ready.url);
  }
  t.equal(ready.status, 503, 'not ready comes first');
  t.match(await ready.json(), { ready: false, reason: /shutting down/ });
  t.equal((await service.request('GET', '/api/v1/relayers')).status, 503);
  t.equal((await fetch(`${service.url}/api/v1/health`)).status, 200);
  const late = await post(service, '/plugins/waits/call');
  t.equal(late.status, 503);
  t.ok(Number(late.headers.get('retry-after')) > 0);
  t.equal(late.headers.get('connection'), 'close');
  t.match(await late.json(), { success: false, data: null, error: 'The service is shutting down' });

  open();
  await Promise.all(calls);
  t.strictSame(
    answers.map(({ n }) => n).toSorted((a, b) => a - b),
    [...Array(CALLS).keys()],
  );
  for (const { n, status, body } of answers) t.match({ status, body }, { status: 200, body: { data: n } });
  t.equal(await ended, 0);
  t.strictSame(await survivors(children, 5000), []);
  await t.rejects(fetch(`${service.url}/api/v1/health`));

  const again = await composeService(workspace.env);
  t.teardown(() => again.stop());
  const kept = (await again.request('GET', '/api/v1/plugins/waits')).body.data.kv_usage.keys;
  t.equal(kept, CALLS, 'what each of them did is on disk');
});

t.test('what outlasts the grace is ended with an answer that says when to come back', async (t) => {
  const { service, answers, calls } = await busyService(
    t,
    composeService,
    { SHUTDOWN_GRACE_SECONDS: '1' },
    // Calls that have changed something are not run again: they end as they are.
    { paid: true },
  );
  const children = await descendantsOf(process.pid);
  t.ok(children.length > 0);
  const begun = performance.now();
  await service.stop();
  const took = performance.now() - begun;
  t.ok(took < 15_000, `${Math.round(took)} ms`);
  await Promise.all(calls);
  t.equal(answers.length, CALLS);
  for (const { status, body, retryAfter } of answers) {
    const told = { success: false, error: 'The server is shutting down', data: { code: 'SERVICE_UNAVAILABLE' } };
    t.match({ status, body }, { status: 503, body: told });
    t.ok(Number(retryAfter) > 0);
  }
  t.strictSame(await survivors(children, 5000), []);
});

t.test('a second signal ends it at once', async (t) => {
  const { service, calls } = await busyService(t, startService, { SHUTDOWN_GRACE_SECONDS: '600' });
  // The exit cuts the connections of these calls.
  const settled = Promise.allSettled(calls);
  const ended = service.stop();
  process.kill(service.pid, 'SIGTERM');
  await delay(1500);
  t.equal((await fetch(`${service.url}/api/v1/health`)).status, 200, 'two at once, as npm gives them, are one');
  process.kill(service.pid, 'SIGTERM');
  t.equal(await ended, 1);
  await settled;
});

/** Prints a line when the service starts to load. */
const TELLING = `import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) {
  if (url.endsWith('/compose.ts')) process.stdout.write('loading\\n');
  return next(url, context);
} });`;

for (const [moment, word, preload] of [
  ['while the service is still being loaded', 'loading', `data:text/javascript,${encodeURIComponent(TELLING)}`],
  // The service creates the database long before it is ready.
  ['during the start', 'database migrated', null],
] as const) {
  t.test(`a signal ${moment} ends it in good order too`, async (t) => {
    const workspace = await createWorkspace({ rpcUrl: 'http://127.0.0.1:9' });
    t.teardown(() => workspace.remove());
    const options = [...quickStart(), ...(preload === null ? [] : ['--import', preload])];
    const child = spawn(process.execPath, [...options, join(root, 'src', 'main.ts')], {
      cwd: root,
      env: { ...compileCache(), ...workspace.env },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    const said: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      if (said.push(line) && line.includes(word) && !child.killed) child.kill('SIGTERM');
    }
    t.strictSame(await exited, [0, null]);
    t.ok(child.killed, 'it was told to');
    if (preload !== null) t.notMatch(said.join('\n'), /"msg":"ready"/);
    const again = await composeService(workspace.env);
    t.equal((await again.request('GET', '/api/v1/health')).body, 'OK', 'nothing was left locked');
    await again.stop();
  });
}
