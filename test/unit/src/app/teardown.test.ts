import { once } from 'node:events';
import t from 'tap';
import { ShutdownDeadline, Teardown } from '../../../../src/app/teardown.ts';

t.test('what was opened last is closed first, once', async (t) => {
  const closed: string[] = [];
  const teardown = new Teardown();
  teardown.defer('store', () => closed.push('store'));
  teardown.defer('engine', async () => closed.push('engine'));
  await Promise.all([teardown.close(), teardown.close()]);
  t.strictSame(closed, ['engine', 'store']);
});

t.test('what fails or hangs keeps nothing else open, and is named', async (t) => {
  const closed: string[] = [];
  const teardown = new Teardown();
  teardown.defer('lock', () => closed.push('lock'));
  teardown.defer('hangs', () => new Promise(() => undefined), 20);
  teardown.defer('throws', () => {
    throw new Error('no');
  });
  teardown.defer('rejects', () => Promise.reject(new Error('never')));
  const failure = await teardown.close().catch((error: unknown) => error);
  t.ok(failure instanceof AggregateError);
  t.strictSame((failure as AggregateError).errors.map(String), [
    'Error: rejects: never',
    'Error: throws: no',
    'Error: hangs: not closed within 20 ms',
  ]);
  t.strictSame(closed, ['lock']);
});

t.test('it does not come by itself', (t) => {
  t.notOk(new ShutdownDeadline().signal.aborted);
  t.end();
});

t.test('it comes at the soonest of the moments that were set, and once', async (t) => {
  const cutOff = new ShutdownDeadline();
  let came = 0;
  cutOff.signal.addEventListener('abort', () => {
    came += 1;
  });
  // `Deadline` does not keep the process alive, so a timer does.
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
