import t from 'tap';
import { WakeUp } from '../../../../../src/http/events/wake-up.ts';

t.test('all who wait hear the same beat, soon after something happened', async (t) => {
  const wakeUp = new WakeUp();
  const { beats } = wakeUp;
  const waiting = [wakeUp.next(beats), wakeUp.next(beats)];
  wakeUp.stir();
  wakeUp.stir();
  await Promise.all(waiting);
  t.equal(wakeUp.beats, beats + 1, 'what comes together is one beat');
});

t.test('what happens while nobody waits is not missed', async (t) => {
  const wakeUp = new WakeUp();
  const { beats } = wakeUp;
  wakeUp.stir();
  t.equal(wakeUp.beats, beats + 1);
  const before = performance.now();
  await wakeUp.next(beats);
  t.ok(performance.now() - before < 900, 'not only at the next look of its own');
});

t.test('it beats now and then by itself', async (t) => {
  const wakeUp = new WakeUp();
  await wakeUp.next(wakeUp.beats);
  t.equal(wakeUp.beats, 1);
});
