/**
 * Threat: guest code occupies the processor with loops that V8 can stop between two steps. The time limits of its call
 * must stop it, with the matching code. The plugin and its neighbours must stay unharmed. If one of these fails, look
 * at `sandbox/process/call.ts`, which limits the time without a pause.
 */
import t from 'tap';
import { AttackRun } from '../../support/attacks/attack-run.ts';
import { PROCESSOR_ATTACKS } from '../../support/attacks/processor.ts';

const attackRun = await AttackRun.open(
  t,
  PROCESSOR_ATTACKS.filter(({ threat }) => threat !== null),
);

t.test('threat 1: loops without an end', async (t) => {
  // Threat: a synchronous loop. Nothing else in its process runs meanwhile.
  await attackRun.assertContained(t, 1);
});

t.test('threat 2: microtasks without an end', async (t) => {
  // Threat: a loop of microtasks, which a time limit of only the synchronous part would miss.
  await attackRun.assertContained(t, 2);
});

t.test('threat 3: promises that never settle', async (t) => {
  // Threat: a call that waits for ever, and costs nothing but its place.
  await attackRun.assertContained(t, 3);
});

t.test('threat 10: explosive regular expressions', async (t) => {
  // Threat: a regular expression that takes exponential time to match or compile.
  await attackRun.assertContained(t, 10);
});

t.test('threat 43: sources made to be compiled for ever', async (t) => {
  // Threat: eval and Function exist, and some sources are very slow to compile.
  await attackRun.assertContained(t, 43);
});

t.test('threat 51: Atomics.wait', async (t) => {
  // Threat: Atomics.wait stops the thread. It must not exist.
  await attackRun.assertContained(t, 51);
});

t.test('threat 52: Atomics.waitAsync', async (t) => {
  // Threat: only another thread can settle the promise of Atomics.waitAsync. It must not exist.
  await attackRun.assertContained(t, 52);
});

t.test('threat 57: clocks read as fast as they can be', async (t) => {
  // Threat: a loop that asks the host for the time, and so passes the guest's own time limit.
  await attackRun.assertContained(t, 57);
});

t.test('nothing of it goes on', (t) => attackRun.assertOver(t));
