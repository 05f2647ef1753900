/**
 * Threat: guest code takes memory, in V8's heap or outside it, where the heap limit does not count. Its process may be
 * lost. The machine's memory, its neighbours and the service must not suffer. If one of these fails, look at
 * `sandbox/guest/intrinsics/removed.ts` and the watch in `sandbox/host/child/child-supervisor.ts`.
 */
import t from 'tap';
import { AttackRun } from '../../support/attacks/attack-run.ts';
import { MEMORY_ATTACKS } from '../../support/attacks/memory.ts';

const attackRun = await AttackRun.open(t, MEMORY_ATTACKS);

t.test('threat 13: buffers that grow', async (t) => {
  // Threat: the memory of a resizable buffer is not counted. Such buffers must not exist, in any way.
  await attackRun.assertContained(t, 13);
});

t.test('threat 14: shared memory', async (t) => {
  // Threat: a growable SharedArrayBuffer is not counted either, and can serve as a clock. It must not exist.
  await attackRun.assertContained(t, 14);
});

t.test('threat 15: the memory of WebAssembly', async (t) => {
  // Threat: WebAssembly memory is outside the heap. WebAssembly must not exist.
  await attackRun.assertContained(t, 15);
});

t.test('threat 16: shared memory by way of WebAssembly', async (t) => {
  // Threat: a removed constructor is reached through an object of another kind.
  await attackRun.assertContained(t, 16);
});

t.test('threat 17: buffers, and whatever is made of them', async (t) => {
  // Threat: memory outside the heap, through typed arrays, Buffer, blobs, forms, streams, clones and strings.
  await attackRun.assertContained(t, 17);
});

t.test('threat 20: a heap that grows until the engine gives up', async (t) => {
  // Threat: V8 runs out of memory where it cannot stop cleanly, and hangs or aborts.
  await attackRun.assertContained(t, 20);
});

t.test('threat 43: functions compiled for ever', async (t) => {
  // Threat: compiled code takes memory too.
  await attackRun.assertContained(t, 43);
});

t.test('variations: texts, matches, traces, listeners, signals', async (t) => {
  // Threat: the same attacks with other objects.
  await attackRun.assertContained(t, null);
});

t.test('nothing of it goes on', (t) => attackRun.assertOver(t));
