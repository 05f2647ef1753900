import t from 'tap';
import { CpuCrowding, SlicePace, sliceCpuMs, threadCpuMs } from '../../../process/call-ends.ts';

t.test('a slice grows by what others take of the processor, up to four times', async (t) => {
  t.equal(new CpuCrowding(100, 95).factor, 1);
  t.equal(new CpuCrowding(100, 200).factor, 1, 'never less');
  t.equal(new CpuCrowding(100, 40).factor, 2, 'a tick may be missing in the count');
  t.equal(new CpuCrowding(1000, 40).factor, 4);
});

t.test('the latest stretches count, and short ones do not', async (t) => {
  const crowding = new CpuCrowding(60, 50);
  const took = (wallMs: number, ownMs: number) => crowding.took(wallMs, threadCpuMs() - ownMs);
  took(9, 0);
  t.equal(crowding.factor, 1);
  for (let count = 0; count < 10; count += 1) took(150, 30);
  t.ok(crowding.factor >= 3);
  for (let count = 0; count < 10; count += 1) took(150, 150);
  t.equal(crowding.factor, 1, 'what is long ago is forgotten');
});

t.test('an old measurement counts no more', async (t) => {
  let now = 0;
  const crowding = new CpuCrowding(1000, 40, () => now);
  now = 10_000;
  t.equal(crowding.factor, 4);
  now = 10_001;
  t.equal(crowding.factor, 1);
  crowding.took(400, threadCpuMs());
  t.equal(crowding.factor, 4);
});

t.test('a thread that waits takes nothing, and one that works takes what it works', (t) => {
  const idle = threadCpuMs();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  t.ok(sliceCpuMs(100, idle) < 50, 'others may have had the processor meanwhile');

  const busy = threadCpuMs();
  const began = performance.now();
  // Seen by the system's own count, which may be a tick behind.
  while (threadCpuMs() - busy < 40);
  const took = sliceCpuMs(performance.now() - began, busy);
  // Where that was behind at the beginning, less than it says has passed since.
  t.ok(took >= 30, `${took} ms`);
  t.equal(sliceCpuMs(5, 0), 5, 'what is short is not looked at closely');
  t.equal(sliceCpuMs(30, threadCpuMs() - 10_000), 30, 'and none takes longer than the clock on the wall says');
  t.end();
});

t.test('a plugin is quick once it has been quick for a while', async (t) => {
  const pace = new SlicePace();
  t.equal(pace.quick, false, 'nothing is known of it');
  let stretches = 0;
  for (; !pace.quick && stretches < 1000; stretches += 1) pace.took(0.05);
  t.ok(stretches > 10 && stretches < 100, `${stretches}`);
  pace.took(3);
  t.equal(pace.quick, false);
  for (let left = 5; left > 0; left -= 1) pace.took(0.05);
  t.equal(pace.quick, false, 'one slow stretch is remembered');
  pace.took(60_000);
  for (let left = 100; left > 0; left -= 1) pace.took(0.05);
  t.equal(pace.quick, true, 'but not for ever');
});
