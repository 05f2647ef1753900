import { format } from 'node:util';
import t from 'tap';
import { z } from 'zod';
import { fc } from '../../../../test/support/properties.ts';
import { createConsole, fillConsolePlaceholders } from '../../../guest/globals/console.ts';
import { HostLink } from '../../../guest/host-link.ts';
import { formatValue, logLine, uncaughtLine } from '../../../guest/log-line.ts';
import { GuestHost } from '../../support/guest-host.ts';

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

t.test('format text', async (t) => {
  const line = (...values: unknown[]) => fillConsolePlaceholders(values).join(' ');

  t.test('places are filled in as Node fills them in', (t) => {
    for (const values of [
      ['%s is %d', 'a', 1.5],
      ['%i %f', '12.7', '1.5'],
      ['%i', -1.5],
      ['100%', 'x'],
      ['%% %s', 'x'],
      ['%s %s', 'a'],
      ['%s', 'a', 'b', 3],
      ['%d %i %s', 5n, 6n, 7n],
      ['%c styled', 'color: red'],
      ['%d', Symbol.iterator],
      ['%x %s', 'a'],
      ['%s %s', undefined, null],
      ['%i', 'none'],
      ['plain', 'x'],
      ['%s'],
      [5, '%s'],
    ]) {
      t.equal(line(...values), format(...values), JSON.stringify(values[0]));
    }
    t.equal(line('%j|%o|%O', { a: 1 }, [1], 'x'), '{"a":1}|[1]|"x"');
    t.equal(line('%d', { valueOf: () => 5 }), 'NaN');
    t.end();
  });
});

t.test('console', async (t) => {
  function open() {
    const host = new GuestHost();
    const link = new HostLink(host.call);
    const guest = createConsole(link, () => link.now());
    return { host, console: guest.console as Console, reset: () => guest.reset() };
  }

  t.test('each method has its level, also when taken off the console', (t) => {
    const { host, console } = open();
    const { log, info, warn, error, debug, trace, dir, dirxml, table } = console;
    for (const method of [log, info, warn, error, debug, trace, dir, dirxml, table]) method({ a: 1 });
    log();
    const lines = host.lines.map((line) => line.replace(/\n {4}at .*/gs, ' at'));
    t.strictSame(lines, [
      'log: {"a":1}',
      'info: {"a":1}',
      'warn: {"a":1}',
      'error: {"a":1}',
      'debug: {"a":1}',
      'debug: Trace: {"a":1} at',
      'log: {"a":1}',
      'log: {"a":1}',
      'log: {"a":1}',
      'log: ',
    ]);
    t.end();
  });

  t.test('groups, assertions, counters and clocks', (t) => {
    const { host, console, reset } = open();
    console.group('outer');
    console.groupCollapsed();
    console.log('inner');
    console.groupEnd();
    console.groupEnd();
    console.groupEnd();
    console.log('out');
    console.assert(true, 'not shown');
    console.assert(false);
    console.assert(0, 'why', { a: 1 });
    console.count();
    console.count('c');
    console.count();
    console.countReset();
    console.count();
    console.time('t');
    host.time = 12;
    console.timeLog('t', 'so far');
    console.timeLog('t');
    console.timeEnd('t');
    console.timeEnd('t');
    const lines = host.lines.map((line) => line.replace(/\n {4}at .*/gs, ' at'));
    t.strictSame(lines, [
      'log: outer',
      'log:     inner',
      'log: out',
      'error: Assertion failed',
      'error: Assertion failed: why {"a":1}',
      'log: default: 1',
      'log: c: 1',
      'log: default: 2',
      'log: default: 1',
      'log: t: 12ms so far',
      'log: t: 12ms',
      'log: t: 12ms',
    ]);
    console.group();
    reset();
    console.count();
    t.equal(host.lines.at(-1), 'log: default: 1', 'a call begins with none of it');
    t.end();
  });

  t.test('what has no meaning here does nothing, and groups do not indent without end', (t) => {
    const { host, console } = open();
    console.clear();
    console.timeStamp();
    console.profile();
    console.profileEnd();
    console.time();
    console.time();
    const lines = host.lines.map((line) => line.replace(/\n {4}at .*/gs, ' at'));
    t.strictSame(lines, []);
    for (let index = 0; index < 100; index++) console.group();
    console.log('x');
    t.equal(host.logs[0]?.message, `${' '.repeat(32)}x`);
    t.end();
  });
});
