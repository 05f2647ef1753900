/**
 * Threat: guest code that takes memory, in the engine's heap or beside it where the heap's limit does not count. Its
 * process may be lost; the machine's memory, its neighbours and the service may not. If one of these fails, look at
 * `sandbox/guest/globals/array-buffer.ts`, `removed.ts` and the watch in `sandbox/driver/supervisor.ts`.
 */
import t from 'tap';
import { MEMORY_ATTACKS } from '../../support/attacks/memory.ts';
import { Siege } from '../../support/attacks/siege.ts';

const siege = await Siege.open(t, MEMORY_ATTACKS);

t.test('threat 13: buffers that grow', async (t) => {
  // Threat: a resizable buffer's memory is not counted; neither it nor any way back to it may exist.
  await siege.assertContained(t, 13);
});

t.test('threat 14: shared memory', async (t) => {
  // Threat: a growable SharedArrayBuffer is not counted either, and makes a clock; it must not exist.
  await siege.assertContained(t, 14);
});

t.test('threat 15: the memory of WebAssembly', async (t) => {
  // Threat: it lies beside the heap; WebAssembly must not exist.
  await siege.assertContained(t, 15);
});

t.test('threat 16: shared memory by way of WebAssembly', async (t) => {
  // Threat: a removed constructor is found again through another object's.
  await siege.assertContained(t, 16);
});

t.test('threat 17: buffers, and whatever is made of them', async (t) => {
  // Threat: memory beside the heap, taken by typed arrays, Buffer, blobs, forms, streams, clones and texts.
  await siege.assertContained(t, 17);
});

t.test('threat 20: a heap that grows until the engine gives up', async (t) => {
  // Threat: V8 is out of memory where it cannot give up, and parks or aborts.
  await siege.assertContained(t, 20);
});

t.test('threat 43: functions compiled for ever', async (t) => {
  // Threat: compiled code is memory as well.
  await siege.assertContained(t, 43);
});

t.test('variations: texts, matches, traces, listeners, signals', async (t) => {
  // Threat: the same by other objects.
  await siege.assertContained(t, null);
});

t.test('nothing of it goes on', (t) => siege.assertOver(t));
