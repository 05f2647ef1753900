/**
 * Threat: guest code attacks through its capability calls: floods, huge values, made-up names and parameters, and locks
 * that it keeps. If one of these fails, look at `sandbox/process/call-bridge.ts` and `src/features/plugins/host/gateway.ts`.
 */
import t from 'tap';
import { AttackRun } from '../../support/attacks/attack-run.ts';
import { CAPABILITY_ATTACKS } from '../../support/attacks/capabilities.ts';

const attackRun = await AttackRun.open(t, CAPABILITY_ATTACKS);

t.test('threat 4: capability calls awaited for ever', async (t) => {
  // Threat: a call that mostly waits uses no processor time, but keeps the service busy.
  await attackRun.assertContained(t, 4);
});

t.test('threat 5: capability calls that nobody awaits', async (t) => {
  // Threat: calls made in a loop pile up in a queue. There are no synchronous calls.
  await attackRun.assertContained(t, 5);
});

t.test('threat 10: patterns of keys made to match slowly', async (t) => {
  // Threat: the service matches a plugin's pattern, and spends its own time on it.
  await attackRun.assertContained(t, 10);
});

t.test('threat 22: parameters without measure', async (t) => {
  // Threat: a megabyte of tiny values takes a hundred times as much memory in the process that reads it.
  await attackRun.assertContained(t, 22);
});

t.test('threat 23: parameters nested beyond any reader', async (t) => {
  // Threat: code that walks through deeply nested parameters on the host runs out of stack.
  await attackRun.assertContained(t, 23);
});

t.test('threat 35: parameters that change while they are read', async (t) => {
  // Threat: the value that is checked differs from the value that is used.
  await attackRun.assertContained(t, 35);
});

t.test('threat 59: names that are not the plugin’s own', async (t) => {
  // Threat: a key or relayer id leads to something that belongs to another plugin.
  await attackRun.assertContained(t, 59);
});

t.test('threat 64: locks that are kept', async (t) => {
  // Threat: a lock that is never released, or taken again and again, blocks every other call.
  await attackRun.assertContained(t, 64);
});

t.test('threat 65: fetches to where nobody granted', async (t) => {
  // Threat: loopback, metadata and private addresses in every spelling, and other URL schemes.
  await attackRun.assertContained(t, 65);
});

t.test('variations: values, quotas, fetches given up', async (t) => {
  // Threat: the same attacks with other sizes and numbers.
  await attackRun.assertContained(t, null);
});

t.test('nothing of it goes on', (t) => attackRun.assertOver(t));
