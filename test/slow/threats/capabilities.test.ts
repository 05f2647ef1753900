/**
 * Threat: guest code that uses what it was given, capability calls, as its weapon: floods, values without measure,
 * names and parameters of its own making, locks that it keeps. If one of these fails, look at
 * `sandbox/process/bridge.ts` and `src/plugin-host/gateway.ts`.
 */
import t from 'tap';
import { CAPABILITY_ATTACKS } from '../../support/attacks/capabilities.ts';
import { Siege } from '../../support/attacks/siege.ts';

const siege = await Siege.open(t, CAPABILITY_ATTACKS);

t.test('threat 4: capability calls awaited for ever', async (t) => {
  // Threat: a call that mostly waits uses no processor time, and keeps the service busy.
  await siege.assertContained(t, 4);
});

t.test('threat 5: capability calls that nobody awaits', async (t) => {
  // Threat: calls made in a loop pile up where they are queued. Synchronous ones do not exist.
  await siege.assertContained(t, 5);
});

t.test('threat 10: patterns of keys made to match slowly', async (t) => {
  // Threat: a pattern of the plugin's is matched on the service's time.
  await siege.assertContained(t, 10);
});

t.test('threat 22: parameters without measure', async (t) => {
  // Threat: a megabyte of tiny values costs whoever carries it a hundred times as much.
  await siege.assertContained(t, 22);
});

t.test('threat 23: parameters nested beyond any reader', async (t) => {
  // Threat: whoever walks through them on the other side runs out of stack.
  await siege.assertContained(t, 23);
});

t.test('threat 35: parameters that change while they are read', async (t) => {
  // Threat: what is checked is not what is used.
  await siege.assertContained(t, 35);
});

t.test('threat 59: names that are not the plugin’s own', async (t) => {
  // Threat: a key or a relayer's id that leads to what belongs to somebody else.
  await siege.assertContained(t, 59);
});

t.test('threat 64: locks that are kept', async (t) => {
  // Threat: a lock that is never given back, or taken again and again, holds up every other call.
  await siege.assertContained(t, 64);
});

t.test('threat 65: fetches to where nobody granted', async (t) => {
  // Threat: loopback, metadata and private addresses in every spelling, and other schemes.
  await siege.assertContained(t, 65);
});

t.test('variations: values, quotas, fetches given up', async (t) => {
  // Threat: the same by size and by number.
  await siege.assertContained(t, null);
});

t.test('nothing of it goes on', (t) => siege.assertOver(t));
