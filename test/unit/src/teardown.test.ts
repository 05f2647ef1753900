import t from 'tap';
import { Teardown } from '../../../src/teardown.ts';

t.test('what was opened last is closed first, once', async (t) => {
  const closed: string[] = [];
  const teardown = new Teardown();
  teardown.later('store', () => closed.push('store'));
  teardown.later('engine', async () => closed.push('engine'));
  await Promise.all([teardown.close(), teardown.close()]);
  t.strictSame(closed, ['engine', 'store']);
});

t.test('what fails or hangs keeps nothing else open, and is named', async (t) => {
  const closed: string[] = [];
  const teardown = new Teardown();
  teardown.later('lock', () => closed.push('lock'));
  teardown.later('hangs', () => new Promise(() => undefined), 20);
  teardown.later('throws', () => {
    throw new Error('no');
  });
  teardown.later('rejects', () => Promise.reject(new Error('never')));
  const failure = await teardown.close().catch((error: unknown) => error);
  t.ok(failure instanceof AggregateError);
  t.strictSame((failure as AggregateError).errors.map(String), [
    'Error: rejects: never',
    'Error: throws: no',
    'Error: hangs: not closed within 20 ms',
  ]);
  t.strictSame(closed, ['lock']);
});
