import t from 'tap';
import { nowOrTold, tell } from '../../../../../../sandbox/guest/node/crypto/callbacks.ts';

const heard = (call: (callback: (...heard: unknown[]) => void) => void) =>
  new Promise((resolve) => {
    call((...all) => resolve(all));
  });

t.test('a callback hears of results and errors', async (t) => {
  t.strictSame(await heard((callback) => tell(callback, Promise.resolve([1, 2]))), [null, 1, 2]);
  t.match(await heard((callback) => tell(callback, Promise.reject(new Error('x')))), [{ message: 'x' }]);
  t.throws(() => tell(5, Promise.resolve([])), { code: 'ERR_INVALID_ARG_TYPE' });
});

t.test('or it is done now', async (t) => {
  t.equal(
    nowOrTold(() => 5, undefined),
    5,
  );
  t.strictSame(await heard((callback) => nowOrTold(() => 5, callback)), [null, 5]);
  t.match(
    await heard((callback) =>
      nowOrTold(() => {
        throw new Error('x');
      }, callback),
    ),
    [{ message: 'x' }],
  );
});
