import { inspect } from 'node:util';
import t from 'tap';
import { createThrowing } from '../../../../../../sandbox/guest/lazy/assert.ts';

const { throws, rejects } = createThrowing(inspect, inspect);
const run = () => {
  throw Object.assign(new Error('text'), { code: 'C', inner: { a: 1 } });
};

t.test('what is thrown is judged by a pattern, an object, a class or a function', async (t) => {
  throws(run, /text/);
  throws(run, { code: 'C', inner: { a: 1 } });
  throws(run, new Error('text'));
  throws(run, (error: { code: string }) => error.code === 'C');
  t.throws(() => throws(run, { code: 'D' }), /\+ actual - expected/);
  t.throws(() => throws(run, (_: unknown) => 5), { message: /expected to return "true"\. Received 5[^]*Caught error/ });
  t.throws(() => throws(run, class Own {}), TypeError, 'a class that is no error is called');
  t.throws(() => throws(() => {}, undefined, new RangeError('own')), RangeError);
  await rejects(async () => run(), /text/);
  await t.rejects(
    rejects(async () => run(), /other/),
    /did not match the regular expression/,
  );
});
