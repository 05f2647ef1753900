/** The alerts about plugins and open files fire for their own fault only. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { alertScene, firedAll, firesOnly } from '../support/alert-scene.ts';
import { descendantsOf } from '../support/processes.ts';
import { startService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

/** The limit of open files. The test process has the same limit, and the service inherits it. */
const FILES = 400;

const workspace = await createWorkspace({
  env: { HOST: '127.0.0.1', RATE_LIMIT_REQUESTS_PER_SECOND: '10000', RATE_LIMIT_BURST_SIZE: '10000' },
  plugins: [
    { id: 'one', path: 'one.ts', timeout: 12, limits: { concurrency: 1 } },
    { id: 'calm', path: 'calm.ts' },
    { id: 'ill', path: 'ill.ts', triggers: [{ name: 'monthly', every: '31d' }] },
  ],
  pluginFiles: {
    'one.ts': `export async function handler({ params }) {
      if (params.ms) await new Promise((resolve) => setTimeout(resolve, params.ms));
      return 1;
    }`,
    'calm.ts': `export async function handler() { return 'calm'; }`,
    'ill.ts': `export async function handler() { throw new Error('always'); }`,
  },
});
t.teardown(() => workspace.remove());
spawnSync('prlimit', ['--pid', String(process.pid), `--nofile=${FILES}:${FILES}`]);

const scene = await alertScene(t, workspace.env, startService);
const { service } = scene;

/** Waits until the server's metrics match. */
async function untilSaid(what: RegExp): Promise<void> {
  while (!what.test((await scene.scrape()) ?? '')) await delay(100);
}

/** Waits until the plugin serves again. After lost processes it is backed off for a while. */
async function untilServed(): Promise<void> {
  while ((await service.call('calm').catch(() => null))?.status !== 200) await delay(100);
}

/** Kills the sandbox processes, as the system does when memory runs out. */
async function killSandboxes(): Promise<void> {
  for (const { pid, command } of await descendantsOf(service.pid)) {
    if (!command.includes('isolayer-sandbox')) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended by itself.
    }
  }
}

t.test('calls that wait for a place, and go without one', async (t) => {
  t.equal((await service.call('calm')).status, 200);
  t.equal((await service.call('one')).status, 200);
  await scene.minutes(3);
  firesOnly(t, scene, []);
  for (let round = 0; round < 2; round += 1) {
    // Waiting calls are refused after half of the timeout. The call holds its place until 6 s later, because a busy
    // machine may need seconds until the calls wait.
    const holding = service.call('one', { ms: 11_800 });
    await untilSaid(/^isolayer_plugin_calls_running 1$/m);
    const waiting = [service.call('one'), service.call('one')];
    await untilSaid(/^isolayer_plugin_calls_queued 2$/m);
    if (round === 0) {
      await scene.minutes(16);
      firesOnly(t, scene, ['IsolayerPluginQueue']);
    }
    t.strictSame(
      (await Promise.all(waiting)).map(({ status }) => status),
      [503, 503],
      'they waited too long',
    );
    await holding;
    await untilSaid(/^isolayer_plugin_calls_queued 0$/m);
    await scene.minutes(6);
  }
  firesOnly(t, scene, ['IsolayerPluginUnavailable']);
  await scene.minutes(12);
  firesOnly(t, scene, []);
});

t.test('a trigger whose calls all throw', async (t) => {
  const asked = async (what: string) =>
    (await service.request('POST', `/api/v1/plugins/ill/triggers/monthly/${what}`)).status;
  for (let call = 0; call < 4; call += 1) t.equal(await asked('fire'), 200);
  await scene.minutes(3);
  firesOnly(t, scene, []);
  t.equal(await asked('fire'), 200);
  await untilSaid(/^isolayer_trigger_paused\{plugin_id="ill",trigger="monthly",by="throws"\} 1$/m);
  await scene.minutes(3);
  firesOnly(t, scene, ['IsolayerTriggerPaused']);
  t.equal(await asked('resume'), 200);
  await scene.minutes(3);
  firesOnly(t, scene, []);
});

t.test('processes of a plugin that are killed again and again', async (t) => {
  const isRefused = async () => /^isolayer_plugin_refused\{plugin_id="calm"\} 1$/m.test((await scene.scrape()) ?? '');
  let deaths = 0;
  const loseOne = async () => {
    await untilServed();
    await killSandboxes();
    deaths += 1;
    await untilSaid(
      new RegExp(`^isolayer_plugin_process_ends_total\\{plugin_id="calm",cause="died"\\} ${deaths}$`, 'm'),
    );
  };
  while (deaths < 4) await loseOne();
  await scene.minutes(3);
  // Some of the killed processes were not ready yet.
  const spares = ['IsolayerSandboxBroken'];
  firesOnly(t, scene, ['IsolayerSandboxDeaths'], spares);
  await scene.minutes(9, async () => {
    while (!(await isRefused())) await loseOne();
  });
  firesOnly(t, scene, ['IsolayerSandboxDeaths', 'IsolayerPluginRefused'], spares);
  await untilSaid(/^isolayer_plugin_refused\{plugin_id="calm"\} 0$/m);
  await scene.minutes(20);
  firesOnly(t, scene, []);
});

t.test('files that run out, and processes that do not start', async (t) => {
  const held = new Set<Socket>();
  t.teardown(() => {
    for (const socket of held) socket.destroy();
  });
  const open = async () => Number(/^process_open_fds (\d+)/m.exec((await scene.scrape()) ?? '')?.[1]);
  /**
   * The server accepts at least one connection between two looks. So the figure stops growing when all are accepted.
   */
  const settled = async () => {
    let [before, now] = [0, await open()];
    while (now > before) [before, now] = [now, await open()];
    return now;
  };
  /**
   * Opens as many connections as are missing now. The server closes idle connections, and its processes come and go.
   */
  const hold = async (files: number) => {
    for (let lacking = files - (await settled()); lacking > 0; lacking = files - (await settled())) {
      const sockets = Array.from({ length: lacking }, () => connect(Number(new URL(service.url).port), '127.0.0.1'));
      for (const socket of sockets) {
        held.add(socket);
        // Read to the end. Otherwise a connection that the server has closed would keep its file open here.
        socket
          .once('close', () => held.delete(socket))
          .on('error', () => {})
          .resume();
      }
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    }
  };
  await scene.minutes(12, () => hold(Math.ceil(FILES * 0.86)));
  firesOnly(t, scene, ['IsolayerFilesRunningOut']);

  // All lower numbers are in use, so the server cannot open another file.
  spawnSync('prlimit', ['--pid', String(service.pid), '--nofile=16:16']);
  await killSandboxes();
  /** The processes that did not start. Killed ones may be counted late, so they are left out. */
  const failed = async () => {
    const [, count = 0] =
      /^isolayer_plugin_process_ends_total\{plugin_id="",cause="start"\} (\d+)$/m.exec((await scene.scrape()) ?? '') ??
      [];
    return Number(count);
  };
  while ((await failed()) === 0) await delay(100);
  await scene.minutes(1);
  const before = await failed();
  while ((await failed()) < before + 4) await delay(250);
  await scene.minutes(2);
  firesOnly(t, scene, ['IsolayerSandboxBroken'], ['IsolayerFilesRunningOut', 'IsolayerSandboxDeaths']);
  firedAll(t, scene, [
    'IsolayerPluginQueue',
    'IsolayerPluginUnavailable',
    'IsolayerSandboxDeaths',
    'IsolayerPluginRefused',
    'IsolayerTriggerPaused',
    'IsolayerFilesRunningOut',
    'IsolayerSandboxBroken',
  ]);
});
