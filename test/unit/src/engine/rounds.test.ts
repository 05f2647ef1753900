import t from 'tap';
import { EndablePause, Rounds } from '../../../../src/engine/rounds.ts';
import { defaultTiming } from '../../../../src/engine/timing.ts';
import { createLog } from '../../../../src/observability/log.ts';

const lines: string[] = [];
const parts = (round: () => Promise<number>) => ({
  name: 'a round',
  round,
  random: () => 0,
  timing: { ...defaultTiming, retryMs: 1, retryCapMs: 1 },
  log: createLog('info', { write: (line) => void lines.push(line) }),
});

t.test('one follows the other, also after one that failed, until it is closed', async (t) => {
  const enough = Promise.withResolvers<void>();
  let made = 0;
  const rounds = new Rounds(
    parts(async () => {
      made += 1;
      if (made === 2) throw new Error('the second');
      if (made === 4) enough.resolve();
      return 0;
    }),
  );
  rounds.start();
  rounds.start();
  await enough.promise;
  await rounds.close();
  const last = made;
  t.ok(lines.some((line) => /a round failed/.test(line) && /the second/.test(line)));
  rounds.start();
  await rounds.close();
  t.equal(made, last, 'a closed one makes no more');
  t.ok(rounds.isClosed);
});

t.test('closing ends a pause within a round, and waits for the round', async (t) => {
  let ended = false;
  const begun = Promise.withResolvers<void>();
  const rounds: Rounds = new Rounds(
    parts(async () => {
      begun.resolve();
      await rounds.pause(3_600_000);
      ended = true;
      return 0;
    }),
  );
  rounds.start();
  await begun.promise;
  await rounds.close();
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
