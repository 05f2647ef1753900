/** The alerts about the process fire for their own fault only. */
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { alertScene, firedAll, firesOnly } from '../support/alert-scene.ts';
import { startService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const workspace = await createWorkspace({ env: { HOST: '127.0.0.1' } });
t.teardown(() => workspace.remove());

t.test('a process that is stopped for moments, starts anew again and again, and is gone', async (t) => {
  const scene = await alertScene(t, workspace.env, startService);
  await scene.minutes(7, async () => {
    // The event loop's delay is measured from one timer tick to the next, and a scrape starts a new measurement.
    await delay(100);
    process.kill(scene.service.pid, 'SIGSTOP');
    await delay(600);
    process.kill(scene.service.pid, 'SIGCONT');
    await delay(100);
  });
  firesOnly(t, scene, ['IsolayerEventLoopStalled']);
  await scene.minutes(3, () => delay(50));
  firesOnly(t, scene, []);

  for (let starts = 0; starts < 3; starts += 1) {
    // The time of a start is told in whole seconds, and a start takes less.
    await scene.restart(() => delay(1_000));
    await scene.minutes(1);
  }
  await scene.minutes(1);
  firesOnly(t, scene, ['IsolayerRestarting']);

  await scene.service.kill();
  await scene.minutes(3);
  firesOnly(t, scene, ['IsolayerDown', 'IsolayerRestarting']);
  for (let minute = 0; minute < 6; minute += 1) scene.alerts.minute(undefined);
  firesOnly(t, scene, ['IsolayerAbsent'], ['IsolayerRestarting']);
  firedAll(t, scene, ['IsolayerEventLoopStalled', 'IsolayerRestarting', 'IsolayerDown', 'IsolayerAbsent']);
});
