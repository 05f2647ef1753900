import t from 'tap';
import { processorMs, threadMs } from '../../../../sandbox/process/stretch-time.ts';

t.test('a thread that waits takes nothing, and one that works takes what it works', (t) => {
  const idle = threadMs();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  t.ok(processorMs(100, idle) < 50, 'others may have had the processor meanwhile');

  const busy = threadMs();
  const began = performance.now();
  // Seen by the system's own count, which may be a tick behind.
  while (threadMs() - busy < 40);
  const took = processorMs(performance.now() - began, busy);
  // Where that was behind at the beginning, less than it says has passed since.
  t.ok(took >= 30, `${took} ms`);
  t.equal(processorMs(5, 0), 5, 'what is short is not looked at closely');
  t.equal(processorMs(30, threadMs() - 10_000), 30, 'and none takes longer than the clock on the wall says');
  t.end();
});
