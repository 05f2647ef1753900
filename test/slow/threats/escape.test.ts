/**
 * Threat: guest code that looks for a way out of its world: objects of isolated-vm, functions of the host, modules,
 * constructors, clocks, names. Each probe searches by itself, and throws when it finds something. If one of these
 * fails, look at `sandbox/guest/boot.ts` first: whatever a guest can reach was put there.
 */
import t from 'tap';
import { ESCAPE_ATTACKS } from '../../support/attacks/escape.ts';
import { Siege } from '../../support/attacks/siege.ts';

const siege = await Siege.open(t, ESCAPE_ATTACKS);

t.test('threat 16: what was removed stays removed', async (t) => {
  // Threat: a removed name is found again, by eval or under another.
  await siege.assertContained(t, 16);
});

t.test('threat 30: nothing of isolated-vm can be reached', async (t) => {
  // Threat: with its classes a guest builds isolates and references of its own.
  await siege.assertContained(t, 30);
});

t.test('threat 31: no function is the host’s own', async (t) => {
  // Threat: one reference into the host leads to all of it.
  await siege.assertContained(t, 31);
});

t.test('threat 38: errors say nothing of the host', async (t) => {
  // Threat: texts, paths and stacks of the service reach the guest.
  await siege.assertContained(t, 38);
});

t.test('threat 39: call sites show nothing of the host', async (t) => {
  // Threat: prepareStackTrace is handed the functions and receivers of every frame.
  await siege.assertContained(t, 39);
});

t.test('threat 40: constructors of constructors are the guest’s own', async (t) => {
  // Threat: the Function of another world makes code that runs there.
  await siege.assertContained(t, 40);
});

t.test('threat 42: nothing is imported at run time', async (t) => {
  // Threat: import() brings a module of Node or a file.
  await siege.assertContained(t, 42);
});

t.test('threat 43: code made of text is as confined as any', async (t) => {
  // Threat: eval and the four kinds of functions run in a wider world.
  await siege.assertContained(t, 43);
});

t.test('threat 57: clocks are coarse', async (t) => {
  // Threat: a clock that is fine enough shows what lies in the processor's caches.
  await siege.assertContained(t, 57);
});

t.test('threat 58: nothing of the environment is there', async (t) => {
  // Threat: `process` is the process.
  await siege.assertContained(t, 58);
});

t.test('threat 60: the caller’s credential is not there', async (t) => {
  // Threat: a plugin is handed the key that opens everything.
  await siege.assertContained(t, 60);
});

t.test('nothing of it goes on', (t) => siege.assertOver(t));
