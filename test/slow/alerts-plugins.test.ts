/** The alerts about plugins and open files fire under the fault that each is for, and not without it. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { alertScene, firedAll, firesOnly } from '../support/alert-scene.ts';
import { descendantsOf } from '../support/processes.ts';
import { startService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

/** Files that the service may have open: the test has as few, and what it starts inherits that. */
const FILES = 400;

const workspace = await createWorkspace({
  env: { HOST: '127.0.0.1', RATE_LIMIT_REQUESTS_PER_SECOND: '10000', RATE_LIMIT_BURST_SIZE: '10000' },
  plugins: [
    { id: 'one', path: 'one.ts', timeout: 12, limits: { concurrency: 1 } },
    { id: 'calm', path: 'calm.ts' },
  ],
  pluginFiles: {
    'one.ts': `export async function handler({ params }) {
      if (params.ms) await new Promise((resolve) => setTimeout(resolve, params.ms));
      return 1;
    }`,
    'calm.ts': `export async function handler() { return 'calm'; }`,
  },
});
t.teardown(() => workspace.remove());
spawnSync('prlimit', ['--pid', String(process.pid), `--nofile=${FILES}:${FILES}`]);

const scene = await alertScene(t, workspace.env, startService);
const { service } = scene;

/** Waits for the cause, by the server's own word. */
async function untilSaid(what: RegExp): Promise<void> {
  while (!what.test((await scene.scrape()) ?? '')) await delay(100);
}

/** After losses a plugin is backed off for a while. */
async function untilServed(): Promise<void> {
  while ((await service.call('calm').catch(() => null))?.status !== 200) await delay(100);
}

/** Kills what runs plugins, as the system does when it is short of memory. */
async function killSandboxes(): Promise<void> {
  for (const { pid, command } of await descendantsOf(service.pid)) {
    if (!command.includes('isolayer-sandbox')) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It went by itself.
    }
  }
}

t.test('calls that wait for a place, and go without one', async (t) => {
  t.equal((await service.call('calm')).status, 200);
  t.equal((await service.call('one')).status, 200);
  await scene.minutes(3);
  firesOnly(t, scene, []);
  for (let round = 0; round < 2; round += 1) {
    // Those that wait are sent away after half of the timeout, and it is held until 6 s after that: a busy machine may
    // take seconds until they wait.
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
  // Some of what was killed was not ready yet.
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
  /** It takes connections one by one: at least one with each look at it, as long as there are any. */
  const settled = async () => {
    let [before, now] = [0, await open()];
    while (now > before) [before, now] = [now, await open()];
    return now;
  };
  /** The server cuts who says nothing for long, and its processes come and go: so many are opened as lack now. */
  const hold = async (files: number) => {
    for (let lacking = files - (await settled()); lacking > 0; lacking = files - (await settled())) {
      const sockets = Array.from({ length: lacking }, () => connect(Number(new URL(service.url).port), '127.0.0.1'));
      for (const socket of sockets) {
        held.add(socket);
        // Where nobody reads the farewell, a connection that was cut would keep its file here.
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

  // All numbers below are taken, so that it gets no further one.
  spawnSync('prlimit', ['--pid', String(service.pid), '--nofile=16:16']);
  await killSandboxes();
  /** Of those that were killed, some are counted late: only what did not start counts here. */
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
    'IsolayerFilesRunningOut',
    'IsolayerSandboxBroken',
  ]);
});
