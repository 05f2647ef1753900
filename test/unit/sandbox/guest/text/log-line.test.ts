import t from 'tap';
import { z } from 'zod';
import { formatValue, logLine, uncaughtLine } from '../../../../../sandbox/guest/text/log-line.ts';
import { fc } from '../../../../support/properties.ts';

t.test('joins arguments with a space', (t) => {
  t.equal(logLine([]), '');
  t.equal(
    logLine(['a %s', 1, true, -0, undefined, null, 5n, Symbol('s')]),
    'a %s 1 true 0 undefined null 5n Symbol(s)',
  );
  t.end();
});

t.test('writes objects as JSON, and the truth where JSON has none', (t) => {
  const cycle: Record<string, unknown> = { a: 1 };
  cycle['self'] = cycle;
  const lines: [unknown, string][] = [
    [{ a: [1, 'x', { b: null }] }, '{"a":[1,"x",{"b":null}]}'],
    [{ u: undefined, n: Number.NaN, big: 5n, s: Symbol('s') }, '{"u":undefined,"n":NaN,"big":5n,"s":Symbol(s)}'],
    [
      {
        named: logLine,
        nameless: (
          () => () =>
            1
        )(),
      },
      '{"named":[Function logLine],"nameless":[Function]}',
    ],
    [cycle, '{"a":1,"self":[Circular]}'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    [new Date(Number.NaN), 'Invalid Date'],
    [/x+/g, '/x+/g'],
    [
      new Map<unknown, unknown>([
        ['k', { v: 1 }],
        [2, 3n],
      ]),
      'Map {"k" => {"v":1},2 => 3n}',
    ],
    [new Map(), 'Map {}'],
    [new Set([1, 'b']), 'Set {1,"b"}'],
    [new Set(), 'Set {}'],
    [new Uint8Array([1, 2]), '[1,2]'],
    [new ArrayBuffer(2), '[ArrayBuffer]'],
    [Promise.resolve(1), '[Promise]'],
    [{ toJSON: () => ({ shown: 1 }) }, '{"shown":1}'],
    [Object.defineProperty({}, 'a', { get: () => 1, enumerable: true }), '{"a":[Getter]}'],
  ];
  for (const [value, line] of lines) t.equal(logLine([value]), line);
  t.end();
});

t.test('shows errors with their stack, data and cause', (t) => {
  const error = Object.assign(new Error('broken', { cause: new TypeError('deeper') }), { code: 'C' });
  const line = logLine([error]);
  t.match(line, /^Error: broken\n\s+at /);
  t.match(line, /{"code":"C"}\n\[cause\]: TypeError: deeper\n/);
  const assigned = Object.assign(new Error('outer'), { cause: 'why', errors: { field: 'a' } });
  t.match(logLine([assigned]), /\n\s+at .* {"errors":{"field":"a"}}\n\[cause\]: "why"$/s, 'the cause is told once');
  const several = logLine([new AggregateError([new Error('one'), 2], 'all')]);
  t.match(several, /^AggregateError: all\n.*\n\[error 1\]: Error: one\n\s+at .*\n\[error 2\]: 2$/s);
  const large = Object.assign(new Error('large', { cause: 'why' }), { data: 'x'.repeat(20_000) });
  t.match(logLine([large]), /xx… .* more characters\)}\n\[cause\]: "why"$/, 'data leaves room for the cause');
  const bare = new Error('bare');
  bare.stack = '';
  t.equal(logLine([bare]), 'Error: bare');
  t.equal(logLine([Object.defineProperty(new Error('x'), 'stack', { value: '', enumerable: false })]), 'Error: x');
  t.end();
});

t.test('says of what nobody caught whether it could have a stack', (t) => {
  t.match(uncaughtLine(new TypeError('x')), /^Uncaught TypeError: x\n\s+at /);
  t.equal(uncaughtLine('text'), 'Uncaught "text" (not an Error, so it has no stack)');
  t.equal(uncaughtLine(undefined), 'Uncaught undefined (not an Error, so it has no stack)');
  t.equal(uncaughtLine({ message: 'm' }), 'Uncaught {"message":"m"} (not an Error, so it has no stack)');
  const trap = () => {
    throw new Error('trap');
  };
  t.match(uncaughtLine(new Proxy({}, { getPrototypeOf: trap })), /^Uncaught \[Unreadable\]/);
  t.end();
});

t.test('is bounded in depth and length', (t) => {
  let deep: unknown = 1;
  for (let level = 0; level < 50; level++) deep = { deep };
  t.match(logLine([deep]), /\[Object\]/);
  let list: unknown = 1;
  for (let level = 0; level < 50; level++) list = [list];
  t.match(logLine([list]), /\[Array\]/);

  for (const value of [
    'x'.repeat(1e6),
    { a: 'x'.repeat(1e6) },
    Array.from({ length: 1e6 }, () => 1),
    new Map(Array.from({ length: 1e5 }, (_, i) => [i, i])),
    new Set(Array.from({ length: 1e5 }, (_, i) => i)),
  ]) {
    const line = logLine([value, value]);
    t.ok(line.length < 8300, `${line.length} characters`);
    t.match(line, /… \(\d+ more characters\)$/);
  }
  t.equal(formatValue('x'.repeat(10), 5), '"xxxx… (23 more characters)');
  t.ok(logLine([`${'x'.repeat(8191)}😀😀`]).isWellFormed(), 'no surrogate pair is cut in two');
  t.end();
});

t.test('never throws', (t) => {
  const thrower = () => {
    throw new Error('trap');
  };
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const hostile = [
    proxy,
    { toJSON: thrower },
    new Proxy({}, { get: thrower, getPrototypeOf: thrower, ownKeys: thrower }),
    Object.create(Map.prototype),
    Object.create(Date.prototype),
    Object.defineProperty(new Error('x'), 'stack', { get: thrower }),
  ];
  for (const value of hostile) t.match(logLine(['before', value, 'after']), /^before .*\[Unreadable\] after$/);
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withMap: true, withSet: true, withTypedArray: true }),
      (value) => typeof logLine([value]) === 'string',
    ),
  );
  t.end();
});

t.test('an error whose class sets the message late keeps it', (t) => {
  const { error } = z.object({ to: z.string() }).safeParse({ to: 5 });
  const line = uncaughtLine(error);
  t.match(line, /^Uncaught ZodError: \[\n[^]*"expected": "string"[^]*\n\]/);
  t.notMatch(line, /Getter|"message":\[/);
  const late = new Error('before');
  late.message = 'after';
  t.match(uncaughtLine(late), /^Uncaught Error: after\n {4}at /);
  t.end();
});
