/**
 * Threat: guest code that takes the processor, by loops that the engine can stop between two steps. It must be stopped
 * by the time limits of its call, with the code that says so, and leave the plugin and its neighbours as they were. If
 * one of these fails, look at `sandbox/process/call.ts`, where a stretch is limited.
 */
import t from 'tap';
import { PROCESSOR_ATTACKS } from '../../support/attacks/processor.ts';
import { Siege } from '../../support/attacks/siege.ts';

const siege = await Siege.open(
  t,
  PROCESSOR_ATTACKS.filter(({ threat }) => threat !== null),
);

t.test('threat 1: loops without an end', async (t) => {
  // Threat: a synchronous loop; nothing else of its process runs meanwhile.
  await siege.assertContained(t, 1);
});

t.test('threat 2: microtasks without an end', async (t) => {
  // Threat: a loop of microtasks, which a time limit on the synchronous part alone would never see.
  await siege.assertContained(t, 2);
});

t.test('threat 3: promises that never settle', async (t) => {
  // Threat: a call that waits for ever and costs nothing but its place.
  await siege.assertContained(t, 3);
});

t.test('threat 10: explosive regular expressions', async (t) => {
  // Threat: an expression whose matching or compiling takes exponential time inside the engine.
  await siege.assertContained(t, 10);
});

t.test('threat 43: sources made to be compiled for ever', async (t) => {
  // Threat: eval and Function are there, and the compiler is slow on what was made for it.
  await siege.assertContained(t, 43);
});

t.test('threat 51: Atomics.wait', async (t) => {
  // Threat: it parks the thread; it must not exist.
  await siege.assertContained(t, 51);
});

t.test('threat 52: Atomics.waitAsync', async (t) => {
  // Threat: a promise that only another thread settles; it must not exist.
  await siege.assertContained(t, 52);
});

t.test('threat 57: clocks read as fast as they can be', async (t) => {
  // Threat: the host is asked for the time in a loop, past the limit of the guest's own stretch.
  await siege.assertContained(t, 57);
});

t.test('nothing of it goes on', (t) => siege.assertOver(t));
