import t from 'tap';
import { Pulse } from '../../../../../src/http/events/pulse.ts';

t.test('all who wait hear the same beat, soon after something happened', async (t) => {
  const pulse = new Pulse();
  const { beats } = pulse;
  const waiting = [pulse.next(beats), pulse.next(beats)];
  pulse.stir();
  pulse.stir();
  await Promise.all(waiting);
  t.equal(pulse.beats, beats + 1, 'what comes together is one beat');
});

t.test('what happens while nobody waits is not missed', async (t) => {
  const pulse = new Pulse();
  const { beats } = pulse;
  pulse.stir();
  t.equal(pulse.beats, beats + 1);
  const before = performance.now();
  await pulse.next(beats);
  t.ok(performance.now() - before < 900, 'not only at the next look of its own');
});

t.test('it beats now and then by itself', async (t) => {
  const pulse = new Pulse();
  await pulse.next(pulse.beats);
  t.equal(pulse.beats, 1);
});
