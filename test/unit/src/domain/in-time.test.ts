import t from 'tap';
import { inTime } from '../../../../src/domain/in-time.ts';

t.test('what comes in time counts, also when it fails; what is late counts no more', async (t) => {
  t.equal(await inTime(60_000, Promise.resolve(7)), 7);
  await t.rejects(inTime(60_000, Promise.reject(new Error('no'))), { message: 'no' });
  const { promise, reject } = Promise.withResolvers<number>();
  t.equal(await inTime(1, promise), undefined);
  reject(new Error('a failure that nobody waits for ends no process'));
  await new Promise((resolve) => setImmediate(resolve));
});
