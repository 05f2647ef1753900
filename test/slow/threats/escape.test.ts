/**
 * Threat: guest code looks for a way out of its world: through objects of isolated-vm, host functions, modules,
 * constructors, clocks or names. Each probe searches, and throws when it finds something. If one of these fails, look
 * first at `sandbox/guest/boot.ts`, which sets up everything that a guest can reach.
 */
import t from 'tap';
import { AttackRun } from '../../support/attacks/attack-run.ts';
import { ESCAPE_ATTACKS } from '../../support/attacks/escape.ts';

const attackRun = await AttackRun.open(t, ESCAPE_ATTACKS);

t.test('threat 16: what was removed stays removed', async (t) => {
  // Threat: a removed global is reached again, by eval or under another name.
  await attackRun.assertContained(t, 16);
});

t.test('threat 30: nothing of isolated-vm can be reached', async (t) => {
  // Threat: with isolated-vm's classes, a guest makes its own isolates and references.
  await attackRun.assertContained(t, 30);
});

t.test('threat 31: no function is the host’s own', async (t) => {
  // Threat: one reference into the host leads to everything in it.
  await attackRun.assertContained(t, 31);
});

t.test('threat 38: errors say nothing of the host', async (t) => {
  // Threat: texts, paths and stacks of the service reach the guest.
  await attackRun.assertContained(t, 38);
});

t.test('threat 39: call sites show nothing of the host', async (t) => {
  // Threat: prepareStackTrace gets the function and the receiver of every frame.
  await attackRun.assertContained(t, 39);
});

t.test('threat 40: constructors of constructors are the guest’s own', async (t) => {
  // Threat: the Function constructor of another world makes code that runs in that world.
  await attackRun.assertContained(t, 40);
});

t.test('threat 42: nothing is imported at run time', async (t) => {
  // Threat: import() loads a module of Node, or a file.
  await attackRun.assertContained(t, 42);
});

t.test('threat 43: code made of text is as confined as any', async (t) => {
  // Threat: eval and the four function constructors run in a wider world.
  await attackRun.assertContained(t, 43);
});

t.test('threat 57: clocks are coarse', async (t) => {
  // Threat: with a precise clock, a guest can read the processor's caches.
  await attackRun.assertContained(t, 57);
});

t.test('threat 58: nothing of the environment is there', async (t) => {
  // Threat: the guest gets Node's own `process`.
  await attackRun.assertContained(t, 58);
});

t.test('threat 60: the caller’s credential is not there', async (t) => {
  // Threat: a plugin gets the caller's API key.
  await attackRun.assertContained(t, 60);
});

t.test('nothing of it goes on', (t) => attackRun.assertOver(t));
