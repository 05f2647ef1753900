import t from 'tap';
import { EndablePause } from '../../../../src/domain/endable-pause.ts';
import { RepeatingTask } from '../../../../src/engine/repeating-task.ts';
import { defaultTiming } from '../../../../src/engine/timing.ts';
import { createLog } from '../../../../src/observability/log.ts';

const lines: string[] = [];
const parts = (once: () => Promise<number>) => ({
  name: 'a task',
  once,
  random: () => 0,
  timing: { ...defaultTiming, retryMs: 1, retryCapMs: 1 },
  log: createLog('info', { write: (line) => void lines.push(line) }),
});

t.test('one follows the other, also after one that failed, until it is closed', async (t) => {
  const enough = Promise.withResolvers<void>();
  let made = 0;
  const task = new RepeatingTask(
    parts(async () => {
      made += 1;
      if (made === 2) throw new Error('the second');
      if (made === 4) enough.resolve();
      return 0;
    }),
  );
  task.start();
  task.start();
  await enough.promise;
  await task.close();
  const last = made;
  t.ok(lines.some((line) => /a task failed/.test(line) && /the second/.test(line)));
  task.start();
  await task.close();
  t.equal(made, last, 'a closed one makes no more');
  t.ok(task.isClosed);
});

t.test('closing ends a pause within a task, and waits for the task', async (t) => {
  let ended = false;
  const begun = Promise.withResolvers<void>();
  const task: RepeatingTask = new RepeatingTask(
    parts(async () => {
      begun.resolve();
      await task.pause(3_600_000);
      ended = true;
      return 0;
    }),
  );
  task.start();
  await begun.promise;
  await task.close();
  t.ok(ended);
});

t.test('an end that comes during the wait ends it', async (t) => {
  const pause = new EndablePause();
  const waiting = pause.last(600_000);
  pause.end();
  await t.resolves(waiting);
});

t.test('an end that comes between two waits ends the next one, and only that', async (t) => {
  const pause = new EndablePause();
  pause.end();
  pause.end();
  await pause.last(600_000);
  const began = performance.now();
  await pause.last(20);
  t.ok(performance.now() - began >= 19);
});
