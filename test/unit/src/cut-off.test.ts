import { once } from 'node:events';
import t from 'tap';
import { CutOff } from '../../../src/cut-off.ts';

t.test('it does not come by itself', (t) => {
  t.notOk(new CutOff().signal.aborted);
  t.end();
});

t.test('it comes at the soonest of the moments that were set, and once', async (t) => {
  const cutOff = new CutOff();
  let came = 0;
  cutOff.signal.addEventListener('abort', () => {
    came += 1;
  });
  // `CutOff` does not keep the process alive, so a timer does.
  const keeps = setInterval(() => undefined, 1000);
  t.teardown(() => clearInterval(keeps));
  cutOff.within(600_000);
  const began = performance.now();
  cutOff.within(20);
  cutOff.within(600_000);
  await once(cutOff.signal, 'abort');
  t.ok(performance.now() - began < 60_000);
  cutOff.within(0);
  await new Promise((resolve) => setTimeout(resolve, 20));
  t.equal(came, 1);
});
