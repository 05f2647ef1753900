import * as node from 'node:timers/promises';
import t from 'tap';
import { timerPromises } from '../../../../../sandbox/guest/node/timer-promises.ts';
import { sameAsNode } from '../../../../support/same-as-node.ts';

t.test('timers are waited for as in Node', async (t) => {
  const gaveUp = new AbortController();
  gaveUp.abort('enough');
  await sameAsNode(t, timerPromises as unknown as typeof node, node, {
    timeout: (timers) => timers.setTimeout(1, 'value'),
    immediate: (timers) => timers.setImmediate('value'),
    'given up before': (timers) => timers.setTimeout(1000, 1, { signal: gaveUp.signal }),
    async 'given up meanwhile'(timers) {
      const controller = new AbortController();
      const waits = timers.setTimeout(1_000_000, 1, { signal: controller.signal });
      controller.abort(new Error('why'));
      return waits.catch((error: Error) => [error.name, String(error.cause)]);
    },
    async 'an immediate given up'(timers) {
      const controller = new AbortController();
      const waits = timers.setImmediate(1, { signal: controller.signal });
      controller.abort();
      return waits.catch((error: Error) => error.name);
    },
    async interval(timers) {
      const seen: unknown[] = [];
      for await (const value of timers.setInterval(1, 'tick')) if (seen.push(value) === 3) break;
      return seen;
    },
    scheduler: async (timers) => [await timers.scheduler.wait(1), await timers.scheduler.yield()],
    'no options': (timers) => timers.setTimeout(1, 1, 5 as never),
    'no signal': (timers) => timers.setTimeout(1, 1, { signal: 5 as never }),
  });
});
