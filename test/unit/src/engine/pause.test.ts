import t from 'tap';
import { Pause } from '../../../../src/engine/rounds.ts';

t.test('a pause lasts as long as it is told', async (t) => {
  const began = performance.now();
  await new Pause().last(20);
  t.ok(performance.now() - began >= 19);
});

t.test('an end that comes during the wait ends it', async (t) => {
  const pause = new Pause();
  const waiting = pause.last(600_000);
  pause.end();
  await t.resolves(waiting);
});

t.test('an end that comes between two waits ends the next one, and only that', async (t) => {
  const pause = new Pause();
  pause.end();
  pause.end();
  await pause.last(600_000);
  const began = performance.now();
  await pause.last(20);
  t.ok(performance.now() - began >= 19);
});
