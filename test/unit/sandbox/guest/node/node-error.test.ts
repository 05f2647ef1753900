import t from 'tap';
import {
  checkFunction,
  checkInteger,
  checkObject,
  checkString,
  nodeError,
  outOfRange,
  wrongType,
  wrongValue,
} from '../../../../../sandbox/guest/node/node-error.ts';

t.test('errors have a code, which their stack shows', async (t) => {
  const error = nodeError('ERR_X', 'text', RangeError);
  t.match(error, { code: 'ERR_X', message: 'text', name: 'RangeError' });
  t.match(error.stack, /^RangeError \[ERR_X\]: text\n {4}at .*node-error\.test\.ts/);
  t.strictSame(Object.keys(error), ['code']);
});

t.test('they say what was received as Node does', async (t) => {
  const received = (value: unknown) => wrongType('a', 'of type string', value).message.replace(/.*Received /, '');
  t.strictSame(
    [undefined, null, 5, -0, 'x', 'x'.repeat(40), true, 5n, Symbol('s'), [], {}, new Map(), class A {}, () => 1].map(
      received,
    ),
    [
      ...['undefined', 'null', 'type number (5)', 'type number (0)', "type string ('x')"],
      `type string ('${'x'.repeat(24)}...)`,
      ...['type boolean (true)', 'type bigint (5n)', 'type symbol (Symbol(s))', 'an instance of Array'],
      ...['an instance of Object', 'an instance of Map', 'function A', 'function '],
    ],
  );
  t.equal(received(Object.create(null)), '[Object: null prototype] {}');
  t.match(wrongType('options.a', 'of type string', 5).message, /^The "options\.a" property/);
  t.equal(
    outOfRange('n', '>= 0', 12_345_678_901).message,
    'The value of "n" is out of range. It must be >= 0. Received 12_345_678_901',
  );
  t.equal(wrongValue('v', 'x').message, "The argument 'v' is invalid. Received 'x'");
});

t.test('checks let pass what is right', async (t) => {
  checkString('', 'a');
  checkFunction(() => {}, 'a');
  checkObject({}, 'a');
  checkInteger(5, 'a', 0, 5);
  for (const bad of [() => checkString(5, 'a'), () => checkFunction(5, 'a'), () => checkObject([], 'a')]) {
    t.throws(bad, { code: 'ERR_INVALID_ARG_TYPE' });
  }
  t.throws(() => checkInteger('5', 'a'), { code: 'ERR_INVALID_ARG_TYPE' });
  for (const bad of [5.5, 6, -1]) t.throws(() => checkInteger(bad, 'a', 0, 5), { code: 'ERR_OUT_OF_RANGE' });
});
